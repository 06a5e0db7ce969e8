/* The stage driver copies blocks of a dataset's file to a fast local device of the node
 * when they are first read, and later reads them from that device. This header is private
 * to the module; it declares the parts of the layer that serves one dataset.
 *
 * Order of events: if the hint nc_stage is set, the driver is stacked on mpio, below all
 * other layers, in datasets opened for reading. In each subfile, a small layer on top of
 * mpio reads through the dataset's stage (files.part). Staging begins when all layers are
 * open (files.opened_all), because only then are the files and their contents known. A
 * get traverses the region of the file as mpio does and copies bytes from the staged
 * file, after fetching missing blocks. It passes the requests that it cannot serve to the
 * layer below, whose agreement ends a collective call.
 *
 * A table in the node's shared memory (stage_table) records which blocks are staged;
 * lookups take no lock. The table has one word for each block. Each slot of the staged
 * file has a sequence number, incremented whenever the slot is assigned to a block. A
 * reader checks after reading that the number is unchanged.
 *
 * Threads: one prefetches blocks (stage_prefetch), using the same table; another stores
 * fetched blocks in the staged file after the read (stage_copy). In a node's first
 * process, a third serves blocks to other nodes (stage_server), which request them over
 * sockets (stage_client_get). If all nodes share one staged file, these requests decide
 * which node stores a block (stage_shared_dir).
 *
 * The staged file is unlinked once all processes on the node have opened it: no other
 * program can find it, and it disappears with the last process, however that process
 * ends. It is accessed by system calls rather than mapped: if the device fails or is
 * full, a mapping would kill the process, whereas after an error the dataset's file is
 * read instead. See doc/stage.md for the rest. */
#ifndef STAGE_H
#define STAGE_H

#include <stdatomic.h>
#include <time.h>

#include "driver.h"
#include "file_descriptor.h"
#include "node.h"
#include "stage_table.h"

/* Identity of a file's contents, used to detect changes. No field is negative, because
 * processes combine them with MPI_MAX. */
struct stage_identity {
    int64_t inode, size; /* inode is 0 if the file does not exist or was replaced */
    int64_t modified[2], changed[2];
    int64_t records[2]; /* the bytes of the record count as stored in the header */
    int64_t quiet;      /* 1 if so old that any change would alter its times */
};
enum { STAGE_NUMBERS = sizeof(struct stage_identity) / sizeof(int64_t) };

/* One of the dataset's files: its main file (number 0) or one announced by a layer above.
 * Each file begins in a new block. */
struct stage_part {
    _Atomic int64_t version; /* odd while the identity is being changed */
    _Atomic int64_t identity[STAGE_NUMBERS];
    int64_t first;        /* number of its first block */
    _Atomic int64_t used; /* nonzero once a process on this node has opened the file */
};

/* Memory that a node's processes share. After this struct come the files, the keepers of
 * the blocks whose home is this node, the block table, and the state of the other
 * nodes. */
struct stage_shared {
    _Atomic uint64_t stamp; /* digest of the files' identities; 0 if any is too recent */
    int64_t block;          /* block size in bytes */
    int64_t nblocks;        /* only blocks below this number can be staged */
    int64_t nslots;
    int64_t nparts;
    int32_t nodes, node;   /* number of exchanging nodes; index of this node */
    int32_t mirror;        /* nonzero if this node uses the mirror (stage_shared_dir.c) */
    int32_t watched;       /* nonzero if reads check the staged file's size */
    int64_t device, inode; /* identity of the staged file in the node's first process */
    int64_t home_capacity; /* maximum number of blocks with this home that all nodes
                            * together can store */
    _Atomic int64_t home_used;            /* number of such blocks that have a keeper */
    _Atomic int64_t asked, read, dropped; /* bytes got; bytes read from the file; blocks
                                           * evicted: by all processes of the node */
};

/* The state of another node, as seen by this node. */
struct stage_peer {
    _Atomic int failures; /* number of consecutive failed requests */
    _Atomic int best;     /* index of the address that last worked */
};

/* A few connections to other nodes. */
enum { STAGE_CONNECTIONS = 4 };
struct stage_connection {
    int node, fd;
    uint64_t used;
};
struct stage_connections {
    uint64_t clock;
    uint32_t sum; /* checksum of the last received block */
    struct stage_connection line[STAGE_CONNECTIONS];
};

/* Bytes read and the time taken, in ns. Their quotient is the speed of a source. */
struct stage_speed {
    _Atomic int64_t bytes, ns;
};

struct stage_buffer;

/* A copy of bytes [low, high) of a file in this process's memory. */
struct stage_view {
    int64_t low, high;
    unsigned char *bytes;        /* the bytes: in `buffer` or in `own` */
    struct stage_buffer *buffer; /* the queued or fetched buffer; NULL if none */
    unsigned char *own;          /* this process's memory for one block */
};

/* Counters that all threads of the process increment. stage_stats_add moves them to the
 * dataset's statistics. */
struct stage_counts {
    _Atomic int64_t source_reads, source_bytes, copied, dropped, failed, ahead, far,
        mirrored, unanswered;
    _Atomic int64_t waiting; /* bytes still to be prefetched */
};

/* A program's progress through a variable along its first dimension. */
struct stage_step {
    int64_t at, step; /* last get's position and its distance from the previous */
    bool is_regular;  /* the step repeats, or the gets are adjacent */
    int queued_steps, wanted_steps; /* steps beyond `at`: number queued, and number that
                                     * should be (0 before the first get) */
};

/* One of the dataset's files, opened by this process for reading. */
struct stage_source {
    int part;
    bool borrowed;               /* the layer below owns the descriptor */
    struct file_descriptor file; /* fd is -1 until the file is opened */
};

/* The layer through which one of the files is read. */
struct stage_reader {
    struct driver base; /* base.ds is the file's own dataset */
    struct stage *stage;
    struct stage_source source;
    struct stage_step *steps; /* array with one element per variable; NULL until needed */
};

struct stage_prefetch;
struct stage_copy;
struct stage_server;
struct stage_address;

struct stage {
    struct stage_reader own;
    struct dataset *ds;
    struct driver_parts parts;
    struct node *node;
    struct node_memory memory;
    struct stage_shared *shared;
    struct stage_table *table; /* in `shared`; NULL if nothing is staged */
    int rank, nprocs;          /* rank and size in the node's communicator */
    bool first;                /* this process is the node's first */
    int64_t number;            /* serial number of this stage */
    int file;                  /* descriptor of the staged file; -1 if none */
    struct stage_view view;
    unsigned char *tile; /* buffer of STAGE_TILE bytes for values before conversion */
    struct stage_counts counts;
    MPI_Comm firsts;             /* the nodes' first processes; used only during setup */
    int listener;                /* socket for other nodes' requests; -1 if none */
    struct stage_server *server; /* NULL if this process serves no blocks */
    struct stage_connections lines; /* connections used by the calling thread */
    struct stage_speed file_speed,
        node_speed;                  /* read speeds: the dataset's file, other nodes */
    struct stage_copy *copy;         /* queue of blocks to store; NULL if out of memory */
    struct stage_prefetch *prefetch; /* NULL until the first prefetch */
    bool waited;                     /* the current request had to wait for a block */
};

enum { STAGE_TILE = 1 << 18 };

/* ---- stage_source.c: the dataset's files ---- */

#define STAGE_NO_SOURCE(number)                                                          \
    ((struct stage_source){.part = (number), .file = FILE_NO_DESCRIPTOR})

/* Opens the reader's file through the descriptor of its dataset, unless it is open
 * already. Fails (NC_EFILE ...) if the file is not the one that was staged, or if reads
 * through a descriptor might miss other processes' writes. */
int stage_source_open(struct stage_reader *r);
void stage_source_end(struct stage_reader *r);
/* Briefly opens a file by name; for file 0, borrows the dataset's descriptor. No MPI
 * calls. */
bool stage_source_open_part(struct stage *s, struct stage_source *source);
void stage_source_close(struct stage_source *source);
/* Gets the identity of an open file whose dataset starts at offset `base`. Returns false
 * if the identity cannot be determined. */
bool stage_source_identify(int fd, int64_t base, struct stage_identity *now);
/* Gets the identity of file `number` (> 0); all zeros if the file does not exist. */
void stage_source_get_identity(struct stage *s, int number, struct stage_identity *now);
/* Extends a digest (initially 1) by an identity and the block size; nodes compare
 * digests. Returns 0 if the file is so recent that a change might not alter its times. */
uint64_t stage_source_stamp(uint64_t before, const struct stage_identity *now,
                            int64_t block);
/* Invalidates all staged blocks if any file used so far has changed. Called by sync and
 * similar functions. Local. */
void stage_source_check(struct stage *s);
/* Same as stage_source_check, but checks all files. Must be called while no process
 * reads. `now` contains the identities of files 1 and up. */
void stage_source_check_again(struct stage *s, const struct stage_identity *now);
/* Reads n bytes; bytes beyond the end of the file read as zeros. NC_EREAD ... */
int stage_source_read(struct stage *s, const struct stage_source *source, int64_t at,
                      void *bytes, int64_t n);
/* stage_now returns the time in nanoseconds. stage_speed_add updates speed `p` with a
 * read of `bytes` bytes that began at time `since`. */
int64_t stage_now(void);
void stage_speed_add(struct stage_speed *p, int64_t bytes, int64_t since);

/* Returns whether this process has a usable staged file. */
bool stage_is_usable(const struct stage *s);
/* Same as stage_is_usable, but also opens the reader's file; false if that fails. */
bool stage_try_open(struct stage_reader *r);

/* ---- stage_shared.c: shared memory on the node ---- */

/* Return the size of shared memory for a plan, initialize it, and return its parts. */
size_t stage_shared_bytes(const struct stage_shared *plan);
void stage_shared_init(struct stage_shared *all, const struct stage_shared *plan);
static inline struct stage_part *stage_part_of(struct stage_shared *all, int64_t number)
{
    return (struct stage_part *)(all + 1) + number;
}
/* Get and set a file's identity. Only one process on the node sets it at a time; readers
 * get the old identity, the new one, or none (inode 0). */
struct stage_identity stage_part_identity(struct stage_part *p);
void stage_part_set_identity(struct stage_part *p, const struct stage_identity *now);
/* Returns the number of the block that follows a file's last block. */
static inline int64_t stage_part_end(struct stage_shared *all, int64_t number)
{
    return number + 1 < all->nparts ? stage_part_of(all, number + 1)->first
                                    : all->nblocks;
}
struct stage_table *stage_table_of(struct stage_shared *all);
struct stage_peer *stage_peer_of(struct stage_shared *all, int node);
struct stage_address *stage_address_of(struct stage_shared *all, int node);

/* ---- stage_space.c: the staged file ---- */

/* Creates the staged file in the hint's directory, after removing files left by killed
 * programs, and stores its name in `path`. NC_EACCESS, NC_ENO_SPACE ... */
int stage_space_create(struct stage *s, const struct stage_shared *plan, char *path,
                       size_t size);
/* Opens the staged file that another process created. */
int stage_space_open(struct stage *s, const char *path);
/* Record the identity of the staged file in the node's first process, and check another
 * process's file against it. The name may already refer to a different file when that
 * process opens it; if so, it closes the file. */
void stage_space_record_identity(const struct stage *s);
void stage_space_check(struct stage *s);
/* Returns whether reads should check the staged file's size to detect truncation. */
bool stage_space_is_watched(int file);
/* Returns whether the staged file has its full size, so bytes read earlier are valid. If
 * false, the stage is unusable. */
bool stage_space_is_complete(const struct stage_shared *all, int file);

/* ---- stage_fetch.c ---- */

/* Returns whether the staged file has space for all blocks. If it does not, a node does
 * not store blocks that another node already has. */
static inline bool stage_fits_dataset(const struct stage *s)
{
    return s->shared->nslots == s->shared->nblocks;
}
/* Fetches a claimed block, from another node if one has it, and stores it or queues it
 * for storing. The bytes are in *buffer, which the caller must release, or in `bytes` if
 * *buffer is NULL. They are valid even if storing them fails. NC_EREAD ... */
int stage_fetch(struct stage *s, const struct stage_source *source,
                struct stage_connections *lines, const struct stage_claim *c,
                unsigned char *bytes, struct stage_buffer **buffer);
/* Returns a block's checksum, or 0 if checksums are off. */
uint32_t stage_sum(const struct stage *s, const void *bytes);
/* Empties the view and releases its buffer. */
void stage_clear_view(struct stage *s);
/* Gets n bytes from the file, all within one block. Copies them to `to`, or to the view
 * if `to` is NULL or the block had to be fetched. NC_EREAD ... */
int stage_fetch_part(struct stage_reader *r, int64_t at, int64_t n, unsigned char *to);
static inline bool stage_in_view(const struct stage *s, int64_t at, int64_t n)
{
    return at >= s->view.low && at + n <= s->view.high;
}

/* ---- stage_get.c ---- */

int stage_get_all(struct driver *self, struct access_request *const *reqs, int64_t n,
                  int error);
int stage_get(struct driver *self, struct access_request *const *reqs, int64_t n);

/* ---- stage_stats.c ---- */

/* Moves the counters to the dataset's statistics. Only the calling thread may do this. */
void stage_stats_add(struct stage *s);

#endif
