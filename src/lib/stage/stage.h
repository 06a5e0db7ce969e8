/* The driver that stages reads: blocks of a dataset's file are copied to a fast device of
 * the node when they are first read, and read there from then on. The parts of one
 * dataset's layer, private to this module.
 *
 * The staged file's name is removed once all processes of the node have opened it: no
 * other program finds it, and it disappears with the last process, however that ends. It
 * is read and written by calls of the system rather than mapped into memory, where a
 * device that fails, or is full, would end the program; so there is an error, and reading
 * continues from the dataset's file.
 *
 * With the hint nc_stage the driver stage stands on top of mpio, below whatever else
 * there is, in a dataset that is opened for reading; on top of a subfile's mpio, too,
 * a small layer whose reads go through the dataset's stage (files.part). It begins
 * when all layers are open, as only then is it known which files there are and what
 * they hold (files.opened_all). Its get walks the region of the file as mpio does,
 * takes the bytes out of the staged file, or fetches their block first, and hands what
 * it could not have on to the layer below, in whose agreement a collective call ends.
 * Which blocks are there is in a table in shared memory of the node (stage_table),
 * that is read without a lock: a block has a word, its place a number that grows
 * whenever the place is given to another block, and a reader checks afterwards whether
 * the number is still the same. A thread reads ahead (stage_ahead), using the same table.
 * Another stores blocks in the staged file after the reads that fetched them
 * (stage_copy). In the first process of a node a third serves blocks to other nodes
 * (stage_serve), which request them over sockets (stage_ask); if all nodes share one
 * staged file, such requests decide which node stores a block (stage_mirror).
 * doc/stage.md has the rest. */
#ifndef STAGE_H
#define STAGE_H

#include <stdatomic.h>
#include <time.h>

#include "driver.h"
#include "file_descriptor.h"
#include "node.h"
#include "stage_table.h"

/* What tells a file's bytes from later ones. Numbers only, none of them below 0: one
 * process tells the others. */
struct stage_identity {
    int64_t inode, size; /* inode 0: there is none, or not the same any more */
    int64_t modified[2], changed[2];
    int64_t records[2]; /* as they stand in the file */
    int64_t quiet; /* it was not changed of late: who changes it now sets another time */
};
enum { STAGE_NUMBERS = sizeof(struct stage_identity) / sizeof(int64_t) };

/* One of the dataset's files: its own, number 0, and those that a layer above tells of.
 * Each begins with a block. */
struct stage_part {
    _Atomic int64_t version; /* odd while the identity changes */
    _Atomic int64_t identity[STAGE_NUMBERS];
    int64_t first;        /* of its blocks */
    _Atomic int64_t used; /* by a process of this node */
};

/* What the processes of a node share; behind it the files, which nodes keep the blocks
 * whose home this one is, the table of blocks, and what is known of the other nodes. */
struct stage_shared {
    _Atomic uint64_t stamp; /* of the files, for other nodes; 0: one is not quiet */
    int64_t block;          /* bytes of one */
    int64_t nblocks;        /* that can be staged, from the beginning of the files */
    int64_t nslots;
    int64_t nparts;
    int32_t nodes, node; /* that exchange blocks, and which of them this is */
    int32_t mirror;      /* is the staged file one of all nodes that have this set? */
    int32_t watched;     /* is its size looked at? */
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
    uint32_t sum; /* of the block that was last got */
    struct stage_line line[STAGE_LINES];
};

/* What was read, and how long that took. */
struct stage_pace {
    _Atomic int64_t bytes, ns;
};

struct stage_buffer;

/* Bytes [low, high) of a file, in memory of this process. */
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

/* One of the files, to be read by this process. */
struct stage_source {
    int part;
    bool borrowed;               /* the file is the layer's below */
    struct file_descriptor file; /* its fd is -1: not opened yet */
};

/* What reads of a file go through. */
struct stage_reader {
    struct driver base; /* its dataset is the file's */
    struct stage *stage;
    struct stage_source source;
    struct stage_step *steps; /* of each variable; NULL: of none yet */
};

struct stage_ahead;
struct stage_copy;
struct stage_server;
struct stage_place;

struct stage {
    struct stage_reader own;
    struct dataset *ds;
    struct driver_parts parts;
    struct node *node;
    struct node_memory memory;
    struct stage_shared *shared;
    struct stage_table *table; /* behind that; NULL: nothing is staged */
    int rank, nprocs;          /* of the node's processes */
    bool first;                /* of them */
    int64_t number;            /* which of all that were made */
    int file;                  /* the staged one; -1: this process has none */
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
    bool waited;                 /* this request had to, for bytes of the file */
};

enum { STAGE_TILE = 1 << 18 };

/* ---- stage_source.c: the dataset's files ---- */

#define STAGE_NO_SOURCE(number)                                                          \
    ((struct stage_source){.part = (number), .file = FILE_NO_DESCRIPTOR})

/* Opens the reader's, if it is not yet, by what its dataset has open. NC_EFILE ..., also
 * if its bytes cannot be read by a descriptor as others wrote them, or it is not the one
 * that is staged. */
int stage_source_open(struct stage_reader *r);
void stage_source_end(struct stage_reader *r);
/* Opens one by its name, for a while: of number 0 what is open. No MPI. */
bool stage_source_open_part(struct stage *s, struct stage_source *source);
void stage_source_close(struct stage_source *source);
/* What an open file is now, with a dataset that begins at base. False: nobody can tell.
 */
bool stage_source_identify(int fd, int64_t base, struct stage_identity *now);
/* The same of the one of a number above 0; nothing if it is not there. */
void stage_source_look(struct stage *s, int number, struct stage_identity *now);
/* That in a number for other nodes, with those before it, 1 at first, and the size of
 * blocks; 0: one may have changed without another time. */
uint64_t stage_source_stamp(uint64_t before, const struct stage_identity *now,
                            int64_t block);
/* If a file that was used has changed, staging ends. For sync and its like.
 * Local. */
void stage_source_check(struct stage *s);
/* The same as nobody reads, with what those of numbers above 0 are now. */
void stage_source_check_again(struct stage *s, const struct stage_identity *now);
/* n bytes; what lies behind its end reads as zeros. NC_EREAD ... */
int stage_source_read(struct stage *s, const struct stage_source *source, int64_t at,
                      void *bytes, int64_t n);
/* Nanoseconds; and bytes that were read since then. */
int64_t stage_now(void);
void stage_pace_count(struct stage_pace *p, int64_t bytes, int64_t since);

/* ---- stage_nodes.c: memory of the node ---- */

/* Of the plan's size; made what it says; and the parts of it. */
size_t stage_shared_bytes(const struct stage_shared *plan);
void stage_shared_init(struct stage_shared *all, const struct stage_shared *plan);
static inline struct stage_part *stage_part_of(struct stage_shared *all, int64_t number)
{
    return (struct stage_part *)(all + 1) + number;
}
/* Its identity. One process of the node changes it at a time; others and threads may ask
 * meanwhile, and get the one before or the one after, or none (inode 0). */
struct stage_identity stage_part_identity(struct stage_part *p);
void stage_part_identify(struct stage_part *p, const struct stage_identity *now);
/* Where its blocks end. */
static inline int64_t stage_part_end(struct stage_shared *all, int64_t number)
{
    return number + 1 < all->nparts ? stage_part_of(all, number + 1)->first
                                    : all->nblocks;
}
struct stage_table *stage_table_of(struct stage_shared *all);
struct stage_mark *stage_mark_of(struct stage_shared *all, int node);
struct stage_place *stage_place_of(struct stage_shared *all, int node);

/* ---- stage_space.c: the staged file ---- */

/* A new file, of this user alone, in the directory that the hint names, and what is left
 * there of programs that were killed removed; its name. NC_EACCESS, NC_ENO_SPACE ... */
int stage_space_create(struct stage *s, const struct stage_shared *plan, char *path,
                       size_t size);
/* The same file, in another process. */
int stage_space_open(struct stage *s, const char *path);
/* Where its size is to be looked at, which tells whether somebody has cut it off. */
bool stage_space_is_watched(int file);
/* Is what was read of it before this what was written there? Else it is of no use any
 * more. */
bool stage_space_is_whole(const struct stage_shared *all, int file);

/* ---- stage_fetch.c ---- */

/* Has the node place for all of the file? Else it keeps no blocks that others have. */
static inline bool stage_has_room(const struct stage *s)
{
    return s->shared->nslots == s->shared->nblocks;
}
/* Brings a block that was claimed, from another node if it is there: into a buffer, which
 * the caller gives back, or into memory of a block where *buffer is NULL then; whatever
 * comes of the copy, the bytes are there if the file could be read. NC_EREAD ... */
int stage_fetch(struct stage *s, const struct stage_source *source,
                struct stage_lines *lines, const struct stage_claim *c,
                unsigned char *bytes, struct stage_buffer **buffer);
/* Of a whole block, if that is asked for. */
uint32_t stage_sum(const struct stage *s, const void *bytes);
/* There is nothing in the view. */
void stage_clear_view(struct stage *s);
/* n bytes of the file that lie in one block: they are at `to` or, if that is NULL or the
 * block had to be fetched, in the view. NC_EREAD ... */
int stage_fetch_part(struct stage_reader *r, int64_t at, int64_t n, unsigned char *to);
static inline bool stage_in_view(const struct stage *s, int64_t at, int64_t n)
{
    return at >= s->view.low && at + n <= s->view.high;
}

/* ---- stage_get.c ---- */

/* Has this process a staged file; and the reader's open? */
bool stage_works(const struct stage *s);
bool stage_ready(struct stage_reader *r);
int stage_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error);
int stage_get(struct driver *self, struct access_request *const *reqs, int64_t n);

/* ---- stage_open.c ---- */

/* What was counted becomes part of the dataset's statistics. The caller's, not a
 * thread's. */
void stage_tell(struct stage *s);

#endif
