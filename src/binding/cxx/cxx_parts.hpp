/* What the classes have in common; not installed.
 *
 * The methods are one call of the C interface each, and what is typed among them is
 * generated from src/tables and cxx_tables.m4, the header too. What they add: a result
 * that is an error is thrown; a data call that finds define mode leaves it and is made
 * again, which all processes do alike, as they are in the same mode; lists that are
 * too short are not read beyond their ends. One value that is put by a request is gone
 * when the call returns: such a put goes to api_access_later, flagged as fleeting,
 * which takes the value in any case. test/cxx compares the header with the published
 * interface, and what it calls with what there is. */
#ifndef CXX_PARTS_HPP
#define CXX_PARTS_HPP

#include <pnetcdf>

/* Throws what a call of C returns. */
#define CXX_CHECK(call) PnetCDF::ncmpiCheck((call), __FILE__, __LINE__)

namespace PnetCDF
{
/* A name or path as C takes it. One with a NUL in it would be cut there: it becomes "",
 * which C refuses. */
const char *c_name(const std::string &name);

/* A name that C tells. */
template <class Call> std::string told_name(Call call)
{
    char name[NC_MAX_NAME + 1] = "";
    CXX_CHECK(call(name));
    return name;
}

/* A number that C tells. */
template <class T, class Call> T told(Call call)
{
    T value = T();
    CXX_CHECK(call(&value));
    return value;
}

/* Is this what data calls return in define mode? Then it is left, and they can be
 * repeated. Collective, as all processes are in the same mode. */
bool left_define_mode(int ncid, int err);

/* Lists of a data call, as C takes them. One that is too short would be read beyond its
 * end. The call is made all the same, since others may be waiting in it, but without a
 * start, so that it fails; `wrong` says what is too short. */
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
    /* Throws what the call returned. */
    void check(int err, const char *file, int line) const;

  private:
    enum { START, COUNT, STRIDE, IMAP, ALL };
    const MPI_Offset *lists[ALL];
    std::string wrong;
};
} // namespace PnetCDF

#endif
