#include "pnetcdf_log.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIXED = 72, ALIGN = 16, ENTRIES_AT = 56 };

static void need(bool good, const char *what)
{
    if (good) return;
    perror(what);
    exit(3);
}

/* Writes bytes to a stream. In the file, blocks of different streams alternate. */
static void store(const struct pnetcdf_log *l, int fd, int s, int64_t at,
                  const void *bytes, int64_t n)
{
    const char *from = bytes;
    while (n > 0) {
        int64_t inside = at % PNETCDF_LOG_BLOCK, part = PNETCDF_LOG_BLOCK - inside;
        int64_t block = at / PNETCDF_LOG_BLOCK * l->n + s;
        if (part > n) part = n;
        need(pwrite(fd, from, (size_t)part, block * PNETCDF_LOG_BLOCK + inside) == part,
             "write");
        from += part;
        at += part;
        n -= part;
    }
}

/* ---- header ---- */

static void start_stream(struct pnetcdf_log *l, int s, const char *dataset, int rank,
                         int ranks)
{
    static const char node[] = "node9";
    char header[4096] = "PnetCDF0CDF0";
    const int32_t one = 1, node_length = (int32_t)strlen(node);
    const int32_t flags[2] = {*(const char *)&one == 0, 0};
    int64_t length = (int64_t)strlen(dataset);
    int64_t begin = FIXED + 8 + length + 1 + 4 + node_length + 1;
    begin = (begin + ALIGN - 1) / ALIGN * ALIGN;
    const int64_t numbers[] = {ranks, rank, 2, 0, begin, length};
    memcpy(header + 16, flags, sizeof flags);
    memcpy(header + 24, numbers, sizeof numbers);
    memcpy(header + FIXED, dataset, (size_t)length);
    memcpy(header + FIXED + length + 1, &node_length, sizeof node_length);
    memcpy(header + FIXED + length + 5, node, sizeof node);
    store(l, l->meta, s, 0, header, begin);
    store(l, l->data, s, 0, "PnetCDF0", 8);
    l->streams[s].begin = l->streams[s].meta = begin;
    l->streams[s].data = 8;
    l->streams[s].entries = 0;
}

void pnetcdf_log_start(struct pnetcdf_log *l, const char *path, const char *dataset,
                       int first, int n, int ranks)
{
    char name[1000];
    snprintf(name, sizeof name, "%s.meta", path);
    l->meta = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(l->meta >= 0, name);
    snprintf(name, sizeof name, "%s.data", path);
    l->data = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(l->data >= 0, name);
    l->n = n;
    for (int s = 0; s < n; s++)
        start_stream(l, s, dataset, first + s, ranks);
}

/* ---- entries ---- */

void pnetcdf_log_put(struct pnetcdf_log *l, int s, int type, int varid, int ndims,
                     const int64_t *start, const int64_t *count, const int64_t *stride,
                     const void *values, int64_t bytes)
{
    enum { FRAME = 40, MOST = 8 };
    char entry[FRAME + 3 * MOST * 8] = {0};
    const size_t array = (size_t)ndims * sizeof *start;
    const int64_t size = FRAME + 3 * (int64_t)array;
    const int32_t kind[] = {stride == NULL ? PNETCDF_VARA : PNETCDF_VARS, type, varid,
                            ndims};
    const int64_t place[] = {l->streams[s].data, bytes};
    memcpy(entry, &size, sizeof size);
    memcpy(entry + 8, kind, sizeof kind);
    memcpy(entry + 24, place, sizeof place);
    memcpy(entry + FRAME, start, array);
    memcpy(entry + FRAME + array, count, array);
    if (stride != NULL) memcpy(entry + FRAME + 2 * array, stride, array);
    store(l, l->data, s, l->streams[s].data, values, bytes);
    store(l, l->meta, s, l->streams[s].meta, entry, size);
    l->streams[s].data += bytes;
    l->streams[s].meta += size;
    l->streams[s].entries++;
    store(l, l->meta, s, ENTRIES_AT, &l->streams[s].entries,
          sizeof l->streams[s].entries);
}

void pnetcdf_log_end(struct pnetcdf_log *l)
{
    need(close(l->meta) == 0 && close(l->data) == 0, "close");
}
