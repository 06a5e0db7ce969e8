/* The format of the logs: metadata and data, as bytes. No files, no MPI.
 *
 * A metadata log is a header and entries, one for each write; the data log holds their
 * values. Version 0 is PnetCDF's, as its grammar says or as PnetCDF 1.15 writes it, which
 * is not the same. Version 1 keeps to its frame and adds, where that
 * leaves room (behind the header's names, behind an entry's arrays), what a crash calls
 * for: checksums, sequence numbers, and a commit record for each process.
 * doc/formats.md describes both to the byte. */
#ifndef BURST_FORMAT_H
#define BURST_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BURST_MAX_NAME = 256, BURST_MAX_PATH = 4096 };

/* Kinds of request; a positive number is a varn of so many. */
enum { BURST_VAR = -1, BURST_VAR1 = -2, BURST_VARA = -3, BURST_VARS = -4 };

/* What version 1 adds to a request. */
enum {
    BURST_FILL = 1,     /* the variable's fill value throughout; no data */
    BURST_RAW = 2,      /* starts and counts are bytes of the variable, ndims is 1 */
    BURST_CANCELLED = 4 /* not to be carried out: taken back, or in the file before
                         * earlier ones; no flag in the log: its sum is inverted */
};

struct burst_header {
    int version; /* 0 or 1 */
    int format;  /* of the dataset: 1, 2 or 5 */
    bool is_external;
    int64_t num_ranks, rank_id, max_ndims, num_entries, entry_begin;
    char basename[BURST_MAX_NAME +
                  1]; /* the dataset's path as the user gave it, its end */
    char proc_name[BURST_MAX_NAME + 1];

    /* of the dataset, absolute; empty where version 0 has what the user gave */
    char path[BURST_MAX_PATH];

    /* version 1 */
    int64_t chunk;  /* entries never cross a multiple of it, counted from entry_begin,
                     * but those that are larger, which start at one */
    int64_t nslots; /* processes that append to this log */
    int64_t slots_begin; /* where their commit records are */
    uint64_t token;      /* the same in all logs of one opening, no other has it */
    uint64_t device, inode;
    uint64_t birth; /* when the file was made; 0: unknown */
    uint64_t boot;  /* of the machine that wrote it: another one after each start */
};

/* A process's commit record; two copies take turns, so that one always holds. */
struct burst_slot {
    int64_t rank;         /* -1: it has not joined yet */
    int64_t generation;   /* one higher whenever all logs start anew */
    int64_t count;        /* entries of this generation that are complete */
    int64_t drained;      /* how many of them, from the first, are in the file */
    int64_t synced;       /* how many of them are on the device */
    uint64_t definitions; /* a digest of the dataset's, which these entries go by */
    uint64_t sum;
};

/* What the process knows of the dataset's file, in two copies behind its commit records.
 * Times are in nanoseconds since 1970. */
struct burst_note {
    int64_t serial;   /* the later one has the higher */
    int64_t changing; /* it may be writing to the file: what follows is of before */
    int64_t when;     /* by the clock of its node */
    int64_t mtime;    /* of the file; 0: not looked */
    int64_t size;
};
enum {
    BURST_SLOT_BYTES = 64,
    BURST_SLOT_COPIES = 2,
    BURST_SLOT_STRIDE = 2 * BURST_SLOT_BYTES * BURST_SLOT_COPIES /* of one process */
};

struct burst_entry {
    int64_t size; /* of the entry in the log */
    int kind, itype, varid, ndims;
    int64_t data_off, data_len;
    int64_t nreqs;                         /* 1, or of a varn */
    const int64_t *start, *count, *stride; /* count, stride may be NULL */

    /* version 1 */
    int64_t seq, epoch, rank, flags;
    uint64_t data_sum;
};

/* The log's number of a type in memory (enum conv_type), and back; -1 for none. */
enum { BURST_LONG = 13 };
int burst_itype(int conv_type);
int burst_conv_type(int itype);

/* ---- header ---- */

/* Where the records of a log's holder are (burst_holder.h); 0: an older log has none. */
enum { BURST_HOLDER_BYTES = 256 };
int64_t burst_holder_at(const struct burst_header *h);

/* Writes a header of version 1; sets slots_begin and entry_begin. Returns its bytes,
 * slots left out, or 0 if size is too small. */
size_t burst_encode_header(struct burst_header *h, unsigned char *bytes, size_t size);

/* NC_EBADLOG, and says why. */
int burst_decode_header(struct burst_header *h, const unsigned char *bytes,
                        size_t length);

void burst_encode_slot(const struct burst_slot *s, uint64_t token,
                       unsigned char bytes[BURST_SLOT_BYTES]);
/* The later of the two copies that hold. Returns how many do. */
int burst_decode_slot(const unsigned char *bytes, uint64_t token, struct burst_slot *s);

void burst_encode_note(const struct burst_note *n, uint64_t token,
                       unsigned char bytes[BURST_SLOT_BYTES]);
/* The same of notes. */
int burst_decode_note(const unsigned char *bytes, uint64_t token, struct burst_note *n);

/* ---- entries ---- */

/* Bytes of an entry of version 1 that has so many numbers in its arrays. */
int64_t burst_entry_size(int64_t numbers);

/* Writes an entry of version 1 of e->size bytes, that will lie at `at` in the log of
 * generation `generation`. */
void burst_encode_entry(const struct burst_entry *e, uint64_t token, int64_t generation,
                        int64_t at, unsigned char *bytes);

/* Is there an entry of this generation at `at`? bytes are 8-byte aligned. */
bool burst_decode_entry(struct burst_entry *e, const unsigned char *bytes, size_t length,
                        uint64_t token, int64_t generation, int64_t at);

/* The rank in an entry of version 1 that is not yet known to be good; -1 if it cannot be.
 */
int64_t burst_entry_rank(const unsigned char *bytes, size_t length);

/* An entry of version 0; ndims_max bounds it. NC_EBADLOG. */
int burst_decode_entry0(struct burst_entry *e, const unsigned char *bytes, size_t length);

#endif
