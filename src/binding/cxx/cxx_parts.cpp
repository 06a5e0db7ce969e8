/* Functions that several classes use: names, lists, modes. */
#include "cxx_parts.hpp"

namespace PnetCDF
{
const char *c_name(const std::string &name)
{
    return name.find('\0') == std::string::npos ? name.c_str() : "";
}

bool left_define_mode(int ncid, int err)
{
    if (err != NC_EINDEFINE) return false;
    CXX_CHECK(ncmpi_enddef(ncid));
    return true;
}

void ncmpiCheckDefineMode(int ncid)
{
    int err = ncmpi_redef(ncid);
    if (err != NC_EINDEFINE) CXX_CHECK(err);
}

void ncmpiCheckDataMode(int ncid)
{
    int err = ncmpi_enddef(ncid);
    if (err != NC_ENOTINDEFINE) CXX_CHECK(err);
}

Lists::Lists(int ncid, int varid, const List *start, const List *count,
             const List *stride, const List *imap)
{
    static const char *const names[ALL] = {"start", "count", "stride", "imap"};
    const List *const given[ALL] = {start, count, stride, imap};
    int ndims = 0; /* invalid varid; the access reports the error */
    if (ncmpi_inq_varndims(ncid, varid, &ndims) != NC_NOERR) ndims = 0;
    for (int i = START; i < ALL; i++) {
        const List *list = given[i];
        bool left_out = list == nullptr || (list->empty() && i >= STRIDE);
        lists[i] = left_out ? nullptr : list->data();
        if (!left_out && list->size() < static_cast<size_t>(ndims))
            wrong = std::string(names[i]) + " has " + std::to_string(list->size()) +
                    " elements and the variable " + std::to_string(ndims) + " dimensions";
    }
}

void Lists::check(int err, const char *file, int line) const
{
    if (err == NC_EINVALCOORDS && !wrong.empty())
        throw exceptions::NcInvalidCoords(wrong.c_str(), file, line);
    ncmpiCheck(err, file, line);
}
} // namespace PnetCDF
