/* Recognizes files in other formats, so that error messages can name the format. */
#include "cdf_impl.h"

#include "cdf_superblock.h"
#include "pnetcdf_constants.h"

static bool has(const unsigned char *bytes, size_t length, size_t at, const char *mark,
                size_t mark_length)
{
    return at <= length && length - at >= mark_length &&
           memcmp(bytes + at, mark, mark_length) == 0;
}

/* The HDF5 superblock is at offset 0, 512, or a higher power of two. */
static bool is_hdf5(const unsigned char *bytes, size_t length)
{
    static const char mark[] = "\211HDF\r\n\032\n";
    if (has(bytes, length, 0, mark, 8)) return true;
    for (size_t at = 512; at < length; at *= 2)
        if (has(bytes, length, at, mark, 8)) return true;
    return false;
}

/* BP4 and BP5 files start with their signature. In BP3 files, it is 56 bytes before the
 * end. */
static bool is_adios(const unsigned char *bytes, size_t length, int64_t file_size)
{
    static const char mark[] = "ADIOS-BP";
    if (has(bytes, length, 0, mark, 8)) return true;
    return length >= 56 && (int64_t)length == file_size &&
           has(bytes, length, length - 56, mark, 8);
}

const char *cdf_foreign(const unsigned char *bytes, size_t length, int64_t file_size,
                        int *code)
{
    *code = NC_ENOTNC;
    if (is_hdf5(bytes, length)) {
        *code = NC_ENOTBUILT;
        return "a netCDF-4/HDF5 file; read it with the netCDF-4 library (nc_open), or "
               "convert it to a classic file (nccopy -k cdf5)";
    }
    if (is_adios(bytes, length, file_size)) {
        *code = NC_ENOTBUILT;
        return "an ADIOS BP file; read it with the ADIOS library";
    }
    if (has(bytes, length, 0, "\016\003\023\001", 4))
        return "an HDF4 file; read it with the HDF4 library";
    if (cdf_is_moving(bytes, length))
        return "a redefinition of this dataset is in progress or was interrupted; if no "
               "process is working on it, open the dataset for writing, or run "
               "ncvalidator -f on it, to complete the redefinition";
    if (has(bytes, length, 0, "CDF", 3))
        return "its format version, the 4th byte, is not 1, 2 or 5";
    if (cdf_is_superblock(bytes, length))
        return "a dataset whose values are in subfiles; join it into one file with "
               "ncmpijoin";
    return "not a netCDF file: it does not start with CDF";
}

bool cdf_is_moving(const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    const char mark[] = {CDF_MOVING, 'D', 'F'};
    return has(b, length, 0, mark, sizeof mark) && length > sizeof mark &&
           (b[3] == 1 || b[3] == 2 || b[3] == 5);
}

int cdf_signature(const void *bytes, size_t length)
{
    const unsigned char *b = bytes;
    if (cdf_is_superblock(b, length) && length > CDF_SUPERBLOCK)
        return cdf_signature(b + CDF_SUPERBLOCK, length - CDF_SUPERBLOCK);
    if (has(b, length, 0, "CDF\1", 4)) return NC_FORMAT_CLASSIC;
    if (has(b, length, 0, "CDF\2", 4)) return NC_FORMAT_CDF2;
    if (has(b, length, 0, "CDF\5", 4)) return NC_FORMAT_CDF5;
    if (is_hdf5(b, length)) return NC_FORMAT_NETCDF4;
    return is_adios(b, length, INT64_MAX) ? NC_FORMAT_BP : NC_FORMAT_UNKNOWN;
}
