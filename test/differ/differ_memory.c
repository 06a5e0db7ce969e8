/* Values in memory and in files, and functions by their names. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "differ.h"

const struct memory memories[NMEMORY] = {
    {"text", MPI_CHAR, 1},
    {"schar", MPI_SIGNED_CHAR, 1},
    {"uchar", MPI_UNSIGNED_CHAR, 1},
    {"short", MPI_SHORT, 2},
    {"ushort", MPI_UNSIGNED_SHORT, 2},
    {"int", MPI_INT, 4},
    {"uint", MPI_UNSIGNED, 4},
    {"long", MPI_LONG, sizeof(long)},
    {"float", MPI_FLOAT, 4},
    {"double", MPI_DOUBLE, 8},
    {"longlong", MPI_LONG_LONG_INT, 8},
    {"ulonglong", MPI_UNSIGNED_LONG_LONG, 8},
};
enum { FLOAT = 8, DOUBLE = 9, ULONGLONG = 11 };

static const int memory_types[] = {-1, 1, 0, 3, 5, 8, 9, 2, 4, 6, 10, 11};
enum { NTYPES = sizeof memory_types / sizeof memory_types[0] };

int memory_of(nc_type type)
{
    return type < 1 || type >= NTYPES ? -1 : memory_types[type];
}

int external_size(nc_type type)
{
    int memory = memory_of(type);
    return memory < 0 ? 0 : memories[memory].size;
}

/* Numbers at the bounds of types. */
static const long long whole[] = {-1,
                                  127,
                                  128,
                                  255,
                                  256,
                                  -128,
                                  -129,
                                  32767,
                                  32768,
                                  65535,
                                  65536,
                                  -32768,
                                  -32769,
                                  2147483647,
                                  2147483648,
                                  4294967295,
                                  4294967296,
                                  -2147483648,
                                  -2147483649,
                                  9007199254740992,
                                  -9007199254740992,
                                  4611686018427387904,
                                  -32767,
                                  -127};
static const double broken[] = {1e300, -1e300, 3.5e38, -3.5e38, 1e19,  99.7,
                                -0.5,  -99.7,  3.4e38, 1e-50,   -1e19, 255.5};

void memory_put(void *to, int memory, int at, int value, bool wild)
{
    enum {
        NWHOLE = sizeof whole / sizeof whole[0],
        NBROKEN = sizeof broken / sizeof broken[0]
    };
    char *place = (char *)to + (size_t)at * (size_t)memories[memory].size;
    bool chosen = wild && value % 3 == 0;
    long long number = chosen ? whole[value % NWHOLE] : value;
    double real = chosen && value % 2 == 1 ? broken[value % NBROKEN] : (double)number;
    float narrow = real > 3.4e38 ? 3.4e38F : real < -3.4e38 ? -3.4e38F : (float)real;
    if (memory == TEXT) {
        *place = (char)('a' + value % 26);
    } else if (memory == FLOAT) {
        memcpy(place, &narrow, sizeof narrow);
    } else if (memory == DOUBLE) {
        memcpy(place, &real, sizeof real);
    } else {
        memcpy(place, &number, (size_t)memories[memory].size); /* little-endian */
    }
}

void memory_show(const void *from, int memory, int at)
{
    const char *place = (const char *)from + (size_t)at * (size_t)memories[memory].size;
    long long number = 0;
    float narrow;
    double real;
    if (memory == FLOAT) {
        memcpy(&narrow, place, sizeof narrow);
        put_out(" %.9g", (double)narrow);
    } else if (memory == DOUBLE) {
        memcpy(&real, place, sizeof real);
        put_out(" %.17g", real);
    } else {
        memcpy(&number, place, (size_t)memories[memory].size);
        put_out(" %llx", (unsigned long long)number);
    }
}

void external_show(const void *from, nc_type type, int n)
{
    int memory = memory_of(type);
    for (int i = 0; i < n && memory >= 0; i++)
        memory_show(from, memory, i);
}

/* Of a library that is linked as a shared one: only that has names to look up. */
differ_function *function(const char *format, ...)
{
    char name[80] = "ncmpi_";
    va_list args;
    va_start(args, format);
    vsnprintf(name + 6, sizeof name - 6, format, args);
    va_end(args);
    void *found = dlsym(RTLD_DEFAULT, name);
    differ_function *result;
    if (found == NULL) abort();
    memcpy(&result, &found, sizeof result);
    return result;
}
