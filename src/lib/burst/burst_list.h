/* The list of logged writes. Puts and replays append to it, gets search it for values,
 * and drains write the listed values to the file and then remove them from the list. An
 * index finds the writes that touch a part of the file. Threads read the list, so it is
 * changed only while their lock is held or they are paused (burst_pool.h). */
#ifndef BURST_LIST_H
#define BURST_LIST_H

#include "base_arena.h"
#include "burst_format.h"
#include "driver.h"

/* A logged write whose values may not be in the file yet. */
struct burst_write {
    int64_t data_off; /* offset in the data log; unused for BURST_FILL */
    int64_t nelems;
    int64_t low, high; /* it touches bytes of the file within [low, high) */
    int64_t serial;    /* number of the write in this layer, starting at 1 */
    uint64_t sum;      /* checksum of the values that this process logged */
    int64_t sum_at;    /* offset of its entry's checksum in the metadata log */
    int64_t epoch;     /* number of the collective call; the same on all processes */
    int64_t seq;       /* index of its entry in the log; -1 if it has none */
    int varid;
    int source; /* index of the reader that has the values; -1 for this process's log */
    int status; /* result of the last attempt to write it to the file */
    unsigned char type;    /* enum conv_type of the values */
    bool external;         /* the values are in external form */
    unsigned char flags;   /* BURST_FILL, BURST_RAW */
    unsigned char fill[8]; /* for BURST_FILL, the value in external form */
    bool strided;
    bool chosen; /* the next drain must write it */
    bool cancelled;
    bool written;   /* this process has written it to the file */
    bool alone;     /* put in independent mode; never written a second time */
    int64_t slab[]; /* start, count, stride; for BURST_RAW, the number of runs, then each
                     * run's offset (from the variable's begin) and length */
};

struct burst_list {
    struct burst_write **writes; /* sorted by serial, or by epoch during a replay */
    int64_t n, capacity;
    int64_t serial; /* serial of the last write */
    uint64_t vars;  /* variables with logged writes, as bits varid % 64 */
    struct base_arena arena;
    struct burst_index_entry *index; /* the first `nindexed` writes, sorted by offset */
    int64_t nindexed;
    int64_t *found; /* indices of the writes that burst_list_find found */
    int64_t found_capacity;
};

/* Returns the size in bytes of a write's values in the log. */
static inline int64_t burst_bytes(const struct burst_write *w)
{
    return w->flags & BURST_FILL ? 0 : w->nelems * conv_size((enum conv_type)w->type);
}

static inline uint64_t burst_bit(int varid)
{
    return (uint64_t)1 << (varid % 64);
}
#define BURST_ALL UINT64_MAX

/* Recomputes burst_waiting_bytes after one of the counters it depends on has changed. */
static inline void burst_update_waiting(struct trace_stats *s)
{
    int64_t waiting =
        s->burst_logged_bytes - s->burst_drained_bytes - s->burst_cancelled_bytes;
    s->burst_waiting_bytes = waiting > 0 ? waiting : 0;
}

/* Returns a new write, not yet listed, with space for `numbers` numbers in its slab; NULL
 * if out of memory. */
struct burst_write *burst_list_new(struct burst_list *l, int varid, size_t numbers);
/* Sets the serials and bounds of n writes and appends them to the list. Caller must hold
 * the threads' lock. NC_ENOMEM. */
int burst_list_add(struct burst_list *l, const struct cdf_header *h,
                   struct burst_write **writes, int64_t n);
/* Removes all cancelled writes, and the completed writes of the variables `vars`. */
void burst_list_remove(struct burst_list *l, uint64_t vars);
void burst_list_free(struct burst_list *l);

/* Returns the next serial. A ticket is the lower 32 bits of a serial and never 0. Fewer
 * than 2^32 writes exist at any time, so tickets are unique. */
static inline int64_t burst_next_serial(int64_t serial)
{
    return serial + ((uint32_t)(serial + 1) == 0 ? 2 : 1);
}
/* Returns the write with this ticket; NULL if it is no longer listed. */
struct burst_write *burst_list_get(const struct burst_list *l, uint32_t ticket);
/* Finds the writes that touch bytes [low, high) of the file. Stores their indices in
 * l->found, in ascending order, and their number in *n. NC_ENOMEM. */
int burst_list_find(struct burst_list *l, int64_t low, int64_t high, int64_t *n);

/* Returns the region of the file that a write touches; NULL if out of memory. */
struct region *burst_region(const struct cdf_header *h, const struct burst_write *w);
/* Returns the region of a raw write whose variable starts at `begin`. */
struct region *burst_runs(const struct burst_write *w, int64_t begin);

#endif
