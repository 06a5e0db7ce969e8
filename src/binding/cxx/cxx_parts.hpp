/* Declarations that several classes use. This header is not installed.
 *
 * Each method makes one call to the C interface. Typed methods and the header are
 * generated from src/tables and cxx_tables.m4. The methods add the following:
 * - Errors are thrown as exceptions.
 * - If a data access fails because the file is in define mode, the method leaves define
 *   mode and repeats the access. All processes do the same, because all are in the same
 *   mode.
 * - Lists that are too short are never read beyond their ends.
 * - A single value that a request puts no longer exists after the method has returned.
 *   Such a put calls api_access_later with the flag API_TEMPORARY, which always copies
 *   the value.
 *
 * test/cxx compares the header with the published interface, and checks that its tests
 * call every function. */
#ifndef CXX_PARTS_HPP
#define CXX_PARTS_HPP

#include <pnetcdf>

/* Throws the error that a C function returned. */
#define CXX_CHECK(call) PnetCDF::ncmpiCheck((call), __FILE__, __LINE__)

namespace PnetCDF
{
/* Returns a name or path as a C string. C would truncate a name that contains a NUL, so
 * such a name becomes "", which the C function rejects. */
const char *c_name(const std::string &name);

/* Returns the name that a C function writes to its argument. */
template <class Call> std::string get_object_name(Call call)
{
    char name[NC_MAX_NAME + 1] = "";
    CXX_CHECK(call(name));
    return name;
}

/* Returns the number that a C function writes to its argument. */
template <class T, class Call> T told(Call call)
{
    T value = T();
    CXX_CHECK(call(&value));
    return value;
}

/* Returns whether `err` means that data were accessed in define mode. If so, first leaves
 * define mode, so that the caller can repeat the access. Collective, because all
 * processes are in the same mode. */
bool left_define_mode(int ncid, int err);

/* The lists for a data access, as C pointers. C would read beyond the end of a list that
 * is too short. In that case the call is made without a start, so that it fails. The call
 * cannot be skipped, because other processes may be waiting in it. `wrong` describes the
 * error. */
class Lists
{
  public:
    typedef std::vector<MPI_Offset> List;
    Lists(int ncid, int varid, const List *start, const List *count = nullptr,
          const List *stride = nullptr, const List *imap = nullptr);
    const MPI_Offset *start() const
    {
        return wrong.empty() ? lists[START] : nullptr;
    }
    const MPI_Offset *count() const
    {
        return lists[COUNT];
    }
    const MPI_Offset *stride() const
    {
        return lists[STRIDE];
    }
    const MPI_Offset *imap() const
    {
        return lists[IMAP];
    }
    /* Throws the error that the call returned. */
    void check(int err, const char *file, int line) const;

  private:
    enum { START, COUNT, STRIDE, IMAP, ALL };
    const MPI_Offset *lists[ALL];
    std::string wrong;
};
} // namespace PnetCDF

#endif
