/* Tests files in C++: opening, closing and moving them, modes, requests and exceptions.
 * Also checks that C++ and C write the same bytes. */
#include "cxx_check.hpp"

#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>

using namespace PnetCDF;
using exceptions::NcmpiException;

namespace
{
int open_files()
{
    int n = -1;
    CHECK_NC(NC_NOERR, ncmpi_inq_files_opened(&n, nullptr));
    return n;
}

/* Programs built for PnetCDF contain these values and sizes as constants. */
static_assert(NcmpiFile::classic == 0 && NcmpiFile::classic2 == 1 &&
                  NcmpiFile::nc4 == 2 && NcmpiFile::nc4classic == 3 &&
                  NcmpiFile::classic5 == 4 && NcmpiFile::BadFormat == 5,
              "formats");
static_assert(NcmpiFile::read == 0 && NcmpiFile::write == 1 && NcmpiFile::replace == 2 &&
                  NcmpiFile::newFile == 3,
              "modes");
static_assert(NcmpiFile::Fill == 0 && NcmpiFile::NoFill == 256 && NcmpiFile::Bad == 257,
              "fill modes");
static_assert(NcmpiGroup::ChildrenGrps == 0 && NcmpiGroup::AllGrps == 5 &&
                  NcmpiGroup::Current == 0 && NcmpiGroup::All == 5,
              "places");
struct group {
    void *table;
    bool null;
    int id;
};
static_assert(sizeof(NcmpiGroup) == sizeof(group) && sizeof(NcmpiFile) == sizeof(group),
              "files");
static_assert(sizeof(NcmpiException) <= 3 * sizeof(void *), "exceptions");

/* Checks that each format that a program can request has netCDF's version number in the
 * file. */
void formats_have_netCDFs_numbers()
{
    const struct {
        int format, version;
    } rows[] = {{0, 1}, {1, 2}, {4, 5}};
    const std::string path = check_path("format.nc");
    for (const auto &row : rows) {
        const auto format = static_cast<NcmpiFile::FileFormat>(row.format);
        char magic[4] = "";
        NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, format);
        CHECK_EQ(row.format, file.getFormat());
        file.close();
        std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
        CHECK_EQ(row.version, magic[3]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    CHECK_THROWS(NcmpiException, NC_EINVAL_CMODE,
                 NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::replace,
                           static_cast<NcmpiFile::FileFormat>(5)));
}

void the_end_of_a_scope_closes_its_file()
{
    {
        NcmpiFile file = new_file("scope.nc");
        CHECK_EQ(1, open_files());
        file.addDim("x", 5);
        CHECK(file.getFormat() == own_format());
    }
    CHECK_EQ(0, open_files());
    try {
        NcmpiFile file(MPI_COMM_WORLD, check_path("scope.nc"), NcmpiFile::read);
        CHECK_EQ(5, file.getDim("x").getSize());
        throw std::runtime_error("out of the scope");
    } catch (const std::runtime_error &) {
        CHECK_EQ(0, open_files());
    }
}

void file_objects_can_be_moved()
{
    NcmpiFile none;
    CHECK(none.isNull());
    CHECK_THROWS(NcNullGrp, NC_EBADGRPID, none.enddef());
    CHECK_THROWS(NcNullGrp, NC_EBADGRPID, none.close());

    std::vector<NcmpiFile> files;
    files.push_back(new_file("a.nc"));
    files.push_back(new_file("b.nc"));
    CHECK_EQ(2, open_files());
    files[0].addDim("x", 1);
    NcmpiFile taken(std::move(files[0]));
    CHECK(files[0].isNull() && taken.getDimCount() == 1);
    taken = std::move(files[1]); /* closes a.nc */
    CHECK_EQ(1, open_files());
    CHECK_EQ(0, taken.getDimCount());
    NcmpiFile &itself = taken;
    taken = std::move(itself);
    CHECK(!taken.isNull());
    taken = NcmpiFile();
    CHECK_EQ(0, open_files());
    std::unique_ptr<NcmpiFile> owned(
        new NcmpiFile(MPI_COMM_WORLD, std::string(check_path("a.nc")), NcmpiFile::write));
    owned->addDim("y", 2);
    owned.reset();
    CHECK_EQ(0, open_files());
}

void files_are_opened_in_every_mode()
{
    int format = 0, old;
    const std::string path = check_path("open.nc");
    CHECK_THROWS(NcmpiException, NC_ENOENT,
                 NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::read));
    CHECK_THROWS(NcmpiException, NC_ENOENT,
                 NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::write));
    NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::newFile, own_format()).addDim("x", 3);
    CHECK_THROWS(NcExist, NC_EEXIST, NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::newFile));
    CHECK_EQ(1, NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::read).getDimCount());
    CHECK_EQ(0, NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::replace).getDimCount());

    /* If no format is given, the default format is used. */
    CHECK_NC(NC_NOERR, ncmpi_set_default_format(check.format, &old));
    CHECK(NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::replace).getFormat() ==
          own_format());
    CHECK_NC(NC_NOERR, ncmpi_set_default_format(old, &format));

    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::read);
    CHECK_THROWS(NcInvalidWrite, NC_EPERM, file.addDim("x", 3));
    CHECK_THROWS(
        NcmpiException, NC_EINVAL_CMODE,
        NcmpiFile(MPI_COMM_WORLD, path, NcmpiFile::replace, NcmpiFile::BadFormat));
    for (NcmpiFile::FileFormat kind : {NcmpiFile::nc4, NcmpiFile::nc4classic}) {
        try { /* support for netCDF-4 may be missing */
            NcmpiFile made(MPI_COMM_WORLD, path, NcmpiFile::replace, kind);
            CHECK(made.getFormat() == kind);
        } catch (const NcmpiException &e) {
            CHECK_EQ(NC_ENOTBUILT, e.errorCode());
        }
    }
    file.close();
    CHECK_EQ(0, open_files());
}

void the_data_mode_is_changed_automatically()
{
    NcmpiFile file = new_file("modes.nc");
    const NcmpiVar a = file.addVar("a", ncmpiInt);
    int value = 5, back = 0;
    a.putVar_all(&value); /* leaves define mode */
    CHECK_THROWS(NcNotInDefineMode, NC_ENOTINDEFINE, file.enddef());
    const NcmpiVar b = file.addVar("b", ncmpiInt); /* returns to define mode */
    file.begin_indep_data();
    b.putVar(&value);
    a.getVar(&back);
    CHECK_EQ(5, back);
    CHECK_THROWS(NcmpiException, NC_EINDEP, a.getVar_all(&back));
    file.end_indep_data();
    CHECK_THROWS(NcmpiException, NC_ENOTINDEP, a.getVar(&back));
    ncmpiCheckDefineMode(file.getId());
    ncmpiCheckDefineMode(file.getId());
    CHECK_THROWS(NcInDefineMode, NC_EINDEFINE, file.sync());
    ncmpiCheckDataMode(file.getId());
    ncmpiCheckDataMode(file.getId());
    file.sync();
    file.flush();
    back = 0;
    b.getVar_all(&back);
    CHECK_EQ(5, back);
}

void errors_are_thrown_as_exceptions()
{
    NcmpiFile file = new_file("thrown.nc");
    const NcmpiDim x = file.addDim("x", 4);
    const NcmpiVar var = file.addVar("v", ncmpiShort, std::vector<NcmpiDim>(2, x));
    const std::vector<MPI_Offset> start(2, 0), count = {1, 2}, short_one(1, 0);
    const int values[2] = {1, 100000};
    CHECK_THROWS(NcRange, NC_ERANGE, var.putVar_all(start, count, values));
    CHECK_THROWS(NcEdge, NC_EEDGE, var.putVar_all({3, 3}, count, values));
    CHECK_THROWS(NcInvalidCoords, NC_EINVALCOORDS, var.putVar_all({5, 0}, count, values));
    CHECK_THROWS(NcStride, NC_ESTRIDE, var.putVar_all(start, count, {1, 0}, values));
    CHECK_THROWS(NcmpiChar, NC_ECHAR, var.putVar_all(start, count, "ab"));

    /* A list that is too short must cause an error, and must not be read beyond its
     * end. */
    CHECK_THROWS(NcInvalidCoords, NC_EINVALCOORDS,
                 var.putVar_all(short_one, count, values));
    CHECK_THROWS(NcInvalidCoords, NC_EINVALCOORDS,
                 var.putVar_all(start, short_one, values));
    CHECK_THROWS(NcInvalidCoords, NC_EINVALCOORDS,
                 var.putVar_all(start, count, short_one, values));
    CHECK_THROWS(NcInvalidCoords, NC_EINVALCOORDS,
                 var.putVar_all(start, count, {}, short_one, values));
    CHECK_THROWS(NcInvalidCoords, NC_EINVALCOORDS, var.putVar_all({}, 1));
    CHECK_THROWS(NcBadId, NC_EBADID, NcmpiVar().putVar_all(values));
    try {
        var.getVar_all(start, short_one, static_cast<int *>(nullptr));
    } catch (const NcmpiException &e) {
        CHECK(std::strstr(e.what(), "count has 1 elements") != nullptr);
    }

    /* An exception must contain the error code, the message and the location. */
    try {
        ncmpiCheck(NC_NOERR, "nowhere", 1);
        ncmpiCheck(NC_ENOTNC, "some file", 321);
        CHECK(false);
    } catch (const exceptions::NcNotNCF &e) {
        CHECK(std::strstr(e.what(), ncmpi_strerror(NC_ENOTNC)) == e.what());
        CHECK(std::strstr(e.what(), "some file") != nullptr);
        CHECK(std::strstr(e.what(), "321") != nullptr);
        NcmpiException copy("words", "file", 2);
        CHECK_EQ(0, copy.errorCode());
        copy = e;
        CHECK_STR(e.what(), copy.what());
        CHECK_STR(e.what(), NcmpiException(copy).what());
        CHECK_NC(NC_ENOTNC, copy.errorCode());
    }
    CHECK_NC(NC_EPENDING, NcmpiException(NC_EPENDING, nullptr, nullptr, 0).errorCode());
}

/* Checks that the exception class has its error code and, if `thrown` is set, that this
 * code causes an exception of the class. */
template <class Class> void an_exception(int code, bool thrown)
{
    const Class object("words", "file", 1);
    CHECK_NC(code, object.errorCode());
    CHECK_STR("words\nfile: file  line: 1", object.what());
    bool caught = false;
    try {
        if (thrown) ncmpiCheck(code, "file", 1);
    } catch (const Class &e) {
        caught = e.errorCode() == code;
    }
    CHECK_EQ(thrown, caught);
}

void each_code_has_its_exception()
{
    an_exception<exceptions::NcBadId>(NC_EBADID, true);
    an_exception<exceptions::NcNFile>(NC_ENFILE, true);
    an_exception<exceptions::NcExist>(NC_EEXIST, true);
    an_exception<exceptions::NcInvalidArg>(NC_EINVAL, true);
    an_exception<exceptions::NcInvalidWrite>(NC_EPERM, true);
    an_exception<exceptions::NcNotInDefineMode>(NC_ENOTINDEFINE, true);
    an_exception<exceptions::NcInDefineMode>(NC_EINDEFINE, true);
    an_exception<exceptions::NcInvalidCoords>(NC_EINVALCOORDS, true);
    an_exception<exceptions::NcMaxDims>(NC_EMAXDIMS, true);
    an_exception<exceptions::NcNameInUse>(NC_ENAMEINUSE, true);
    an_exception<exceptions::NcNotAtt>(NC_ENOTATT, true);
    an_exception<exceptions::NcMaxAtts>(NC_EMAXATTS, true);
    an_exception<exceptions::NcBadType>(NC_EBADTYPE, true);
    an_exception<exceptions::NcBadDim>(NC_EBADDIM, true);
    an_exception<exceptions::NcUnlimPos>(NC_EUNLIMPOS, true);
    an_exception<exceptions::NcMaxVars>(NC_EMAXVARS, true);
    an_exception<exceptions::NcNotVar>(NC_ENOTVAR, true);
    an_exception<exceptions::NcGlobal>(NC_EGLOBAL, true);
    an_exception<exceptions::NcNotNCF>(NC_ENOTNC, true);
    an_exception<exceptions::NcSts>(NC_ESTS, true);
    an_exception<exceptions::NcMaxName>(NC_EMAXNAME, true);
    an_exception<exceptions::NcUnlimit>(NC_EUNLIMIT, true);
    an_exception<exceptions::NcNoRecVars>(NC_ENORECVARS, true);
    an_exception<exceptions::NcmpiChar>(NC_ECHAR, true);
    an_exception<exceptions::NcEdge>(NC_EEDGE, true);
    an_exception<exceptions::NcStride>(NC_ESTRIDE, true);
    an_exception<exceptions::NcBadName>(NC_EBADNAME, true);
    an_exception<exceptions::NcRange>(NC_ERANGE, true);
    an_exception<exceptions::NcNoMem>(NC_ENOMEM, true);
    an_exception<exceptions::NcmpiVarSize>(NC_EVARSIZE, true);
    an_exception<exceptions::NcmpiDimSize>(NC_EDIMSIZE, true);
    an_exception<exceptions::NcTrunc>(NC_ETRUNC, true);
    an_exception<exceptions::NcHdfErr>(NC_EHDFERR, true);
    an_exception<exceptions::NcCantRead>(NC_ECANTREAD, true);
    an_exception<exceptions::NcCantWrite>(NC_ECANTWRITE, true);
    an_exception<exceptions::NcCantCreate>(NC_ECANTCREATE, true);
    an_exception<exceptions::NcmpiFileMeta>(NC_EFILEMETA, true);
    an_exception<exceptions::NcmpiDimMeta>(NC_EDIMMETA, true);
    an_exception<exceptions::NcmpiAttMeta>(NC_EATTMETA, true);
    an_exception<exceptions::NcmpiVarMeta>(NC_EVARMETA, true);
    an_exception<exceptions::NcNoCompound>(NC_ENOCOMPOUND, true);
    an_exception<exceptions::NcmpiAttExists>(NC_EATTEXISTS, true);
    an_exception<exceptions::NcNotNc4>(NC_ENOTNC4, true);
    an_exception<exceptions::NcStrictNc3>(NC_ESTRICTNC3, true);
    an_exception<exceptions::NcBadGroupId>(NC_EBADGRPID, true);
    an_exception<exceptions::NcBadTypeId>(NC_EBADTYPID, true);
    an_exception<exceptions::NcBadFieldId>(NC_EBADFIELD, true);
    an_exception<exceptions::NcElateDef>(NC_ELATEDEF, true);
    an_exception<exceptions::NcEnoGrp>(NC_ENOGRP, true);
    an_exception<exceptions::NcNullGrp>(NC_EBADGRPID, false);
    an_exception<exceptions::NcNullType>(NC_EBADTYPE, false);
    an_exception<exceptions::NcNullDim>(NC_EBADDIM, false);
    an_exception<exceptions::NcUnknownName>(NC_EBADNAME, false);
}

/* An error on one process must be thrown only there, and must not block the other
 * processes. */
void an_invalid_argument_on_one_process_throws_only_there()
{
    NcmpiFile file = new_file("one.nc");
    const NcmpiVar var = file.addVar("v", ncmpiInt, file.addDim("x", check.nprocs));
    const bool wrong = check.rank == 0;
    const int value = 7;
    try {
        var.putVar_all(std::vector<MPI_Offset>(wrong ? 0 : 1, check.rank), value);
        CHECK(!wrong);
    } catch (const exceptions::NcInvalidCoords &) {
        CHECK(wrong);
    }
    int back = 0;
    var.getVar_all({check.nprocs - 1}, &back);
    CHECK_EQ(7, back);
}

void requests_are_posted_and_waited_for()
{
    enum { N = 3 };
    NcmpiFile file = new_file("requests.nc");
    const NcmpiVar var = file.addVar("v", ncmpiInt, file.addDim("x", N));
    int ids[N], statuses[N], n = -1, back[N] = {0, 0, 0};
    MPI_Offset size = -1;
    for (int i = 0; i < N; i++) /* requests may be posted in define mode */
        var.iputVar({i}, 10 * i, &ids[i]);
    file.Inq_nreqs(&n);
    CHECK_EQ(N, n);
    file.Wait_all(N, ids, statuses); /* leaves define mode */
    for (int i = 0; i < N; i++)
        CHECK_NC(NC_NOERR, statuses[i]);
    var.getVar_all(back);
    CHECK(back[0] == 0 && back[1] == 10 && back[2] == 20);

    CHECK_THROWS(NcmpiException, NC_ENULLABUF, var.bputVar({0}, 1, &ids[0]));
    file.Buffer_attach(100);
    file.Inq_buffer_size(&size);
    CHECK_EQ(100, size);
    var.bputVar({0}, 1, &ids[0]);
    file.Inq_buffer_usage(&size);
    CHECK_EQ(4, size);
    CHECK_THROWS(NcmpiException, NC_EPENDINGBPUT, file.Buffer_detach());
    file.Cancel(1, ids, statuses);
    file.Buffer_detach();
    var.igetVar(back, &ids[0]);
    file.begin_indep_data();
    file.Wait(1, ids, nullptr);
    CHECK(back[0] == 0 && back[2] == 20);
    ids[0] = 12345;
    CHECK_THROWS(NcmpiException, NC_EINVAL_REQUEST, file.Wait(1, ids, nullptr));
}

/* Single values must be copied when they are posted, because the caller's variable may
 * not exist at the wait. This must be true even after the library has copied 16 MiB of
 * small puts; from then on, it uses the program's buffers for other puts. */
void single_values_are_put_and_read()
{
    enum { BLOCK = 1024, BLOCKS = 4096 + 2, MORE = 100 };
    NcmpiFile file = new_file("taken.nc");
    const NcmpiDim x = file.addDim("x", BLOCK), more = file.addDim("more", MORE);
    const NcmpiVar block = file.addVar("block", ncmpiInt, x);
    const NcmpiVar single = file.addVar("single", ncmpiInt, more);
    const NcmpiVar text = file.addVar("text", ncmpiChar, more);
    const std::vector<int> values(BLOCK, 1);
    for (int i = 0; i < BLOCKS; i++)
        block.iputVar(values.data(), nullptr);
    for (int i = 0; i < MORE; i++) {
        single.iputVar({i}, 1000 + i, nullptr);
        text.iputVar({i}, std::string(1, static_cast<char>('a' + i % 26)), nullptr);
    }
    file.Wait_all(NC_REQ_ALL, nullptr, nullptr);
    std::vector<int> back(MORE);
    std::string letters(MORE, '?');
    single.getVar_all(back.data());
    text.getVar_all(&letters[0]);
    for (int i = 0; i < MORE; i++)
        CHECK(back[i] == 1000 + i && letters[i] == 'a' + i % 26);
}

void inquiries_return_a_files_properties()
{
    NcmpiFile file = new_file("tell.nc");
    const NcmpiVar var = file.addVar("v", ncmpiInt, file.addDim("x", 4));
    const int values[4] = {1, 2, 3, 4};
    int length = 0, back[4];
    MPI_Offset written, read, header, extent;
    char path[1000] = "";
    MPI_Info info = MPI_INFO_NULL;
    var.putVar_all(values);
    var.getVar_all(back);
    file.Inq_put_size(&written);
    file.Inq_get_size(&read);
    CHECK(written >= (check.rank == 0 ? 16 : 0) && read >= 16);
    file.Inq_header_size(&header);
    file.Inq_header_extent(&extent);
    CHECK(header > 50 && extent >= header);
    file.Inq_path(&length, path);
    CHECK_STR(check_path("tell.nc"), path);
    CHECK_EQ(std::strlen(path), length);
    file.Inq_file_info(&info);
    CHECK(info != MPI_INFO_NULL);
    MPI_Info_free(&info);
}

/* An MPI datatype selects every second element of the file. */
void file_datatypes_select_values()
{
    enum { N = 6 };
    MPI_Datatype places;
    MPI_Type_vector(N / 2, 1, 2, MPI_INT, &places);
    MPI_Type_commit(&places);
    NcmpiFile file = new_file("vard.nc");
    const NcmpiVar var = file.addVar("v", ncmpiInt, file.addDim("x", N));
    const int zeros[N] = {0}, values[N / 2] = {1, 2, 3};
    const int expected[N] = {1, 0, 2, 0, 3, 0};
    int back[N / 2] = {0}, all[N];
    var.putVar_all(zeros);
    if (check.collective) var.putVard_all(places, values, N / 2, MPI_INT);
    file.begin_indep_data();
    if (!check.collective) var.putVard(places, values, N / 2, MPI_INT);
    var.getVard(places, back, N / 2, MPI_INT);
    CHECK_BYTES(values, back, sizeof back);
    file.end_indep_data();
    std::memset(back, 0, sizeof back);
    var.getVard_all(places, back, N / 2, MPI_INT);
    CHECK_BYTES(values, back, sizeof back);
    var.getVar_all(all);
    CHECK_BYTES(expected, all, sizeof all);
    MPI_Type_free(&places);
}

/* ---- the same program in C and in C++ ---- */

enum { NY = 4, NX = 5, RECORDS = 3 };

void write_in_c(const char *path, const float *f, const double *d, const int *i)
{
    int ncid, dims[3], vars[4];
    const short range[2] = {-3, 300};
    const MPI_Offset zero[3] = {0}, some = check.rank == 0;
    const MPI_Offset count[3] = {RECORDS * some, NY * some, NX * some};
    CHECK_NC(NC_NOERR,
             ncmpi_create(MPI_COMM_WORLD, path, check.cmode, MPI_INFO_NULL, &ncid));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "time", NC_UNLIMITED, &dims[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "y", NY, &dims[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_dim(ncid, "x", NX, &dims[2]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "name", NC_CHAR, 1, &dims[2], &vars[0]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "f", NC_FLOAT, 3, dims, &vars[1]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "d", NC_DOUBLE, 1, dims, &vars[2]));
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "i", NC_INT, 2, dims + 1, &vars[3]));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "title", 5, "twins"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_short(ncid, vars[1], "range", NC_SHORT, 2, range));
    CHECK_NC(NC_NOERR, ncmpi_def_var_fill(ncid, vars[3], 0, nullptr));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_text_all(ncid, vars[0], zero, count + 2, "abcde"));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_float_all(ncid, vars[1], zero, count, f));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_double_all(ncid, vars[2], zero, count, d));
    CHECK_NC(NC_NOERR, ncmpi_put_vara_int_all(ncid, vars[3], zero, count + 1, i));
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, vars[3], "units", 3, "one"));
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

void write_in_cxx(const char *path, const float *f, const double *d, const int *i)
{
    NcmpiFile file(MPI_COMM_WORLD, path, NcmpiFile::replace, own_format());
    const NcmpiDim time = file.addDim("time"), y = file.addDim("y", NY);
    const NcmpiDim x = file.addDim("x", NX);
    const NcmpiVar name = file.addVar("name", ncmpiChar, x);
    const NcmpiVar var_f =
        file.addVar("f", ncmpiFloat, std::vector<NcmpiDim>{time, y, x});
    const NcmpiVar var_d = file.addVar("d", ncmpiDouble, time);
    const NcmpiVar var_i = file.addVar("i", ncmpiInt, std::vector<NcmpiDim>{y, x});
    const short range[2] = {-3, 300};
    file.putAtt("title", "twins");
    var_f.putAtt("range", ncmpiShort, 2, range);
    var_i.setFill(true);
    const MPI_Offset some = check.rank == 0;
    name.putVar_all({0}, {NX * some}, "abcde");
    var_f.putVar_all({0, 0, 0}, {RECORDS * some, NY * some, NX * some}, f);
    var_d.putVar_all({0}, {RECORDS * some}, d);
    var_i.putVar_all({0, 0}, {NY * some, NX * some}, i);
    var_i.putAtt("units", "one");
}

void files_have_the_same_bytes_as_those_of_C()
{
    float f[RECORDS * NY * NX];
    double d[RECORDS];
    int i[NY * NX];
    for (int n = 0; n < RECORDS * NY * NX; n++)
        f[n] = static_cast<float>(check_random(1000)) / 4;
    for (int n = 0; n < RECORDS; n++)
        d[n] = static_cast<double>(check_random(1000));
    for (int n = 0; n < NY * NX; n++)
        i[n] = static_cast<int>(check_random(100000));
    write_in_c(check_path("c.nc"), f, d, i);
    write_in_cxx(check_path("cxx.nc"), f, d, i);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0)
        CHECK(check_same_files(check_path("c.nc"), check_path("cxx.nc")));
}

const struct check_test tests[] = {
    {"the end of a scope closes its file", guarded<the_end_of_a_scope_closes_its_file>,
     CHECK_FORMATS},
    {"file objects can be moved", guarded<file_objects_can_be_moved>, 0},
    {"files are opened in every mode", guarded<files_are_opened_in_every_mode>,
     CHECK_FORMATS},
    {"formats have netCDF's numbers", guarded<formats_have_netCDFs_numbers>, 0},
    {"the data mode is changed automatically",
     guarded<the_data_mode_is_changed_automatically>, 0},
    {"errors are thrown as exceptions", guarded<errors_are_thrown_as_exceptions>,
     CHECK_FORMATS},
    {"each code has its exception", guarded<each_code_has_its_exception>, 0},
    {"an invalid argument on one process throws only there",
     guarded<an_invalid_argument_on_one_process_throws_only_there>, CHECK_SEVERAL},
    {"requests are posted and waited for", guarded<requests_are_posted_and_waited_for>,
     CHECK_FORMATS},
    {"single values are put and read", guarded<single_values_are_put_and_read>, 0},
    {"inquiries return a file's properties", guarded<inquiries_return_a_files_properties>,
     0},
    {"file datatypes select values", guarded<file_datatypes_select_values>, CHECK_MODES},
    {"files have the same bytes as those of C",
     guarded<files_have_the_same_bytes_as_those_of_C>, CHECK_FORMATS},
    {nullptr, nullptr, 0},
};
} // namespace

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2 3 4");
}
