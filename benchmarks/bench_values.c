/* Values: element `index` of a variable is a small hash of where it belongs, so that
 * one that lands anywhere else is noticed. */
#include <string.h>

#include "bench.h"

static const struct {
    nc_type type;
    int size;
    int bits; /* of whole numbers it holds exactly, the sign left out */
} types[] = {
    {NC_CHAR, 1, 7},   {NC_SHORT, 2, 15},  {NC_INT, 4, 31},
    {NC_FLOAT, 4, 24}, {NC_DOUBLE, 8, 31},
};

static int row_of(nc_type type)
{
    for (int i = 0; i < (int)(sizeof types / sizeof types[0]); i++)
        if (types[i].type == type) return i;
    bench_stop("no such type", "bench_values");
    return 0;
}

int bench_type_size(nc_type type)
{
    return types[row_of(type)].size;
}

MPI_Datatype bench_type_mpi(nc_type type)
{
    switch (type) {
    case NC_CHAR:
        return MPI_CHAR;
    case NC_SHORT:
        return MPI_SHORT;
    case NC_INT:
        return MPI_INT;
    case NC_FLOAT:
        return MPI_FLOAT;
    default:
        return MPI_DOUBLE;
    }
}

/* A multiplier that mixes upwards, and the upper bits of its product. */
static uint32_t value_at(uint64_t index, uint64_t salt, int bits)
{
    return (uint32_t)(((index + salt) * 0x9e3779b97f4a7c15u) >> (64 - bits));
}

#define VALUES(c_type)                                                                   \
    for (int64_t i = 0; i < n; i++)                                                      \
    ((c_type *)out)[i] = (c_type)value_at((uint64_t)(index + i), salt, bits)

void bench_values(void *out, nc_type type, const struct bench_plan *p, int var,
                  int64_t index, int64_t n)
{
    const struct bench_var *v = &p->vars[var];
    int file = types[row_of(v->type)].bits, mem = types[row_of(v->mem)].bits;
    int bits = file < mem ? file : mem;
    uint64_t salt = (uint64_t)var << 40;
    switch (type) {
    case NC_CHAR:
        VALUES(char);
        break;
    case NC_SHORT:
        VALUES(int16_t);
        break;
    case NC_INT:
        VALUES(int32_t);
        break;
    case NC_FLOAT:
        VALUES(float);
        break;
    default:
        VALUES(double);
        break;
    }
}

/* Between this machine's order and the file's. */
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
