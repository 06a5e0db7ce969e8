/* Checks that no variable extends beyond the end of the file. */
#include "util_whole.h"

#include <string.h>

#include "pnetcdf.h"
#include "util_classic.h"
#include "util_message.h"

static bool is_nc4(int ncid)
{
    int format;
    return ncmpi_inq_format(ncid, &format) == NC_NOERR &&
           (format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC);
}

void util_report_omitted(const char *tool, const char *path, int ncid)
{
    struct util_classic c;
    if (is_nc4(ncid) && util_open(&c, tool, path) == 0) util_classic_close(&c);
}

bool util_is_one_file(int ncid)
{
    MPI_Info info;
    char value[32] = "";
    int set = 0;
    if (is_nc4(ncid) || ncmpi_inq_file_info(ncid, &info) != NC_NOERR) return false;
    if (MPI_Info_get(info, "nc_blob", sizeof value - 1, value, &set) != MPI_SUCCESS)
        set = 0;
    MPI_Info_free(&info);
    return set && strcmp(value, "disable") == 0;
}

int64_t util_file_size(int ncid, const char *path)
{
    MPI_File file;
    MPI_Offset size = -1;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && util_is_one_file(ncid) &&
        MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) ==
            MPI_SUCCESS) {
        if (MPI_File_get_size(file, &size) != MPI_SUCCESS) size = -1;
        MPI_File_close(&file);
    }
    MPI_Bcast(&size, 1, MPI_OFFSET, 0, MPI_COMM_WORLD);
    return size;
}

int util_check_complete(const char *tool, const char *path, int64_t size, int ncid,
                        int varid, int64_t records, int64_t piece, int64_t most)
{
    MPI_Offset begin, step;
    char name[NC_MAX_NAME + 1];
    if (size < 0 || records == 0 || piece == 0) return 0;
    int err = ncmpi_inq_varoffset(ncid, varid, &begin);
    if (err == NC_NOERR) err = ncmpi_inq_recsize(ncid, &step);
    if (err == NC_NOERR) err = ncmpi_inq_varname(ncid, varid, name);
    if (err != NC_NOERR)
        util_message(tool, path, -1, "%s", ncmpi_strerror(err));
    else if (begin + (records - 1) * step + piece > size)
        return util_file_is_short(tool, path, size, name,
                                  begin + (records - 1) * step + piece - size, most);
    else
        return 0;
    return -1;
}
