/* Files: opening and closing, modes, requests. */
#include "cxx_parts.hpp"

namespace PnetCDF
{
namespace
{
/* Returns the ncmpi_create() flags for a format. Does not check for unknown formats,
 * which ncmpi_create() reports on all processes. */
int flags_of(int format)
{
    switch (format) {
    case NcmpiFile::classic:
        return NC_CLASSIC_MODEL;
    case NcmpiFile::classic2:
        return NC_64BIT_OFFSET;
    case NcmpiFile::classic5:
        return NC_64BIT_DATA;
    case NcmpiFile::nc4:
        return NC_NETCDF4;
    case NcmpiFile::nc4classic:
        return NC_NETCDF4 | NC_CLASSIC_MODEL;
    default:
        return NC_64BIT_OFFSET | NC_64BIT_DATA;
    }
}

/* The default format. */
enum { ANY_FORMAT = -1 };
} // namespace

NcmpiFile::NcmpiFile()
{
}

NcmpiFile::NcmpiFile(const MPI_Comm &comm, const std::string &filePath, FileMode fMode,
                     const MPI_Info &info)
{
    open(comm, filePath, fMode, ANY_FORMAT, info);
}

NcmpiFile::NcmpiFile(const MPI_Comm &comm, const std::string &filePath, FileMode fMode,
                     FileFormat fFormat, const MPI_Info &info)
{
    open(comm, filePath, fMode, fFormat, info);
}

void NcmpiFile::open(MPI_Comm comm, const std::string &path, FileMode mode, int format,
                     MPI_Info info)
{
    int err, ncid;
    if (mode == read || mode == write) {
        err = ncmpi_open(comm, c_name(path), mode == read ? NC_NOWRITE : NC_WRITE, info,
                         &ncid);
    } else {
        const int flags = format == ANY_FORMAT ? 0 : flags_of(format);
        err = ncmpi_create(comm, c_name(path),
                           flags | (mode == replace ? NC_CLOBBER : NC_NOCLOBBER), info,
                           &ncid);
    }
    CXX_CHECK(err);
    nullObject = false;
    myId = ncid;
}

NcmpiFile::NcmpiFile(NcmpiFile &&rhs) noexcept : NcmpiGroup(rhs)
{
    static_cast<NcmpiGroup &>(rhs) = NcmpiGroup();
}

NcmpiFile &NcmpiFile::operator=(NcmpiFile &&rhs) noexcept
{
    if (this == &rhs) return *this;
    const NcmpiGroup mine = *this;
    static_cast<NcmpiGroup &>(*this) = rhs;
    static_cast<NcmpiGroup &>(rhs) = NcmpiGroup();
    NcmpiFile old;
    static_cast<NcmpiGroup &>(old) = mine;
    return *this;
}

/* Skips the close if MPI has been finalized: a file object in main() may outlive MPI. */
NcmpiFile::~NcmpiFile()
{
    int ended = 0;
    MPI_Finalized(&ended);
    if (!isNull() && !ended) ncmpi_close(myId);
}

void NcmpiFile::close()
{
    const int ncid = getId();
    static_cast<NcmpiGroup &>(*this) = NcmpiGroup();
    CXX_CHECK(ncmpi_close(ncid));
}

void NcmpiFile::enddef()
{
    CXX_CHECK(ncmpi_enddef(getId()));
}

void NcmpiFile::begin_indep_data()
{
    int err;
    do {
        err = ncmpi_begin_indep_data(getId());
    } while (left_define_mode(getId(), err));
    CXX_CHECK(err);
}

void NcmpiFile::end_indep_data()
{
    CXX_CHECK(ncmpi_end_indep_data(getId()));
}

void NcmpiFile::sync()
{
    CXX_CHECK(ncmpi_sync(getId()));
}

void NcmpiFile::flush()
{
    CXX_CHECK(ncmpi_flush(getId()));
}

NcmpiFile::FileFormat NcmpiFile::getFormat(void) const
{
    const int ncid = getId();
    switch (told<int>([ncid](int *format) { return ncmpi_inq_format(ncid, format); })) {
    case NC_FORMAT_CLASSIC:
        return classic;
    case NC_FORMAT_CDF2:
        return classic2;
    case NC_FORMAT_CDF5:
        return classic5;
    case NC_FORMAT_NETCDF4:
        return nc4;
    case NC_FORMAT_NETCDF4_CLASSIC:
        return nc4classic;
    default:
        return BadFormat;
    }
}

void NcmpiFile::set_fill(FillMode fillmode, FillMode *old_modep)
{
    int old;
    ncmpiCheckDefineMode(getId());
    CXX_CHECK(ncmpi_set_fill(getId(), fillmode, &old));
    if (old_modep != NULL) *old_modep = static_cast<FillMode>(old);
}

/* ---- requests ---- */

void NcmpiFile::Wait_all(int num, int *array_of_requests, int *array_of_statuses)
{
    int err;
    do {
        err = ncmpi_wait_all(getId(), num, array_of_requests, array_of_statuses);
    } while (left_define_mode(getId(), err));
    CXX_CHECK(err);
}

void NcmpiFile::Wait(int num, int *array_of_requests, int *array_of_statuses)
{
    int err;
    do {
        err = ncmpi_wait(getId(), num, array_of_requests, array_of_statuses);
    } while (left_define_mode(getId(), err));
    CXX_CHECK(err);
}

void NcmpiFile::Cancel(int num, int *array_of_requests, int *array_of_statuses)
{
    CXX_CHECK(ncmpi_cancel(getId(), num, array_of_requests, array_of_statuses));
}

void NcmpiFile::Buffer_attach(MPI_Offset bufsize)
{
    CXX_CHECK(ncmpi_buffer_attach(getId(), bufsize));
}

void NcmpiFile::Buffer_detach(void)
{
    CXX_CHECK(ncmpi_buffer_detach(getId()));
}

void NcmpiFile::Inq_buffer_usage(MPI_Offset *usage)
{
    CXX_CHECK(ncmpi_inq_buffer_usage(getId(), usage));
}

void NcmpiFile::Inq_buffer_size(MPI_Offset *buf_size)
{
    CXX_CHECK(ncmpi_inq_buffer_size(getId(), buf_size));
}

void NcmpiFile::Inq_nreqs(int *nreqs)
{
    CXX_CHECK(ncmpi_inq_nreqs(getId(), nreqs));
}

/* ---- inquiry ---- */

void NcmpiFile::Inq_file_info(MPI_Info *info)
{
    CXX_CHECK(ncmpi_inq_file_info(getId(), info));
}

void NcmpiFile::Inq_get_size(MPI_Offset *get_size)
{
    CXX_CHECK(ncmpi_inq_get_size(getId(), get_size));
}

void NcmpiFile::Inq_put_size(MPI_Offset *put_size)
{
    CXX_CHECK(ncmpi_inq_put_size(getId(), put_size));
}

void NcmpiFile::Inq_header_size(MPI_Offset *header_size)
{
    CXX_CHECK(ncmpi_inq_header_size(getId(), header_size));
}

void NcmpiFile::Inq_header_extent(MPI_Offset *header_extent)
{
    CXX_CHECK(ncmpi_inq_header_extent(getId(), header_extent));
}

void NcmpiFile::Inq_path(int *pathlen, char *path)
{
    CXX_CHECK(ncmpi_inq_path(getId(), pathlen, path));
}
} // namespace PnetCDF
