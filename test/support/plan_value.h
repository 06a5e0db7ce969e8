/* Values for random programs, and the rules by which they are converted between types in
 * the file and types in memory. Nothing here uses the library or MPI.
 *
 * A value is passed as a uint64_t, whose low bytes contain the value's representation in
 * its C type. The C type that corresponds to a type in the file represents the same
 * values. */
#ifndef PLAN_VALUE_H
#define PLAN_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types in the file, numbered as in pnetcdf.h. */
enum plan_type {
    PLAN_BYTE = 1,
    PLAN_CHAR,
    PLAN_SHORT,
    PLAN_INT,
    PLAN_FLOAT,
    PLAN_DOUBLE,
    PLAN_UBYTE,
    PLAN_USHORT,
    PLAN_UINT,
    PLAN_INT64,
    PLAN_UINT64,
    PLAN_TYPES
};

/* Types in memory, in the order of src/tables/tables.m4. */
enum plan_memory {
    MEMORY_TEXT,
    MEMORY_SCHAR,
    MEMORY_UCHAR,
    MEMORY_SHORT,
    MEMORY_USHORT,
    MEMORY_INT,
    MEMORY_UINT,
    MEMORY_LONG,
    MEMORY_FLOAT,
    MEMORY_DOUBLE,
    MEMORY_LONGLONG,
    MEMORY_ULONGLONG,
    MEMORY_TYPES
};

/* Returns the C type that corresponds to a type in the file, or -1 if there is no such
 * type. */
int plan_memory_of(int type);
size_t plan_memory_size(int memory);

/* Returns a value of a type in the file. The value depends on `seed`, and `memory` can
 * represent it exactly. If `memory` is the corresponding type, all bytes of the value are
 * random, nonzero and different from each other; some values of a floating-point type
 * are NaNs or subnormal. Otherwise as many bytes as possible are random. */
uint64_t plan_value(int type, int memory, uint64_t seed);

/* Returns such a value as an int, for variables of this type that are put and got as int.
 */
int plan_int(int type, uint64_t seed);

/* Converts a value of a type in the file, in a file of this format (1, 2 or 5), to a type
 * in memory. Returns false if it is out of range. */
bool plan_convert(int format, int type, uint64_t value, int memory, uint64_t *converted);

/* Returns whether two values of a type in memory are the same. All NaNs are the same,
 * because a conversion may change their bits. */
bool plan_is_same(int memory, uint64_t a, uint64_t b);

/* Store and load the i-th element of a buffer. */
void plan_store(void *buf, int memory, int64_t i, uint64_t value);
uint64_t plan_load(const void *buf, int memory, int64_t i);

/* Returns an integer or finite value as a double, for messages and for values that are
 * known to be small. */
double plan_number(int memory, uint64_t value);

#endif
