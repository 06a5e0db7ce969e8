/* Groups: the contents of a file. */
#include "cxx_parts.hpp"

namespace PnetCDF
{
namespace
{
/* Returns whether a search includes the root group, which is the only one. */
bool here(NcmpiGroup::Location location)
{
    return location != NcmpiGroup::Parents && location != NcmpiGroup::Children;
}

bool here(NcmpiGroup::GroupLocation location)
{
    return location == NcmpiGroup::ParentsAndCurrentGrps ||
           location == NcmpiGroup::AllGrps;
}

/* Returns a map from names to objects, which contains all of them. */
template <class T> std::multimap<std::string, T> by_name(const std::vector<T> &all)
{
    std::multimap<std::string, T> named;
    for (const T &one : all)
        named.insert(std::make_pair(one.getName(), one));
    return named;
}

/* Returns a set that contains the object, or an empty set if the object is null. */
template <class T> std::set<T> make_set(const T &one)
{
    std::set<T> found;
    if (!one.isNull()) found.insert(one);
    return found;
}
} // namespace

NcmpiGroup::NcmpiGroup() : nullObject(true), myId(-1)
{
}

NcmpiGroup::NcmpiGroup(int groupId) : nullObject(false), myId(groupId)
{
}

NcmpiGroup::NcmpiGroup(const NcmpiGroup &rhs) = default;
NcmpiGroup &NcmpiGroup::operator=(const NcmpiGroup &rhs) = default;
NcmpiGroup::~NcmpiGroup()
{
}

bool NcmpiGroup::operator==(const NcmpiGroup &rhs) const
{
    return nullObject == rhs.nullObject && myId == rhs.myId;
}

bool NcmpiGroup::operator!=(const NcmpiGroup &rhs) const
{
    return !(*this == rhs);
}

int NcmpiGroup::getId() const
{
    if (nullObject)
        throw exceptions::NcNullGrp("the object stands for no file that is open",
                                    __FILE__, __LINE__);
    return myId;
}

std::string NcmpiGroup::getName(bool) const
{
    getId();
    return "/";
}

bool NcmpiGroup::isRootGroup() const
{
    getId();
    return true;
}

NcmpiGroup NcmpiGroup::getParentGroup() const
{
    getId();
    return NcmpiGroup();
}

/* ---- groups ---- */

int NcmpiGroup::getGroupCount(NcmpiGroup::GroupLocation location) const
{
    getId();
    return here(location);
}

std::multimap<std::string, NcmpiGroup>
NcmpiGroup::getGroups(NcmpiGroup::GroupLocation location) const
{
    std::vector<NcmpiGroup> all;
    if (getGroupCount(location) > 0) all.push_back(*this);
    return by_name(all);
}

std::set<NcmpiGroup> NcmpiGroup::getGroups(const std::string &name,
                                           NcmpiGroup::GroupLocation location) const
{
    return make_set(getGroup(name, location));
}

NcmpiGroup NcmpiGroup::getGroup(const std::string &name,
                                NcmpiGroup::GroupLocation location) const
{
    return getGroupCount(location) > 0 && name == getName() ? *this : NcmpiGroup();
}

/* ---- variables ---- */

int NcmpiGroup::getVarCount(NcmpiGroup::Location location) const
{
    const int ncid = getId();
    const int n = told<int>([ncid](int *count) { return ncmpi_inq_nvars(ncid, count); });
    return here(location) ? n : 0;
}

int NcmpiGroup::getRecVarCount(NcmpiGroup::Location location) const
{
    const int ncid = getId();
    const int n =
        told<int>([ncid](int *count) { return ncmpi_inq_num_rec_vars(ncid, count); });
    return here(location) ? n : 0;
}

int NcmpiGroup::getFixVarCount(NcmpiGroup::Location location) const
{
    const int ncid = getId();
    const int n =
        told<int>([ncid](int *count) { return ncmpi_inq_num_fix_vars(ncid, count); });
    return here(location) ? n : 0;
}

MPI_Offset NcmpiGroup::getRecSize(NcmpiGroup::Location location) const
{
    const int ncid = getId();
    const MPI_Offset size = told<MPI_Offset>(
        [ncid](MPI_Offset *bytes) { return ncmpi_inq_recsize(ncid, bytes); });
    return here(location) ? size : 0;
}

std::multimap<std::string, NcmpiVar>
NcmpiGroup::getVars(NcmpiGroup::Location location) const
{
    std::vector<NcmpiVar> all;
    for (int id = 0, n = getVarCount(location); id < n; id++)
        all.push_back(NcmpiVar(*this, id));
    return by_name(all);
}

std::set<NcmpiVar> NcmpiGroup::getVars(const std::string &name,
                                       NcmpiGroup::Location location) const
{
    return make_set(getVar(name, location));
}

NcmpiVar NcmpiGroup::getVar(const std::string &name, NcmpiGroup::Location location) const
{
    int id;
    const int err = ncmpi_inq_varid(getId(), c_name(name), &id);
    if (err == NC_ENOTVAR || err == NC_EBADNAME) return NcmpiVar();
    CXX_CHECK(err);
    return here(location) ? NcmpiVar(*this, id) : NcmpiVar();
}

NcmpiVar NcmpiGroup::addVar(const std::string &name, const NcmpiType &ncmpiType,
                            const std::vector<NcmpiDim> &ncmpiDimVector) const
{
    if (ncmpiType.isNull())
        throw exceptions::NcNullType("addVar: the type stands for nothing", __FILE__,
                                     __LINE__);
    const int ncid = getId();
    std::vector<int> ids;
    for (const NcmpiDim &dim : ncmpiDimVector) {
        if (dim.isNull())
            throw exceptions::NcNullDim("addVar: a dimension stands for nothing",
                                        __FILE__, __LINE__);
        ids.push_back(dim.getId());
    }
    ncmpiCheckDefineMode(ncid);
    int id;
    CXX_CHECK(ncmpi_def_var(ncid, c_name(name), ncmpiType.getId(),
                            static_cast<int>(ids.size()), ids.data(), &id));
    return NcmpiVar(*this, id);
}

NcmpiVar NcmpiGroup::addVar(const std::string &name, const NcmpiType &ncmpiType) const
{
    return addVar(name, ncmpiType, std::vector<NcmpiDim>());
}

NcmpiVar NcmpiGroup::addVar(const std::string &name, const NcmpiType &ncmpiType,
                            const NcmpiDim &ncmpiDim) const
{
    return addVar(name, ncmpiType, std::vector<NcmpiDim>(1, ncmpiDim));
}

NcmpiVar NcmpiGroup::addVar(const std::string &name, const std::string &typeName,
                            const std::string &dimName) const
{
    return addVar(name, typeName, std::vector<std::string>(1, dimName));
}

NcmpiVar NcmpiGroup::addVar(const std::string &name, const std::string &typeName,
                            const std::vector<std::string> &dimNames) const
{
    std::vector<NcmpiDim> dims;
    for (const std::string &dim : dimNames)
        dims.push_back(getDim(dim));
    return addVar(name, getType(typeName), dims);
}

/* ---- attributes ---- */

int NcmpiGroup::getAttCount(NcmpiGroup::Location location) const
{
    const int ncid = getId();
    const int n = told<int>([ncid](int *count) { return ncmpi_inq_natts(ncid, count); });
    return here(location) ? n : 0;
}

std::multimap<std::string, NcmpiGroupAtt>
NcmpiGroup::getAtts(NcmpiGroup::Location location) const
{
    std::vector<NcmpiGroupAtt> all;
    for (int i = 0, n = getAttCount(location); i < n; i++)
        all.push_back(NcmpiGroupAtt(*this, i));
    return by_name(all);
}

std::set<NcmpiGroupAtt> NcmpiGroup::getAtts(const std::string &name,
                                            NcmpiGroup::Location location) const
{
    return make_set(getAtt(name, location));
}

NcmpiGroupAtt NcmpiGroup::getAtt(const std::string &name,
                                 NcmpiGroup::Location location) const
{
    int index;
    const int err = ncmpi_inq_attid(getId(), NC_GLOBAL, c_name(name), &index);
    if (err == NC_ENOTATT || err == NC_EBADNAME) return NcmpiGroupAtt();
    CXX_CHECK(err);
    return here(location) ? NcmpiGroupAtt(*this, index) : NcmpiGroupAtt();
}

/* ---- dimensions ---- */

int NcmpiGroup::getDimCount(NcmpiGroup::Location location) const
{
    const int ncid = getId();
    const int n = told<int>([ncid](int *count) { return ncmpi_inq_ndims(ncid, count); });
    return here(location) ? n : 0;
}

std::multimap<std::string, NcmpiDim>
NcmpiGroup::getDims(NcmpiGroup::Location location) const
{
    std::vector<NcmpiDim> all;
    for (int id = 0, n = getDimCount(location); id < n; id++)
        all.push_back(NcmpiDim(*this, id));
    return by_name(all);
}

std::set<NcmpiDim> NcmpiGroup::getDims(const std::string &name,
                                       NcmpiGroup::Location location) const
{
    return make_set(getDim(name, location));
}

NcmpiDim NcmpiGroup::getDim(const std::string &name, NcmpiGroup::Location location) const
{
    int id;
    const int err = ncmpi_inq_dimid(getId(), c_name(name), &id);
    if (err == NC_EBADDIM || err == NC_EBADNAME) return NcmpiDim();
    CXX_CHECK(err);
    return here(location) ? NcmpiDim(*this, id) : NcmpiDim();
}

NcmpiDim NcmpiGroup::addDim(const std::string &name) const
{
    return addDim(name, NC_UNLIMITED);
}

NcmpiDim NcmpiGroup::addDim(const std::string &name, MPI_Offset dimSize) const
{
    int id;
    ncmpiCheckDefineMode(getId());
    CXX_CHECK(ncmpi_def_dim(getId(), c_name(name), dimSize, &id));
    return NcmpiDim(*this, id);
}

/* ---- types: user-defined types do not exist ---- */

int NcmpiGroup::getTypeCount(NcmpiGroup::Location) const
{
    getId();
    return 0;
}

int NcmpiGroup::getTypeCount(NcmpiType::ncmpiType, NcmpiGroup::Location location) const
{
    return getTypeCount(location);
}

std::multimap<std::string, NcmpiType> NcmpiGroup::getTypes(NcmpiGroup::Location) const
{
    getId();
    return std::multimap<std::string, NcmpiType>();
}

std::set<NcmpiType> NcmpiGroup::getTypes(const std::string &, NcmpiGroup::Location) const
{
    getId();
    return std::set<NcmpiType>();
}

std::set<NcmpiType> NcmpiGroup::getTypes(NcmpiType::ncmpiType, NcmpiGroup::Location) const
{
    getId();
    return std::set<NcmpiType>();
}

std::set<NcmpiType> NcmpiGroup::getTypes(const std::string &name, NcmpiType::ncmpiType,
                                         NcmpiGroup::Location location) const
{
    return getTypes(name, location);
}

NcmpiType NcmpiGroup::getType(const std::string &name, NcmpiGroup::Location) const
{
    return NcmpiType(*this, name);
}
} // namespace PnetCDF
