/* Charges simulated time for the library's work in memory, such as copying, converting
 * and finding bytes. The linker replaces the library's functions with these; __real_NAME
 * is the original. If charged functions are nested, only the outermost one is charged. */
#include <string.h>

#include "base_compress.h"
#include "conv.h"
#include "machine.h"
#include "region.h"

static int depth;

static void enter(void)
{
    depth++;
}

static void leave(int64_t bytes, int64_t pieces)
{
    if (--depth == 0) machine_work(bytes, pieces);
}

void *__real_memcpy(void *to, const void *from, size_t n);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n);
int __real_conv_put(void *xdst, int xtype, const void *src, enum conv_type type, size_t n,
                    const void *xfill);
int __wrap_conv_put(void *xdst, int xtype, const void *src, enum conv_type type, size_t n,
                    const void *xfill);
int __real_conv_get(void *dst, enum conv_type type, const void *xsrc, int xtype,
                    size_t n);
int __wrap_conv_get(void *dst, enum conv_type type, const void *xsrc, int xtype,
                    size_t n);
void __real_conv_get_in_place(void *array, int xsize, size_t n);
void __wrap_conv_get_in_place(void *array, int xsize, size_t n);
void __real_conv_fill(void *xdst, const void *xvalue, int xsize, size_t n);
void __wrap_conv_fill(void *xdst, const void *xvalue, int xsize, size_t n);
void __real_region_copy_pieces(void *to, int64_t to_step, const void *from,
                               int64_t from_step, int64_t count, int64_t length);
void __wrap_region_copy_pieces(void *to, int64_t to_step, const void *from,
                               int64_t from_step, int64_t count, int64_t length);
size_t __real_region_gather(struct region_cursor *c, const void *base, void *packed,
                            size_t n);
size_t __wrap_region_gather(struct region_cursor *c, const void *base, void *packed,
                            size_t n);
size_t __real_region_scatter(struct region_cursor *c, void *base, const void *packed,
                             size_t n);
size_t __wrap_region_scatter(struct region_cursor *c, void *base, const void *packed,
                             size_t n);
bool __real_region_next(struct region_cursor *c, int64_t max_bytes, int64_t max_runs,
                        struct region_strip *strip);
bool __wrap_region_next(struct region_cursor *c, int64_t max_bytes, int64_t max_runs,
                        struct region_strip *strip);
bool __real_region_next_below(struct region_cursor *c, int64_t limit, int64_t unit,
                              struct region_strip *strip);
bool __wrap_region_next_below(struct region_cursor *c, int64_t limit, int64_t unit,
                              struct region_strip *strip);
int64_t __real_base_compress(struct base_coder *c, const void *from, int64_t n,
                             int planes, void *to, int64_t most);
int64_t __wrap_base_compress(struct base_coder *c, const void *from, int64_t n,
                             int planes, void *to, int64_t most);
bool __real_base_expand(struct base_coder *c, int codec, const void *from, int64_t bytes,
                        void *to, int64_t n);
bool __wrap_base_expand(struct base_coder *c, int codec, const void *from, int64_t bytes,
                        void *to, int64_t n);

/* Charges only calls whose length the compiler does not know. Short fixed-size copies are
 * charged as part of a piece. */
void *__wrap_memcpy(void *to, const void *from, size_t n)
{
    enter();
    void *result = __real_memcpy(to, from, n);
    leave((int64_t)n, 1);
    return result;
}

void *__wrap_memmove(void *to, const void *from, size_t n)
{
    enter();
    void *result = __real_memmove(to, from, n);
    leave((int64_t)n, 1);
    return result;
}

int __wrap_conv_put(void *xdst, int xtype, const void *src, enum conv_type type, size_t n,
                    const void *xfill)
{
    enter();
    int err = __real_conv_put(xdst, xtype, src, type, n, xfill);
    leave((int64_t)n * conv_size(type), 1);
    return err;
}

int __wrap_conv_get(void *dst, enum conv_type type, const void *xsrc, int xtype, size_t n)
{
    enter();
    int err = __real_conv_get(dst, type, xsrc, xtype, n);
    leave((int64_t)n * conv_size(type), 1);
    return err;
}

void __wrap_conv_get_in_place(void *array, int xsize, size_t n)
{
    enter();
    __real_conv_get_in_place(array, xsize, n);
    leave((int64_t)n * xsize, 1);
}

void __wrap_conv_fill(void *xdst, const void *xvalue, int xsize, size_t n)
{
    enter();
    __real_conv_fill(xdst, xvalue, xsize, n);
    leave((int64_t)n * xsize, 1);
}

void __wrap_region_copy_pieces(void *to, int64_t to_step, const void *from,
                               int64_t from_step, int64_t count, int64_t length)
{
    enter();
    __real_region_copy_pieces(to, to_step, from, from_step, count, length);
    leave(count * length, count);
}

size_t __wrap_region_gather(struct region_cursor *c, const void *base, void *packed,
                            size_t n)
{
    enter();
    size_t done = __real_region_gather(c, base, packed, n);
    leave((int64_t)done, 1);
    return done;
}

size_t __wrap_region_scatter(struct region_cursor *c, void *base, const void *packed,
                             size_t n)
{
    enter();
    size_t done = __real_region_scatter(c, base, packed, n);
    leave((int64_t)done, 1);
    return done;
}

bool __wrap_region_next(struct region_cursor *c, int64_t max_bytes, int64_t max_runs,
                        struct region_strip *strip)
{
    enter();
    bool more = __real_region_next(c, max_bytes, max_runs, strip);
    leave(0, 1);
    return more;
}

bool __wrap_region_next_below(struct region_cursor *c, int64_t limit, int64_t unit,
                              struct region_strip *strip)
{
    enter();
    bool more = __real_region_next_below(c, limit, unit, strip);
    leave(0, 1);
    return more;
}

/* Includes the shuffle that precedes the compression. */
int64_t __wrap_base_compress(struct base_coder *c, const void *from, int64_t n,
                             int planes, void *to, int64_t most)
{
    int64_t bytes = __real_base_compress(c, from, n, planes, to, most);
    machine_compute(n, machine_get()->compress_rate);
    return bytes;
}

bool __wrap_base_expand(struct base_coder *c, int codec, const void *from, int64_t bytes,
                        void *to, int64_t n)
{
    bool whole = __real_base_expand(c, codec, from, bytes, to, n);
    machine_compute(n, machine_get()->expand_rate);
    return whole;
}
