/* The streams of version 0, PnetCDF's format. Each process appends to two streams:
 * metadata, which begins with its header, and values, which begin with a magic number. In
 * most logs, each file is a single stream. In PnetCDF's shared logs (its hint
 * nc_burst_buf_shared_logs) the n processes of a node interleave their streams in both
 * files, in blocks of 8 MiB: block k of stream s is block k * n + s of the file. The
 * number of streams is not stored, and there are no checksums. No files, no MPI. */
#ifndef BURST_STREAM_H
#define BURST_STREAM_H

#include "burst_format.h"

struct burst_stream {
    int64_t rank;        /* rank of the process that wrote the stream */
    int64_t num_entries; /* number of complete entries */
    int64_t entry_begin; /* offset of the first entry in the stream */
};

enum { BURST_STREAM_MAGIC = 8 };

/* The upper bits of a value's offset are its stream number. If there is only one stream,
 * the offset is simply an offset in the file. */
#define BURST_STREAM_SIZE ((int64_t)1 << 44)

/* Finds the streams of a metadata log of `size` bytes. `first` is the decoded header of
 * the first stream. *streams must be NULL; the caller frees it with base_free, even after
 * an error. NC_EBADLOG, NC_ENOMEM. */
int burst_find_streams(const unsigned char *meta, size_t size,
                       const struct burst_header *first, struct burst_stream **streams,
                       int64_t *n);

/* Returns the file offset that corresponds to offset `at` in stream `s` of n. Sets *run
 * to the number of bytes from there that are contiguous in the file. */
int64_t burst_stream_place(int64_t n, int64_t s, int64_t at, int64_t *run);

/* Copies `length` bytes at offset `at` of metadata stream `s`. Returns false at end of
 * file. */
bool burst_stream_copy(const unsigned char *meta, size_t size, int64_t n, int64_t s,
                       int64_t at, void *bytes, int64_t length);

/* Returns a token that is the same for all logs of one opening: a digest of the dataset's
 * name, the number of processes, and the log's own name without the trailing rank. */
uint64_t burst_stream_token(const struct burst_header *h, const char *meta_path);

#endif
