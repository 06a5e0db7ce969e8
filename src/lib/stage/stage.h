/* The driver that stages reads: blocks of a dataset's file are copied to a fast device of
 * the node when they are first read, and read there from then on. The parts of one
 * dataset's layer, known to this room only.
 *
 * The staged file has no name any more once all processes of the node have opened it: no
 * other program finds it, and it goes with the last process, however that ends. It is
 * read and written by calls of the system rather than mapped into memory, where a device
 * that fails, or is full, would end the program; so there is an error, and reading goes
 * on from the dataset's file. */
#ifndef STAGE_H
#define STAGE_H

#include <stdatomic.h>
#include <time.h>

#include "driver.h"
#include "driver_share.h"
#include "stage_table.h"

/* What tells the file's bytes from later ones. */
struct stage_identity {
    int64_t device, inode, size;
    struct timespec modified, changed;
    unsigned char records[8]; /* as they stand in the file */
    bool quiet; /* it was not changed of late: who changes it now sets another time */
};

/* What the processes of a node share; behind it which nodes keep the blocks whose home
 * this one is, the table of blocks, and what is known of the other nodes. */
struct stage_shared {
    struct stage_identity identity;
    _Atomic uint64_t stamp; /* of it, for other nodes; 0: it is not quiet */
    int64_t block;          /* bytes of one */
    int64_t nblocks;        /* that can be staged, from the beginning of the file */
    int64_t nslots;
    int32_t nodes, node; /* that exchange blocks, and which of them this is */
    int32_t mirror;      /* is the staged file one of all nodes that have this set? */
    int64_t room;        /* for how many blocks whose home this is there is place in it */
    _Atomic int64_t granted; /* how many were given one */
};

/* What this node knows of another one. */
struct stage_mark {
    _Atomic int failures; /* in a row */
    _Atomic int best;     /* of its addresses */
};

/* A few connections to other nodes. */
enum { STAGE_LINES = 4 };
struct stage_line {
    int node, fd;
    uint64_t used;
};
struct stage_lines {
    uint64_t clock;
    struct stage_line line[STAGE_LINES];
};

/* What was read, and how long that took. */
struct stage_pace {
    _Atomic int64_t bytes, ns;
};

struct stage_buffer;

/* Bytes [low, high) of the file, in memory of this process. */
struct stage_view {
    int64_t low, high;
    unsigned char *bytes;        /* the buffer's, or those below */
    struct stage_buffer *buffer; /* NULL: none */
    unsigned char *own;          /* room for a block */
};

/* Counted by the caller and by threads; stage_tell makes them the dataset's. */
struct stage_counts {
    _Atomic int64_t source_reads, source_bytes, copied, dropped, failed, ahead, far,
        mirrored, unanswered;
    _Atomic int64_t waiting; /* to be brought ahead */
};

/* How a program goes through a variable, along its first dimension. */
struct stage_step {
    int64_t at, step; /* of the last get, and how far it was from the one before */
    bool sure;        /* that it will go on so: it did twice, or to the next place */
    int ahead,
        far; /* steps that were announced beyond, and are to be; far 0: no get yet */
};

struct stage_ahead;
struct stage_copy;
struct stage_server;
struct stage_place;

struct stage {
    struct driver base;
    MPI_Comm node;
    MPI_Win window;
    struct stage_shared *shared;
    struct stage_table *table; /* behind that */
    int rank, nprocs;          /* of the node's processes */
    bool first;                /* of them */
    /* The dataset's file; its fd is -1: not opened yet. */
    struct driver_descriptor source;
    int file; /* the staged one; -1: this process has none */
    struct stage_view view;
    unsigned char *tile; /* values on their way through conversion */
    struct stage_counts counts;
    MPI_Comm firsts; /* of all nodes; as long as they get to know each other */
    int listener;    /* where other nodes ask; -1: they do not */
    struct stage_server *server; /* NULL: nobody answers */
    struct stage_lines lines;    /* the caller's, not a thread's */
    struct stage_pace near, far; /* the dataset's file, and other nodes */
    struct stage_copy *copy;     /* NULL: there is no memory for that */
    struct stage_ahead *ahead;   /* NULL: nobody asked for anything yet */
    struct stage_step *steps;    /* of each variable; NULL: of none yet */
    bool waited;                 /* this request had to, for bytes of the file */
};

enum { STAGE_TILE = 1 << 18 };

/* ---- stage_source.c: the dataset's file ---- */

/* Opens it, if it is not yet: NC_EFILE ..., also if its bytes cannot be read by a
 * descriptor as others wrote them. */
int stage_source_open(struct stage *s);
/* What it is now. False: nobody can tell. */
bool stage_source_identify(struct stage *s, struct stage_identity *now);
/* That in a number for other nodes, with the size of blocks; 0: it may have changed
 * without another time. */
uint64_t stage_source_stamp(const struct stage_identity *now, int64_t block);
/* If it has changed, nothing is staged any more, and other nodes' bytes are of no use.
 * For sync and its like. Local. */
void stage_source_check(struct stage *s);
/* The same, where no node copies anything until all have looked. */
void stage_source_renew(struct stage *s);
/* n bytes; what lies behind its end reads as zeros. NC_EREAD ... */
int stage_source_read(struct stage *s, int64_t at, void *bytes, int64_t n);
/* Nanoseconds; and bytes that were read since then. */
int64_t stage_now(void);
void stage_pace_count(struct stage_pace *p, int64_t bytes, int64_t since);

/* ---- stage_nodes.c: memory of the node ---- */

/* Of the plan's size; made what it says; and the parts of it. */
size_t stage_shared_bytes(const struct stage_shared *plan);
void stage_shared_init(struct stage_shared *all, const struct stage_shared *plan);
struct stage_table *stage_table_of(struct stage_shared *all);
struct stage_mark *stage_mark_of(struct stage_shared *all, int node);
struct stage_place *stage_place_of(struct stage_shared *all, int node);

/* ---- stage_space.c: the staged file ---- */

/* A new file, of this user alone, in the directory that the hint names, and what is left
 * there of programs that were killed removed; its name. NC_EACCESS, NC_ENO_SPACE ... */
int stage_space_create(struct stage *s, char *path, size_t size);
/* The same file, in another process. */
int stage_space_open(struct stage *s, const char *path);

/* ---- stage_fetch.c ---- */

/* Has the node place for all of the file? Else it keeps no blocks that others have. */
static inline bool stage_has_room(const struct stage *s)
{
    return s->shared->nslots == s->shared->nblocks;
}
/* Brings a block that was claimed, from another node if it is there: into a buffer, which
 * the caller gives back, or into memory of a block where *buffer is NULL then; whatever
 * comes of the copy, the bytes are there if the file could be read. NC_EREAD ... */
int stage_fetch(struct stage *s, struct stage_lines *lines, const struct stage_claim *c,
                unsigned char *bytes, struct stage_buffer **buffer);
/* There is nothing in the view. */
void stage_clear_view(struct stage *s);
/* n bytes of the file that lie in one block: they are at `to` or, if that is NULL or the
 * block had to be fetched, in the view. NC_EREAD ... */
int stage_fetch_part(struct stage *s, int64_t at, int64_t n, unsigned char *to);
static inline bool stage_in_view(const struct stage *s, int64_t at, int64_t n)
{
    return at >= s->view.low && at + n <= s->view.high;
}

/* ---- stage_get.c ---- */

/* Has this process a staged file, and the dataset's open? */
bool stage_ready(struct stage *s);
int stage_get_all(struct driver *self, struct driver_request *const *reqs, int64_t n,
                  int error);
int stage_get(struct driver *self, struct driver_request *const *reqs, int64_t n);

/* ---- stage_open.c ---- */

/* What was counted becomes part of the dataset's statistics. The caller's, not a
 * thread's. */
void stage_tell(struct stage *s);

#endif
