/* Tests the contents of files in C++: dimensions, variables, attributes, types, and the
 * root group. */
#include "cxx_check.hpp"
#include "pnetcdf_ext.h"

using namespace PnetCDF;

namespace
{
const NcmpiGroup::Location every_location[] = {NcmpiGroup::Current,
                                               NcmpiGroup::Parents,
                                               NcmpiGroup::Children,
                                               NcmpiGroup::ParentsAndCurrent,
                                               NcmpiGroup::ChildrenAndCurrent,
                                               NcmpiGroup::All};

bool here(NcmpiGroup::Location location)
{
    return location != NcmpiGroup::Parents && location != NcmpiGroup::Children;
}

/* Programs built for PnetCDF contain these values and sizes as constants. */
static_assert(NcmpiVar::ncmpi_CHUNKED == NC_CHUNKED &&
                  NcmpiVar::ncmpi_CONTIGUOUS == NC_CONTIGUOUS &&
                  NcmpiVar::ncmpi_ENDIAN_NATIVE == NC_ENDIAN_NATIVE &&
                  NcmpiVar::ncmpi_ENDIAN_BIG == NC_ENDIAN_BIG &&
                  NcmpiVar::ncmpi_NOCHECKSUM == NC_NOCHECKSUM &&
                  NcmpiVar::ncmpi_FLETCHER32 == NC_FLETCHER32,
              "storage");
static_assert(NcmpiType::ncmpi_UINT64 == NC_UINT64 &&
                  NcmpiType::ncmpi_STRING == NC_STRING &&
                  NcmpiType::ncmpi_COMPOUND == NC_COMPOUND,
              "types");
struct type {
    void *table;
    bool null;
    nc_type id;
    int group;
};
struct attribute {
    void *table;
    bool null;
    std::string name;
    int group, var;
};
struct name {
    bool null;
    int id, group;
};
static_assert(sizeof(NcmpiType) == sizeof(type) && sizeof(NcmpiInt) == sizeof(type) &&
                  sizeof(NcmpiCompoundType) == sizeof(type),
              "types");
static_assert(sizeof(NcmpiAtt) == sizeof(attribute) &&
                  sizeof(NcmpiVarAtt) == sizeof(attribute) &&
                  sizeof(NcmpiGroupAtt) == sizeof(attribute),
              "attributes");
static_assert(sizeof(NcmpiDim) == sizeof(name) && sizeof(NcmpiVar) == sizeof(name),
              "dimensions and variables");

template <class T> void are_ordered(const T &less, const T &more)
{
    CHECK(less < more && more > less);
    CHECK(!(more < less) && !(less > more) && !(less < less) && !(more > more));
}

template <class T> void is_equal(T a, const T &b)
{
    CHECK(a == b && a == a);
}

void objects_are_ordered_and_compared()
{
    NcmpiFile file = new_file("order.nc"), other = new_file("other.nc");
    const NcmpiDim x = file.addDim("x", 1), y = file.addDim("y", 1);
    const NcmpiVar v = file.addVar("v", ncmpiInt, x), w = file.addVar("w", ncmpiInt, x);
    const NcmpiGroupAtt a = file.putAtt("a", "1"), b = file.putAtt("b", "2");
    are_ordered<NcmpiGroup>(file, other);
    are_ordered(x, y);
    are_ordered(y, other.addDim("x", 1));
    are_ordered(v, w);
    are_ordered(a, b);
    are_ordered(b, other.putAtt("a", "1"));
    are_ordered(v.putAtt("b", "3"), w.putAtt("a", "4"));
    are_ordered<NcmpiType>(ncmpiByte, ncmpiChar);
    is_equal(a, file.getAtt("a"));
    CHECK(!(NcmpiGroupAtt(a) == b));
    NcmpiAtt any, same = a;
    any = same;
    CHECK(any == a && any != b);
    is_equal(ncmpiByte, NcmpiByte());
    is_equal(ncmpiChar, NcmpiChar());
    is_equal(ncmpiShort, NcmpiShort());
    is_equal(ncmpiInt, NcmpiInt());
    is_equal(ncmpiFloat, NcmpiFloat());
    is_equal(ncmpiDouble, NcmpiDouble());
    is_equal(ncmpiUbyte, NcmpiUbyte());
    is_equal(ncmpiUshort, NcmpiUshort());
    is_equal(ncmpiUint, NcmpiUint());
    is_equal(ncmpiInt64, NcmpiInt64());
    is_equal(ncmpiUint64, NcmpiUint64());
    is_equal(NcmpiCompoundType(), NcmpiCompoundType());
}

void dimensions()
{
    NcmpiFile file = new_file("dims.nc");
    NcmpiDim x = file.addDim("x", 7), time = file.addDim("time"), none;
    CHECK_EQ(0, x.getId());
    CHECK_EQ(1, time.getId());
    CHECK(x.getName() == "x" && time.getName() == "time");
    CHECK_EQ(7, x.getSize());
    CHECK_EQ(0, time.getSize());
    CHECK(time.isUnlimited() && !x.isUnlimited() && !none.isUnlimited());
    CHECK(none.isNull() && !x.isNull());
    CHECK(x.getParentGroup() == file && none.getParentGroup().isNull());

    const NcmpiDim again(file, 0), copy(time);
    CHECK(again == x && copy == time && x != time && none != x && none == NcmpiDim());
    none = x;
    CHECK(none == x && x < time && !(time < x));
    for (NcmpiGroup::Location where : every_location) {
        CHECK_EQ(here(where) ? 2 : 0, file.getDimCount(where));
        CHECK_EQ(here(where) ? 2 : 0, file.getDims(where).size());
        CHECK_EQ(here(where) ? 1 : 0, file.getDims("time", where).size());
        CHECK_EQ(!here(where), file.getDim("time", where).isNull());
    }
    CHECK(file.getDims().find("time")->second == time && *file.getDims("x").begin() == x);
    CHECK(file.getDim("none").isNull() && file.getDims("none").empty());

    file.enddef();
    x.rename("a longer name"); /* enters define mode, as a longer name requires */
    CHECK(x.getName() == "a longer name" && file.getDim("a longer name") == x);
    CHECK_THROWS(NcNameInUse, NC_ENAMEINUSE, x.rename("time"));
    CHECK_THROWS(NcBadName, NC_EBADNAME, file.addDim(std::string("cut\0off", 7), 3));
    CHECK_THROWS(NcUnlimit, NC_EUNLIMIT, file.addDim("another"));
    CHECK_THROWS(NcBadDim, NC_EBADDIM, NcmpiDim(file, 9).getSize());
    CHECK_THROWS(NcmpiDimSize, NC_EDIMSIZE, file.addDim("negative", -1));
}

void variables()
{
    NcmpiFile file = new_file("vars.nc");
    const NcmpiDim time = file.addDim("time"), x = file.addDim("x", 3);
    NcmpiVar scalar = file.addVar("scalar", ncmpiInt), none;
    const NcmpiVar line = file.addVar("line", ncmpiShort, x);
    const NcmpiVar plane =
        file.addVar("plane", ncmpiDouble, std::vector<NcmpiDim>{time, x});
    const NcmpiVar named = file.addVar("named", "float", "x");
    const NcmpiVar both =
        file.addVar("both", "char", std::vector<std::string>{"time", "x"});
    CHECK(scalar.getId() == 0 && both.getId() == 4);
    CHECK(line.getName() == "line" && line.getParentGroup() == file);
    CHECK(plane.getType() == ncmpiDouble && named.getType() == ncmpiFloat);
    CHECK(both.getType() == ncmpiChar && scalar.getDimCount() == 0);
    CHECK_EQ(2, both.getDimCount());
    CHECK(plane.getDims() == both.getDims() && scalar.getDims().empty());
    CHECK(plane.getDim(0) == time && plane.getDim(1) == x && line.getDim(0) == x);
    CHECK_THROWS(NcBadDim, NC_EBADDIM, plane.getDim(2));
    CHECK_THROWS(NcBadDim, NC_EBADDIM, plane.getDim(-1));

    CHECK(none.isNull() && none.getParentGroup().isNull() && !scalar.isNull());
    const NcmpiVar copy(line), again(file, 1);
    CHECK(copy == line && again == line && line != plane && none != line);
    none = line;
    CHECK(none == line && line < plane);
    for (NcmpiGroup::Location where : every_location) {
        const int n = here(where);
        CHECK_EQ(5 * n, file.getVarCount(where));
        CHECK_EQ(2 * n, file.getRecVarCount(where));
        CHECK_EQ(3 * n, file.getFixVarCount(where));
        CHECK_EQ(5 * n, file.getVars(where).size());
        CHECK_EQ(n, file.getVars("line", where).size());
        CHECK_EQ(!n, file.getVar("line", where).isNull());
    }
    CHECK(file.getVars().find("plane")->second == plane);
    CHECK(*file.getVars("line").begin() == line && file.getVars("none").empty());
    CHECK(file.getVar("none").isNull());

    CHECK_THROWS(NcNullDim, NC_EBADDIM, file.addVar("v", ncmpiInt, NcmpiDim()));
    CHECK_THROWS(NcNullDim, NC_EBADDIM, file.addVar("v", "int", "none"));
    CHECK_THROWS(NcNullType, NC_EBADTYPE, file.addVar("v", NcmpiType(), x));
    CHECK_THROWS(NcNullType, NC_EBADTYPE, file.addVar("v", "none", "x"));
    CHECK_THROWS(NcUnlimPos, NC_EUNLIMPOS,
                 file.addVar("v", ncmpiInt, std::vector<NcmpiDim>{x, time}));
    CHECK_THROWS(NcNameInUse, NC_ENAMEINUSE, file.addVar("line", ncmpiInt));
    CHECK_THROWS(NcBadName, NC_EBADNAME, file.addVar("a/b", ncmpiInt));
    CHECK_THROWS(NcNotVar, NC_ENOTVAR, NcmpiVar(file, 17).getName());

    file.enddef();
    CHECK_EQ(3 * 8 + 4, file.getRecSize()); /* text is padded to 4 bytes */
    CHECK_EQ(0, file.getRecSize(NcmpiGroup::Parents));
    MPI_Offset first, second, header;
    scalar.Inq_file_offset(&first);
    copy.getParentGroup().getVar("line").Inq_file_offset(&second);
    file.Inq_header_size(&header);
    CHECK(first >= header && second == first + 4);
    scalar.rename("a longer name");
    CHECK(scalar.getName() == "a longer name");
    CHECK_THROWS(NcNameInUse, NC_ENAMEINUSE, line.rename("plane"));
}

template <class T, class Owner>
void number_attributes(const Owner &owner, const std::string &name)
{
    const T values[3] = {1, 2, 100};
    T back[3] = {0, 0, 0};
    auto att = owner.putAtt(name, ncmpiDouble, 3, values);
    CHECK(att.getName() == name && att.getType() == ncmpiDouble);
    CHECK_EQ(3, att.getAttLength());
    att.getValues(back);
    CHECK_BYTES(values, back, sizeof back);
    double raw[3];
    att.getValues(static_cast<void *>(raw));
    CHECK(raw[0] + raw[1] + raw[2] == 103.);
}

template <class T, class Owner>
void single_attributes(const Owner &owner, const std::string &name)
{
    number_attributes<T>(owner, name);
    T back = 0;
    auto att = owner.putAtt(name + " alone", ncmpiInt, static_cast<T>(42));
    CHECK(att.getType() == ncmpiInt && att == owner.getAtt(name + " alone"));
    CHECK_EQ(1, att.getAttLength());
    att.getValues(&back);
    CHECK(back == static_cast<T>(42));
}

enum { PUT_ATTS = 2 * 9 + 2 + 3 };

template <class Owner> void attributes_of(const Owner &owner)
{
    number_attributes<signed char>(owner, "schar");
    number_attributes<unsigned char>(owner, "uchar");
    single_attributes<short>(owner, "short");
    single_attributes<unsigned short>(owner, "ushort");
    single_attributes<int>(owner, "int");
    single_attributes<unsigned int>(owner, "uint");
    single_attributes<long>(owner, "long");
    single_attributes<float>(owner, "float");
    single_attributes<double>(owner, "double");
    single_attributes<long long>(owner, "longlong");
    single_attributes<unsigned long long>(owner, "ulonglong");

    std::string text = "before";
    char bytes[8] = "xxxxxxx";
    auto att = owner.putAtt("text", std::string("a\0b", 3));
    att.getValues(text);
    CHECK(text == std::string("a\0b", 3) && att.getType() == ncmpiChar);
    att.getValues(bytes);
    CHECK_BYTES("a\0bxxxx", bytes, 8);
    owner.putAtt("empty", "").getValues(text);
    CHECK(text.empty());
    const float raw[2] = {0.5F, -2.F};
    float back[2];
    att = owner.putAtt("raw", ncmpiFloat, 2, static_cast<const void *>(raw));
    att.getValues(back);
    CHECK_BYTES(raw, back, sizeof raw);
    CHECK_THROWS(NcmpiChar, NC_ECHAR, att.getValues(text));
    CHECK(text.empty());
    CHECK_THROWS(NcRange, NC_ERANGE, owner.putAtt("raw", ncmpiByte, 300));
    CHECK_THROWS(NcBadName, NC_EBADNAME, owner.putAtt("", ncmpiByte, 1));
    CHECK_THROWS(NcBadType, NC_EBADTYPE, owner.putAtt("raw", NcmpiType(), 1));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, att.getValues(static_cast<char **>(nullptr)));
    CHECK_EQ(PUT_ATTS, owner.getAttCount());
}

void attributes()
{
    NcmpiFile file = new_file("atts.nc");
    const NcmpiVar var = file.addVar("v", ncmpiInt);
    attributes_of<NcmpiGroup>(file);
    attributes_of<NcmpiVar>(var);

    CHECK(file.getAtt("none").isNull() && file.getAtts("none").empty());
    CHECK_THROWS(NcNotAtt, NC_ENOTATT, var.getAtt("none"));
    for (NcmpiGroup::Location where : every_location) {
        CHECK_EQ(here(where) ? PUT_ATTS : 0, file.getAttCount(where));
        CHECK_EQ(here(where) ? PUT_ATTS : 0, file.getAtts(where).size());
        CHECK_EQ(here(where), file.getAtts("text", where).size());
        CHECK_EQ(!here(where), file.getAtt("text", where).isNull());
    }
    const std::map<std::string, NcmpiVarAtt> of_var = var.getAtts();
    CHECK_EQ(PUT_ATTS, of_var.size());
    CHECK(of_var.at("text").getParentVar() == var);
    CHECK(of_var.at("text").getParentGroup() == file);
    const char *strings[1] = {"no"};
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, file.putAtt("strings", 1, strings));

    NcmpiGroupAtt first(file, 0), none;
    NcmpiVarAtt firstOfVar(file, var, 0), noneOfVar;
    CHECK(first.getName() == "schar" && firstOfVar.getName() == "schar");
    CHECK(none.isNull() && none.getParentGroup().isNull() && noneOfVar.isNull());
    CHECK(noneOfVar.getParentVar().isNull());
    NcmpiGroupAtt copy(first);
    NcmpiVarAtt copyOfVar(firstOfVar);
    CHECK(copy == first && copyOfVar == firstOfVar);
    const NcmpiAtt &base = first, &other = firstOfVar;
    CHECK(base != other && !(base == other) && NcmpiAtt() == NcmpiAtt(true));
    CHECK(!NcmpiAtt(false).isNull() && NcmpiAtt(base) == base);
    copy = none;
    copyOfVar = noneOfVar;
    CHECK(copy.isNull() && copyOfVar.isNull());
    NcmpiVarAtt moved(std::move(firstOfVar));
    CHECK(moved.getName() == "schar" && moved.getParentVar() == var);
    CHECK_THROWS(NcNotAtt, NC_ENOTATT, NcmpiGroupAtt(file, PUT_ATTS));
    CHECK_THROWS(NcNotAtt, NC_ENOTATT, NcmpiVarAtt(file, var, -1));
    CHECK_THROWS(NcBadId, NC_EBADID, none.getType());
}

template <class Type> void external_type(Type &object, nc_type id, MPI_Offset size)
{
    Type fresh;
    CHECK(fresh == object && !object.isNull());
    CHECK_EQ(id, object.getId());
    CHECK_EQ(id, object.getTypeClass());
    CHECK_EQ(size, object.getSize());
    CHECK(object.getTypeClassName().compare(0, 6, "ncmpi_") == 0);
    CHECK(object.getParentGroup().isNull());
}

void types_have_names_and_sizes()
{
    external_type(ncmpiByte, NC_BYTE, 1);
    external_type(ncmpiChar, NC_CHAR, 1);
    external_type(ncmpiShort, NC_SHORT, 2);
    external_type(ncmpiInt, NC_INT, 4);
    external_type(ncmpiFloat, NC_FLOAT, 4);
    external_type(ncmpiDouble, NC_DOUBLE, 8);
    external_type(ncmpiUbyte, NC_UBYTE, 1);
    external_type(ncmpiUshort, NC_USHORT, 2);
    external_type(ncmpiUint, NC_UINT, 4);
    external_type(ncmpiInt64, NC_INT64, 8);
    external_type(ncmpiUint64, NC_UINT64, 8);
    CHECK_EQ(1, ncmpiByte.sizeoff());

    NcmpiFile file = new_file("types.nc");
    const NcmpiType none, by_id(NC_INT), here(file, NC_INT), named(file, "int");
    CHECK(none.isNull() && none.getParentGroup().isNull());
    CHECK(by_id == ncmpiInt && here == ncmpiInt && named == here && by_id != ncmpiByte);
    CHECK(here.getParentGroup() == file && named.getName() == "int");
    CHECK(named.getTypeClassName() == "ncmpi_INT");
    NcmpiType copy(named);
    copy = ncmpiFloat;
    CHECK(copy == ncmpiFloat && named < copy);
    CHECK(NcmpiType(file, "none").isNull());
    CHECK_THROWS(NcBadType, NC_EBADTYPE, none.getSize());
    CHECK_THROWS(NcBadType, NC_EBADTYPE, NcmpiType(99).getName());
    CHECK_THROWS(NcBadType, NC_EBADTYPE, NcmpiType(99).getTypeClass());
    CHECK_THROWS(NcBadType, NC_EBADTYPE, NcmpiType(99).getTypeClassName());

    CHECK(file.getType("uint64") == ncmpiUint64 && file.getType("none").isNull());
    CHECK_EQ(0, file.getTypeCount());
    CHECK_EQ(0, file.getTypeCount(NcmpiType::ncmpi_ENUM));
    CHECK(file.getTypes().empty() && file.getTypes("int").empty());
    CHECK(file.getTypes(NcmpiType::ncmpi_VLEN).empty());
    CHECK(file.getTypes("int", NcmpiType::ncmpi_INT, NcmpiGroup::All).empty());
}

template <class Type> void absent_type(const NcmpiFile &file)
{
    Type none, copy(none), from_null((NcmpiType()));
    CHECK(none.isNull() && copy.isNull() && from_null.isNull());
    copy = none;
    copy = NcmpiType();
    CHECK(copy.isNull());
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, Type(file, "t"));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, (Type(NcmpiType(NC_INT))));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, copy = NcmpiType(NC_INT));
}

void features_of_netCDF_4_only_are_refused()
{
    NcmpiFile file = new_file("nc4.nc");
    absent_type<NcmpiCompoundType>(file);
    absent_type<NcmpiEnumType>(file);
    absent_type<NcmpiOpaqueType>(file);
    absent_type<NcmpiVlenType>(file);
    NcmpiCompoundType compound;
    NcmpiEnumType enumeration;
    int value = 1;
    CHECK(compound == NcmpiCompoundType());
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, compound.addMember("m", ncmpiInt, 0));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4,
                 compound.addMember("m", ncmpiInt, 0, std::vector<int>{2}));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, compound.getMemberCount());
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, compound.getMember(0));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, compound.getMemberDimCount(0));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, compound.getMemberShape(0));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, compound.getMemberOffset(0));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, enumeration.addMember("m", 1));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, enumeration.getMemberValue(0, value));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, enumeration.getMemberNameFromValue(1));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, enumeration.getMemberNameFromIndex(0));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, enumeration.getMemberCount());
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, enumeration.getBaseType());
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, NcmpiOpaqueType().getTypeSize());
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, NcmpiVlenType().getBaseType());

    NcmpiType base = ncmpiInt;
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, file.addGroup("g"));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, file.addEnumType("e", NcmpiEnumType::ncmpi_INT));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, file.addVlenType("v", base));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, file.addOpaqueType("o", 3));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, file.addCompoundType("c", 8));

    const NcmpiVar var = file.addVar("v", ncmpiInt);
    std::vector<MPI_Offset> chunks(1, 1);
    NcmpiVar::ChunkMode chunked = NcmpiVar::nc_CHUNKED;
    bool shuffle = true, deflate = true;
    int level = 9;
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, var.setChunking(NcmpiVar::nc_CHUNKED, chunks));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, var.setCompression(true, true, 1));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, var.setEndianness(NcmpiVar::nc_ENDIAN_LITTLE));
    CHECK_THROWS(NcNotNc4, NC_ENOTNC4, var.setChecksum(NcmpiVar::nc_FLETCHER32));
    var.getChunkingParameters(chunked, chunks);
    CHECK(chunked == NcmpiVar::nc_CONTIGUOUS && chunks.empty());
    var.getCompressionParameters(shuffle, deflate, level);
    CHECK(!shuffle && !deflate && level == 0);
    CHECK(var.getEndianness() == NcmpiVar::nc_ENDIAN_BIG);
    CHECK(var.getChecksum() == NcmpiVar::nc_NOCHECKSUM);
}

void a_file_is_its_only_group()
{
    NcmpiFile file = new_file("group.nc");
    const NcmpiGroup root(file), by_id(file.getId());
    NcmpiGroup none;
    CHECK(root == file && by_id == root && none != root && none.isNull());
    CHECK(root.getName() == "/" && root.getName(true) == "/" && root.isRootGroup());
    CHECK(root.getParentGroup().isNull() && root.getGroups().empty());
    CHECK_EQ(0, root.getGroupCount());
    CHECK_EQ(1, root.getGroupCount(NcmpiGroup::ParentsAndCurrentGrps));
    CHECK(root.getGroups(NcmpiGroup::AllGrps).find("/")->second == root);
    CHECK(root.getGroups("/", NcmpiGroup::AllGrps).count(root) == 1);
    CHECK(root.getGroups("/").empty() && root.getGroup("/").isNull());
    CHECK(root.getGroup("/", NcmpiGroup::AllGrps) == root);
    CHECK_THROWS(NcNullGrp, NC_EBADGRPID, none.getId());
    CHECK_THROWS(NcNullGrp, NC_EBADGRPID, none.getVarCount());
    none = root;
    CHECK(none == root && !(none < root));
}

template <class T> void fill_as(const NcmpiVar &var, T expected)
{
    bool filled = false;
    T value = 0;
    var.getFillModeParameters(filled, value);
    CHECK(filled && value == expected);
}

template <class T> void fill_of(const NcmpiVar &var, T value)
{
    bool filled = false;
    T back = 0, *pointer = &back;
    var.setFill(true, &value);
    var.getFillModeParameters(filled, pointer);
    CHECK(filled && back == value);
    fill_as<double>(var, static_cast<double>(value));
    fill_as<long long>(var, static_cast<long long>(value));
}

void fill_values()
{
    NcmpiFile file = new_file("fill.nc");
    const NcmpiDim time = file.addDim("time");
    fill_of<signed char>(file.addVar("byte", ncmpiByte, time), -7);
    fill_of<short>(file.addVar("short", ncmpiShort, time), -700);
    fill_of<int>(file.addVar("int", ncmpiInt, time), -70000);
    fill_of<float>(file.addVar("float", ncmpiFloat, time), 64.F);
    fill_of<double>(file.addVar("double", ncmpiDouble, time), 1e10);
    fill_of<unsigned char>(file.addVar("char", ncmpiChar, time), 'c');
    if (check.format == 5) {
        fill_of<unsigned char>(file.addVar("ubyte", ncmpiUbyte, time), 200);
        fill_of<unsigned short>(file.addVar("ushort", ncmpiUshort, time), 60000);
        fill_of<unsigned int>(file.addVar("uint", ncmpiUint, time), 4000000000U);
        fill_of<long long>(file.addVar("int64", ncmpiInt64, time), -(1LL << 40));
        fill_of<unsigned long long>(file.addVar("uint64", ncmpiUint64, time), 1ULL << 40);
    }
    const NcmpiVar var = file.getVar("int");
    bool filled = true;
    var.setFill(false);
    var.getFillModeParameters(filled);
    CHECK(!filled);
    var.setFill(true);

    NcmpiFile::FillMode old = NcmpiFile::Bad;
    file.set_fill(NcmpiFile::Fill, &old);
    CHECK(old == NcmpiFile::NoFill);
    file.set_fill(NcmpiFile::Fill, &old);
    CHECK(old == NcmpiFile::Fill);
    CHECK_THROWS(NcInvalidArg, NC_EINVAL, file.set_fill(NcmpiFile::Bad));
    var.fillRec(2); /* leaves define mode */
    int values[3] = {0, 0, 0};
    var.getVar_all({2}, {1}, values);
    CHECK_EQ(-70000, values[0]);
    CHECK_EQ(3, time.getSize());
}

void variables_can_be_quantized()
{
    NcmpiFile file = new_file("quantize.nc");
    const NcmpiVar var = file.addVar("v", ncmpiFloat, std::vector<NcmpiDim>());
    const NcmpiVar other = file.addVar("w", ncmpiInt, std::vector<NcmpiDim>());
    int mode = -1, digits = -1;
    float value = 1.2345F;
    var.setQuantize(NC_QUANTIZE_BITROUND, 2);
    var.getQuantizeParameters(mode, digits);
    CHECK_EQ(NC_QUANTIZE_BITROUND, mode);
    CHECK_EQ(2, digits);
    CHECK_THROWS(NcInvalidArg, NC_EINVAL, other.setQuantize(NC_QUANTIZE_BITROUND, 2));
    var.putVar_all(&value);
    var.getVar_all(&value);
    CHECK(value == 1.25F);
}

const struct check_test tests[] = {
    {"variables can be quantized", guarded<variables_can_be_quantized>, CHECK_FORMATS},
    {"objects are ordered and compared", guarded<objects_are_ordered_and_compared>,
     CHECK_FORMATS},
    {"dimensions are defined and inquired", guarded<dimensions>, CHECK_FORMATS},
    {"variables are defined and inquired", guarded<variables>, CHECK_FORMATS},
    {"attributes are put and read", guarded<attributes>, CHECK_FORMATS},
    {"types have names and sizes", guarded<types_have_names_and_sizes>, 0},
    {"features of netCDF-4 only are refused",
     guarded<features_of_netCDF_4_only_are_refused>, 0},
    {"a file is its only group", guarded<a_file_is_its_only_group>, 0},
    {"fill values are set and inquired", guarded<fill_values>, CHECK_FORMATS},
    {nullptr, nullptr, 0},
};
} // namespace

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
