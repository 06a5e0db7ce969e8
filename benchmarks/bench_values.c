/* Generates and checks values. The value of an element is a small hash of its position;
 * therefore the check detects misplaced values. Values have a fraction if they are floats
 * or doubles both in the file and in memory. */
#include <string.h>

#include "bench.h"

/* Size of each type, and the number of bits, without the sign, of the integers that it
 * represents exactly. Indexed by type, from NC_CHAR (2) to NC_DOUBLE (6). */
static const int sizes[] = {0, 1, 1, 2, 4, 4, 8}, all_bits[] = {0, 7, 7, 15, 31, 24, 31};

int bench_type_size(nc_type type)
{
    return sizes[type];
}

MPI_Datatype bench_type_mpi(nc_type type)
{
    const MPI_Datatype types[] = {MPI_BYTE, MPI_SIGNED_CHAR, MPI_CHAR,  MPI_SHORT,
                                  MPI_INT,  MPI_FLOAT,       MPI_DOUBLE};
    return types[type];
}

/* Multiplies by a large odd constant and returns the upper bits of the product, which
 * depend on all bits of the input. */
static uint32_t value_at(uint64_t index, uint64_t salt, int bits)
{
    return (uint32_t)(((index + salt) * 0x9e3779b97f4a7c15u) >> (64 - bits));
}

static bool is_real(nc_type type)
{
    return type == NC_FLOAT || type == NC_DOUBLE;
}

#define VALUES(c_type, unit)                                                             \
    for (int64_t i = 0; i < n; i++)                                                      \
    ((c_type *)out)[i] = (c_type)value_at((uint64_t)(index + i), salt, bits) * (unit)

void bench_values(void *out, nc_type type, const struct bench_plan *p, int var,
                  int64_t index, int64_t n)
{
    const struct bench_var *v = &p->vars[var];
    int file = all_bits[v->type], mem = all_bits[v->mem];
    int bits = file < mem ? file : mem;
    uint64_t salt = (uint64_t)var << 40;
    float unit = is_real(v->type) && is_real(v->mem) ? 1.0F / 8192 : 1;
    switch (type) {
    case NC_CHAR:
        VALUES(char, 1);
        break;
    case NC_SHORT:
        VALUES(int16_t, 1);
        break;
    case NC_INT:
        VALUES(int32_t, 1);
        break;
    case NC_FLOAT:
        VALUES(float, unit);
        break;
    default:
        VALUES(double, unit);
        break;
    }
}

/* Converts between the host's byte order and that of the file. */
void bench_swap(void *values, nc_type type, int64_t n)
{
    const uint16_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    int size = bench_type_size(type);
    unsigned char *at = values;
    for (int64_t i = 0; low == 1 && i < n; i++, at += size)
        for (int k = 0; k < size / 2; k++) {
            unsigned char t = at[k];
            at[k] = at[size - 1 - k];
            at[size - 1 - k] = t;
        }
}
