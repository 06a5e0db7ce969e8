/* Calls every method that transfers values of variables, for each kind of access, type
 * and mode. Values that are put by C++ are read by C and then by C++. */
#include "cxx_check.hpp"

#include <algorithm>

using namespace PnetCDF;

namespace
{
enum { Y = 4, X = 2, KINDS = 6 };
const char *const kinds[KINDS] = {"var", "var1", "vara", "vars", "varm", "varn"};

enum way { BLOCKING, WAITING, BUFFERED };

template <class T> T value(MPI_Offset y, MPI_Offset x)
{
    return static_cast<T>(10 * y + x + 1);
}
template <> char value<char>(MPI_Offset y, MPI_Offset x)
{
    return static_cast<char>('A' + X * y + x);
}

template <class T> struct type_of;
#define TYPE_OF(type, mpi)                                                               \
    template <> struct type_of<type> {                                                   \
        static MPI_Datatype get()                                                        \
        {                                                                                \
            return mpi;                                                                  \
        }                                                                                \
    }
TYPE_OF(char, MPI_CHAR);
TYPE_OF(signed char, MPI_SIGNED_CHAR);
TYPE_OF(unsigned char, MPI_UNSIGNED_CHAR);
TYPE_OF(short, MPI_SHORT);
TYPE_OF(unsigned short, MPI_UNSIGNED_SHORT);
TYPE_OF(int, MPI_INT);
TYPE_OF(unsigned int, MPI_UNSIGNED);
TYPE_OF(long, MPI_LONG);
TYPE_OF(float, MPI_FLOAT);
TYPE_OF(double, MPI_DOUBLE);
TYPE_OF(long long, MPI_LONG_LONG_INT);
TYPE_OF(unsigned long long, MPI_UNSIGNED_LONG_LONG);

/* Returns a value in the form that a single-element put expects: numbers by value; bytes,
 * and values described by an MPI datatype, by pointer. */
template <class T> T one(const T &v, const T *)
{
    return v;
}
std::string one(const char &v, const char *)
{
    return std::string(1, v);
}
const signed char *one(const signed char &v, const signed char *)
{
    return &v;
}
const unsigned char *one(const unsigned char &v, const unsigned char *)
{
    return &v;
}
template <class T> const void *one(const T &v, const void *)
{
    return &v;
}

/* The values of all rows and of this process's rows, and the arguments that select this
 * process's rows in each kind of access: start, count, stride, imap, and lists of
 * slabs. */
template <class T> struct part {
    MPI_Offset first, rows;
    std::vector<T> all, each, own, again, turned, columns[2];
    std::vector<MPI_Offset> start, count, stride, half, imap;
    std::vector<std::vector<MPI_Offset>> lists;
    std::vector<MPI_Offset *> starts, counts;

    part()
        : first(Y * check.rank / check.nprocs),
          rows(Y * (check.rank + 1) / check.nprocs - first), all(Y * X)
    {
        for (MPI_Offset y = 0; y < Y; y++)
            for (MPI_Offset x = 0; x < X; x++)
                all[y * X + x] = value<T>(y, x);
        own.assign(all.begin() + first * X, all.begin() + (first + rows) * X);
        each = all;
        again = own;
        for (MPI_Offset x = 0; x < X; x++)
            for (MPI_Offset y = 0; y < rows; y++)
                turned.push_back(own[y * X + x]);
        for (size_t i = 0; i < own.size(); i++)
            columns[i % 2].push_back(own[i]);
        start = {first, 0};
        count = {rows, X};
        stride = {1, 2};
        half = {rows, X / 2};
        imap = {1, rows};
        for (MPI_Offset y = 0; y < rows; y++) {
            lists.push_back({first + y, 0});
            lists.push_back({1, X});
        }
        for (size_t i = 0; i < lists.size(); i += 2) {
            starts.push_back(lists[i].data());
            counts.push_back(lists[i + 1].data());
        }
    }
    void clear()
    {
        for (std::vector<T> *v :
             {&all, &each, &own, &again, &turned, &columns[0], &columns[1]})
            std::fill(v->begin(), v->end(), T());
    }
    bool operator==(const part &other) const
    {
        return all == other.all && each == other.each && own == other.own &&
               again == other.again && turned == other.turned &&
               columns[0] == other.columns[0] && columns[1] == other.columns[1];
    }
};

/* A list of requests, and a function that waits for them. */
struct requests {
    NcmpiFile &file;
    way how;
    std::vector<int> ids;
    int *next()
    {
        ids.push_back(NC_REQ_NULL);
        return &ids.back();
    }
    requests(NcmpiFile &f, way w) : file(f), how(w)
    {
        ids.reserve(1000);
        if (how == BUFFERED) file.Buffer_attach(1 << 16);
    }
    void wait()
    {
        std::vector<int> statuses(ids.size(), NC_EINVAL);
        const int n = static_cast<int>(ids.size());
        if (how != BLOCKING && check.collective)
            file.Wait_all(n, ids.data(), statuses.data());
        else if (how != BLOCKING)
            file.Wait(n, ids.data(), statuses.data());
        for (int status : statuses)
            CHECK_NC(NC_NOERR, status);
        if (how == BUFFERED) file.Buffer_detach();
    }
};

#define PUT(var, end, ...)                                                               \
    do {                                                                                 \
        if (r.how == WAITING)                                                            \
            var.iputVar##end(__VA_ARGS__, r.next());                                     \
        else if (r.how == BUFFERED)                                                      \
            var.bputVar##end(__VA_ARGS__, r.next());                                     \
        else if (check.collective)                                                       \
            var.putVar##end##_all(__VA_ARGS__);                                          \
        else                                                                             \
            var.putVar##end(__VA_ARGS__);                                                \
    } while (0)

#define GET(var, end, ...)                                                               \
    do {                                                                                 \
        if (r.how == WAITING)                                                            \
            var.igetVar##end(__VA_ARGS__, r.next());                                     \
        else if (check.collective)                                                       \
            var.getVar##end##_all(__VA_ARGS__);                                          \
        else                                                                             \
            var.getVar##end(__VA_ARGS__);                                                \
    } while (0)

/* Makes each kind of put. Calls the typed methods if Pointer points to T. If it points to
 * void, calls the flexible methods, and `flex` describes the values. */
template <class T, class Pointer, class... Flex>
void put_each_kind(requests &r, const std::vector<NcmpiVar> &v, const part<T> &p,
                   Flex... flex)
{
    const int num = static_cast<int>(p.starts.size());
    const Pointer all = p.all.data(), own = p.own.data(), turned = p.turned.data();
    PUT(v[0], , all, flex...);
    for (MPI_Offset i = 0; i < Y * X;
         i++) { /* collective puts require the same number on each process */
        const std::vector<MPI_Offset> at = {i / X, i % X};
        PUT(v[1], , at, one(p.all[i], Pointer()), flex...);
    }
    PUT(v[2], , p.start, p.count, own, flex...);
    for (int c = 0; c < 2; c++) {
        const std::vector<MPI_Offset> from = {p.first, c};
        const Pointer column = p.columns[c].data();
        PUT(v[3], , from, p.half, p.stride, column, flex...);
    }
    PUT(v[4], , p.start, p.count, std::vector<MPI_Offset>(), p.imap, turned, flex...);
    PUT(v[5], n, num, p.starts.data(), p.counts.data(), own, flex...);
}

template <class T, class Pointer, class... Flex>
void get_each_kind(requests &r, const std::vector<NcmpiVar> &v, part<T> &p, Flex... flex)
{
    const int num = static_cast<int>(p.starts.size());
    const Pointer all = p.all.data(), own = p.own.data(), turned = p.turned.data();
    const Pointer again = p.again.data();
    GET(v[0], , all, flex...);
    for (MPI_Offset i = 0; i < Y * X; i++) {
        const std::vector<MPI_Offset> at = {i / X, i % X};
        const Pointer value = &p.each[i];
        GET(v[1], , at, value, flex...);
    }
    GET(v[2], , p.start, p.count, own, flex...);
    for (int c = 0; c < 2; c++) {
        const std::vector<MPI_Offset> from = {p.first, c};
        const Pointer column = p.columns[c].data();
        GET(v[3], , from, p.half, p.stride, column, flex...);
    }
    GET(v[4], , p.start, p.count, std::vector<MPI_Offset>(), p.imap, turned, flex...);
    GET(v[5], n, num, p.starts.data(), p.counts.data(), again, flex...);
}

template <class T> std::vector<NcmpiVar> define(const NcmpiFile &file)
{
    const bool text = std::is_same<T, char>::value;
    const std::vector<NcmpiDim> dims = {file.addDim("y", Y), file.addDim("x", X)};
    std::vector<NcmpiVar> vars;
    for (const char *kind : kinds)
        vars.push_back(file.addVar(
            kind, text ? NcmpiType(ncmpiChar) : NcmpiType(ncmpiDouble), dims));
    return vars;
}

/* Checks the variables' values, reading them through the C interface. */
template <class T> void read_in_c(const std::string &path)
{
    const bool text_type = std::is_same<T, char>::value;
    int ncid;
    CHECK_NC(NC_NOERR,
             ncmpi_open(MPI_COMM_WORLD, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &ncid));
    for (int kind = 0; kind < KINDS; kind++) {
        double numbers[Y * X] = {0};
        char text[Y * X] = {0};
        bool right = true;
        CHECK_NC(NC_NOERR, text_type ? ncmpi_get_var_text_all(ncid, kind, text)
                                     : ncmpi_get_var_double_all(ncid, kind, numbers));
        for (int i = 0; i < Y * X; i++)
            right = right && (text_type ? text[i] == value<char>(i / X, i % X)
                                        : !(numbers[i] < value<int>(i / X, i % X)) &&
                                              !(numbers[i] > value<int>(i / X, i % X)));
        check_that(right, kinds[kind], __FILE__, __LINE__);
    }
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

template <class T, class Put, class Get, class... Flex> void there_and_back(Flex... flex)
{
    const part<T> written;
    for (way how : {BLOCKING, WAITING, BUFFERED}) {
        NcmpiFile file = new_file("every.nc");
        const std::vector<NcmpiVar> vars = define<T>(file);
        file.enddef();
        if (!check.collective) file.begin_indep_data();
        requests puts(file, how);
        put_each_kind<T, Put>(puts, vars, written, flex...);
        puts.wait();
        file.close();
        read_in_c<T>(check_path("every.nc"));
        if (how == BUFFERED) continue;

        part<T> read;
        read.clear();
        NcmpiFile again(MPI_COMM_WORLD, check_path("every.nc"), NcmpiFile::read);
        std::vector<NcmpiVar> there;
        for (const char *kind : kinds)
            there.push_back(again.getVar(kind));
        if (!check.collective) again.begin_indep_data();
        requests gets(again, how);
        get_each_kind<T, Get>(gets, there, read, flex...);
        gets.wait();
        CHECK(read == written);
    }
}

template <class T> void typed()
{
    there_and_back<T, const T *, T *>();
}

template <class T> void flexible()
{
    there_and_back<T, const void *, void *>(static_cast<MPI_Offset>(NC_COUNT_IGNORE),
                                            type_of<T>::get());
}

const unsigned ALL = CHECK_MODES;
const struct check_test tests[] = {
    {"char", guarded<typed<char>>, ALL},
    {"signed char", guarded<typed<signed char>>, ALL},
    {"unsigned char", guarded<typed<unsigned char>>, ALL},
    {"short", guarded<typed<short>>, ALL},
    {"unsigned short", guarded<typed<unsigned short>>, ALL},
    {"int", guarded<typed<int>>, ALL},
    {"unsigned int", guarded<typed<unsigned int>>, ALL},
    {"long", guarded<typed<long>>, ALL},
    {"float", guarded<typed<float>>, ALL},
    {"double", guarded<typed<double>>, CHECK_FORMATS | CHECK_MODES},
    {"long long", guarded<typed<long long>>, ALL},
    {"unsigned long long", guarded<typed<unsigned long long>>, ALL},
    {"MPI datatypes of text", guarded<flexible<char>>, ALL},
    {"MPI datatypes of numbers", guarded<flexible<short>>, ALL},
    {nullptr, nullptr, 0},
};
} // namespace

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
