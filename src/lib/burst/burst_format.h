/* The byte format of the logs. No files, no MPI.
 *
 * A metadata log has a header and an entry for each write; the data log has the values.
 * Version 0 is PnetCDF's, in two variants: as PnetCDF's documentation specifies it, and
 * as PnetCDF 1.15 writes it. Version 1 has the same structure. It adds, after the names
 * in the header and after the arrays in an entry, what crash recovery requires:
 * checksums, sequence numbers, and a commit record for each process. doc/formats.md
 * describes every byte. */
#ifndef BURST_FORMAT_H
#define BURST_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BURST_MAX_NAME = 256, BURST_MAX_PATH = 4096 };

/* Kinds of request. A positive number n is a varn of n requests. */
enum { BURST_VAR = -1, BURST_VAR1 = -2, BURST_VARA = -3, BURST_VARS = -4 };

/* Flags of a request in version 1. */
enum {
    BURST_FILL = 1,     /* all elements are the variable's fill value; no data */
    BURST_RAW = 2,      /* start and count are in bytes of the variable; ndims 1 */
    BURST_CANCELLED = 4 /* not to be replayed: cancelled, or in the file before earlier
                         * entries; stored by inverting the checksum, not as a flag */
};

struct burst_header {
    int version;     /* 0 or 1 */
    bool as_written; /* true for the variant that PnetCDF 1.15 writes */
    int format;      /* format of the dataset: 1, 2 or 5 */
    bool is_external;
    int64_t num_ranks, rank_id, max_ndims, num_entries, entry_begin;
    char basename[BURST_MAX_NAME + 1]; /* the dataset's path as the user gave it; only its
                                        * end if that is too long */
    char proc_name[BURST_MAX_NAME + 1];

    /* the dataset's absolute path; in version 0 as the user gave it, or empty */
    char path[BURST_MAX_PATH];

    /* version 1, except as noted */
    int64_t chunk;  /* no entry crosses a multiple of this size, counted from entry_begin;
                     * a larger entry starts at a multiple */
    int64_t nslots; /* number of processes that append to this log; in version 0, too */
    int64_t slots_begin; /* offset of the processes' commit records */
    uint64_t token; /* unique to one opening, and the same in all of its logs; in version
                     * 0, a digest (see burst_stream.h) */
    uint64_t device, inode;
    uint64_t birth; /* hash of the file's creation time and id; 0 if unknown */
    uint64_t boot;  /* identifies the boot of the machine that wrote the log */
};

/* A process's commit record. Updates overwrite the older of two copies, so that one copy
 * is always valid. */
struct burst_slot {
    int64_t rank;         /* -1 if the process has not joined yet */
    int64_t generation;   /* incremented whenever the logs are restarted */
    int64_t count;        /* number of complete entries in this generation */
    int64_t drained;      /* the first `drained` of these entries are in the file */
    int64_t synced;       /* the first `synced` of these entries are on the device */
    uint64_t definitions; /* digest of the definitions that these entries depend on */
    uint64_t sum;
};

/* A process's note about the dataset's file, stored in two copies after its commit
 * records. Times are in nanoseconds since 1970. */
struct burst_note {
    int64_t serial;   /* incremented with each note; the highest is current */
    int64_t changing; /* 1 if the process may be writing to the file; the members below
                       * then describe the file before the change */
    int64_t when;     /* time of the note, by its node's clock */
    int64_t mtime;    /* the file's st_mtim; 0 if unknown */
    int64_t size;     /* the file's size in bytes */
    int64_t ctime;    /* the file's st_ctim; 0 if unknown or not comparable */
};
enum {
    BURST_SLOT_BYTES = 64,
    BURST_SLOT_COPIES = 2,
    BURST_SLOT_STRIDE = 2 * BURST_SLOT_BYTES * BURST_SLOT_COPIES /* bytes per process */
};

struct burst_entry {
    int64_t size; /* size of the entry in the log, in bytes */
    int kind, itype, varid, ndims;
    int64_t data_off, data_len;
    int64_t nreqs;                         /* number of requests; 1 except in a varn */
    const int64_t *start, *count, *stride; /* count and stride may be NULL */

    /* version 1 only */
    int64_t seq, epoch, rank, flags;
    uint64_t data_sum;
};

/* Convert between a memory type (enum conv_type) and its number in a log; -1 if none. */
enum { BURST_LONG = 13 };
int burst_itype(int conv_type);
int burst_conv_type(int itype);

/* ---- header ---- */

/* Returns the offset of the holder records (burst_holder.h); 0 in an older log. */
enum { BURST_HOLDER_BYTES = 256 };
int64_t burst_holder_at(const struct burst_header *h);

/* Encodes a version 1 header, and sets slots_begin and entry_begin. Returns the header's
 * length without commit records; 0 if `size` is too small. */
size_t burst_encode_header(struct burst_header *h, unsigned char *bytes, size_t size);

/* Decodes a header. On error, returns NC_EBADLOG and sets a message. */
int burst_decode_header(struct burst_header *h, const unsigned char *bytes,
                        size_t length);

/* Returns the offset at which a version 0 header stores the number of entries. */
int64_t burst_entries_at(const struct burst_header *h);

void burst_encode_slot(const struct burst_slot *s, uint64_t token,
                       unsigned char bytes[BURST_SLOT_BYTES]);
/* Decodes the later valid copy of a commit record. Returns the number of valid copies. */
int burst_decode_slot(const unsigned char *bytes, uint64_t token, struct burst_slot *s);

void burst_encode_note(const struct burst_note *n, uint64_t token,
                       unsigned char bytes[BURST_SLOT_BYTES]);
/* Decodes the later valid copy of a note. Returns the number of valid copies. */
int burst_decode_note(const unsigned char *bytes, uint64_t token, struct burst_note *n);

/* ---- entries ---- */

/* Returns the size in bytes of a version 1 entry that contains `numbers` numbers. */
int64_t burst_entry_size(int64_t numbers);

/* Encodes a version 1 entry of e->size bytes, for log offset `at` in this generation. */
void burst_encode_entry(const struct burst_entry *e, uint64_t token, int64_t generation,
                        int64_t at, unsigned char *bytes);

/* Decodes the entry at log offset `at`. Returns false if it is not a valid entry of this
 * generation. `bytes` must be aligned to 8 bytes. */
bool burst_decode_entry(struct burst_entry *e, const unsigned char *bytes, size_t length,
                        uint64_t token, int64_t generation, int64_t at);

/* Returns the rank in a version 1 entry, whose checksum may be wrong; -1 if the frame is
 * invalid. */
int64_t burst_entry_rank(const unsigned char *bytes, size_t length);

/* Decodes a version 0 entry; `bytes` must be aligned to 8 bytes. Such entries have no
 * checksum, so every inconsistency is an error. NC_EBADLOG. */
int burst_decode_entry0(struct burst_entry *e, const unsigned char *bytes, size_t length,
                        bool as_written);

#endif
