/* Sets and prints values of any type in memory, and finds library functions by name. */
#include <stdlib.h>
#include <string.h>

#include "differ.h"

int external_size(nc_type type)
{
    const int memory = plan_memory_of(type);
    return memory < 0 ? 0 : (int)plan_memory_size(memory);
}

/* Values near the limits of integer types. */
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

static bool is_real(int memory)
{
    return memory == MEMORY_FLOAT || memory == MEMORY_DOUBLE;
}

uint64_t value_draw(nc_type type, int memory, uint64_t seed)
{
    const int own = plan_memory_of(type);
    uint64_t value = 0;
    if (own >= 0 && own != MEMORY_TEXT && memory < 0) {
        (void)plan_convert(5, NC_UBYTE, seed % 100, own, &value);
        return value;
    }
    if (memory < 0) memory = own;
    if (own < 0 || (own == MEMORY_TEXT) != (memory == MEMORY_TEXT)) return 'a';
    do {
        value = plan_value(type, memory, seed++ << 16);
    } while (is_real(own) && plan_number(own, value) != plan_number(own, value));
    return value;
}

static uint64_t wild_value(int memory, uint64_t seed)
{
    enum {
        NWHOLE = sizeof whole / sizeof whole[0],
        NBROKEN = sizeof broken / sizeof broken[0]
    };
    const long long number = whole[seed % NWHOLE];
    double real = seed % 2 ? broken[seed % NBROKEN] : (double)number;
    uint64_t bits, narrow;
    if (!is_real(memory)) return (uint64_t)number;
    if (memory == MEMORY_FLOAT)
        real = real > 3.4e38 ? 3.4e38 : real < -3.4e38 ? -3.4e38 : real;
    memcpy(&bits, &real, sizeof bits);
    (void)plan_convert(5, NC_DOUBLE, bits, memory, &narrow);
    return narrow;
}

void memory_put(void *to, int memory, int at, nc_type type, uint64_t value, uint64_t seed,
                bool wild)
{
    const int own = plan_memory_of(type);
    uint64_t converted = value;
    if (wild && seed % 3 == 0 && memory != MEMORY_TEXT)
        converted = wild_value(memory, seed);
    else if (own >= 0 && own != MEMORY_TEXT && memory != MEMORY_TEXT)
        (void)plan_convert(5, type, value, memory, &converted);
    plan_store(to, memory, at, converted);
}

void memory_show(const void *from, int memory, int at)
{
    const uint64_t value = plan_load(from, memory, at);
    if (is_real(memory))
        put_out(" %.17g", plan_number(memory, value));
    else
        put_out(" %llx", (unsigned long long)value);
}

void external_show(const void *from, nc_type type, int n)
{
    for (int i = 0; i < n && plan_memory_of(type) >= 0; i++)
        memory_show(from, plan_memory_of(type), i);
}

const struct calls_row *function(const char *name)
{
    for (int i = 0; i < calls_row_count; i++)
        if (strcmp(calls_rows[i].name + strlen("ncmpi_"), name) == 0)
            return &calls_rows[i];
    abort();
}

const struct calls_att *att_function(int memory)
{
    for (int i = 0; i < calls_att_count; i++)
        if (calls_atts[i].type == calls_types + memory) return &calls_atts[i];
    abort();
}
