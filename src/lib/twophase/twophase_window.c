/* Creates, caches and frees a node's shared memory.
 *
 * The memory consists of a control block (counters, state), the slots for two steps, a
 * number for each process, TWOPHASE_BUFFERS buffers with their marks, and the areas.
 * Creation is a sequence of collective steps with an agreement before each, so that no
 * process waits in a step for another process whose previous step failed. */
#include "twophase_window.h"

#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "node_cache.h"

/* The control block at the beginning of the window. */
struct twophase_control {
    struct node_word counters[TWOPHASE_COUNTERS];
    struct node_word state;
    struct twophase_slot
        slots[]; /* slots of two alternating steps, then a number for each process */
};

static void free_window_all(void *thing)
{
    twophase_window_free_all(thing);
}

enum { WINDOWS = 2 };
static struct twophase_window objects[WINDOWS];
static struct node_cache windows = {.end = BASE_END_WINDOWS,
                                    .capacity = WINDOWS,
                                    .size = sizeof objects[0],
                                    .objects = objects,
                                    .free_all = free_window_all};

/* Returns the number of slots per step: one for each process, plus one for each
 * exchanging process. */
static int slots_of(const struct twophase_window *w)
{
    return w->nprocs + w->columns;
}

static int64_t control_bytes(const struct twophase_window *w)
{
    return (int64_t)sizeof(struct twophase_control) +
           2 * (int64_t)slots_of(w) * (int64_t)sizeof(struct twophase_slot) +
           ((int64_t)w->nprocs * (int64_t)sizeof(int64_t) + 63) / 64 * 64;
}

/* Returns the size of a buffer: a share of at most 4 MiB for each process, and at least a
 * whole stripe for each storing process unless stripes exceed 4 MiB. It is rounded down
 * to a power of 2. */
static int64_t buffer_size(const struct twophase_window *w, int storers)
{
    enum { MOST = 1 << 22, LARGEST = 1 << 29 };
    int64_t size = TWOPHASE_LEAST_BLOCK;
    int64_t wanted = (w->share < MOST ? w->share : MOST) * w->nprocs;
    if (w->unit <= MOST && w->unit * storers > wanted) wanted = w->unit * storers;
    while (2 * size <= wanted && size < LARGEST)
        size *= 2;
    return size;
}

static int64_t buffer_bytes(int64_t size)
{
    enum { ROOM = 128 }; /* including the slack and block alignment */
    return 2 * (size + ROOM);
}

/* Returns whether the memory fits into half of the free space of /dev/shm. Allocating
 * more than the free space would succeed, but using the memory would kill the program. */
static bool has_room_for(int64_t bytes)
{
    struct statvfs fs;
    if (statvfs("/dev/shm", &fs) != 0) return true;
    return (int64_t)(fs.f_bavail * fs.f_frsize) / 2 > bytes;
}

static int64_t window_bytes(const struct twophase_window *w)
{
    return control_bytes(w) + TWOPHASE_BUFFERS * buffer_bytes(w->size) +
           TWOPHASE_BUFFERS * w->area_size * w->nprocs;
}

static void lay_out_window(struct twophase_window *w, unsigned char *memory)
{
    w->control = (struct twophase_control *)memory;
    memory += control_bytes(w);
    for (int i = 0; i < TWOPHASE_BUFFERS; i++) {
        w->buffers[i].bytes = memory;
        w->buffers[i].marks = memory + buffer_bytes(w->size) / 2;
        memory += buffer_bytes(w->size);
    }
    w->areas = memory;
}

static int find_node_all(struct twophase_window *w, struct dataset *ds, int64_t *lacking)
{
    int err;
    w->own = node_find_all(ds, &err, lacking);
    if (*lacking || err != NC_NOERR) return err;
    w->rank = w->own->rank;
    w->nprocs = w->own->nprocs;
    return NC_NOERR;
}

/* Returns how many processes on each node write and read the file: all if there is one
 * node; otherwise the hint's number or half, so that the others can exchange messages. */
static int count_storing(const struct twophase_window *w, const struct dataset *ds)
{
    if (w->nprocs == ds->nprocs) return w->nprocs;
    int64_t asked = ds->hints.aggregators_per_node, most = w->nprocs - 1;
    int64_t n = asked > 0 ? asked : w->nprocs / 2;
    if (n > most) n = most;
    return n > 0 ? (int)n : 1;
}

/* Splits the communicator by colour. On error, no process uses or frees its part: freeing
 * is collective and some processes may lack a part. Returns the agreed result. */
static int connect_all(struct dataset *ds, int colour, int key, MPI_Comm *comm)
{
    int mpi = MPI_Comm_split(ds->comm, colour, key, comm);
    int err = base_mpi_error(mpi, NC_EMPI, "connecting the nodes");
    int64_t lacking = err != NC_NOERR;
    err = dataset_agree_all(ds, err, NULL, &lacking, 1);
    if (lacking) *comm = MPI_COMM_NULL;
    if (*comm != MPI_COMM_NULL) (void)MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    return err;
}

/* Numbers the nodes: the first process on each node determines the number and broadcasts
 * it. All processes get the same result. */
static int number_nodes_all(struct twophase_window *w, struct dataset *ds)
{
    MPI_Comm leaders;
    int place[2] = {0, 1}, mpi = MPI_SUCCESS;
    int err = connect_all(ds, w->rank == 0 ? 0 : MPI_UNDEFINED, ds->rank, &leaders);
    if (err != NC_NOERR) return err;
    if (leaders != MPI_COMM_NULL) {
        mpi = MPI_Comm_rank(leaders, &place[0]);
        if (mpi == MPI_SUCCESS) mpi = MPI_Comm_size(leaders, &place[1]);
        (void)MPI_Comm_free(&leaders);
    }
    int shared = MPI_Bcast(place, 2, MPI_INT, 0, w->own->comm);
    err = base_mpi_error(mpi != MPI_SUCCESS ? mpi : shared, NC_EMPI, "finding the nodes");
    int64_t nodes = place[1];
    err = dataset_agree_all(ds, err, NULL, &nodes, 1);
    w->node = place[0];
    w->nodes = (int)nodes;
    return err;
}

static int allocate_all(struct twophase_window *w)
{
    int err = node_memory_make_all(w->own, window_bytes(w), &w->memory);
    if (err != NC_NOERR) return err;
    lay_out_window(w, w->memory.bytes);
    if (w->rank == 0) memset(w->control, 0, (size_t)control_bytes(w));
    node_memory_sync(&w->memory);
    return NC_NOERR;
}

static int allocate_alone(struct twophase_window *w)
{
    w->alone = base_malloc((size_t)window_bytes(w));
    if (w->alone == NULL) return NC_ENOMEM;
    lay_out_window(w, w->alone);
    memset(w->control, 0, (size_t)control_bytes(w));
    return NC_NOERR;
}

/* Allocates an exchanging process's private memory. */
static int allocate_exchange(struct twophase_window *w)
{
    enum { LISTS = 4 };
    size_t tallies = LISTS * ((size_t)w->nodes + 1) * sizeof *w->tallies;
    w->inbox = base_malloc(2 * (size_t)w->area_size);
    w->tallies = base_malloc(tallies);
    return w->inbox == NULL || w->tallies == NULL ? NC_ENOMEM : NC_NOERR;
}

/* Checks that a process's rank in the column is the number of its node, because messages
 * are addressed by node. */
static int check_column(const struct twophase_window *w)
{
    int rank = -1, size = 0, mpi = MPI_Comm_rank(w->column, &rank);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_size(w->column, &size);
    if (mpi != MPI_SUCCESS) return base_mpi_error(mpi, NC_EMPI, "connecting the nodes");
    base_require(rank == w->node && size == w->nodes);
    return NC_NOERR;
}

/* Allocates private memory and checks that the window fits into shared memory. */
static int prepare_window(struct twophase_window *w)
{
    base_require(w->size >= TWOPHASE_LEAST_BLOCK && (w->size & (w->size - 1)) == 0);
    base_require(w->first_storer >= 0 && w->first_storer < w->nprocs);
    base_require(w->nodes == 1 || (w->columns > 0 && w->columns <= w->nprocs));
    base_require(w->node >= 0 && w->node < w->nodes);
    int err = w->column == MPI_COMM_NULL ? NC_NOERR : check_column(w);
    if (err == NC_NOERR && w->column != MPI_COMM_NULL) err = allocate_exchange(w);
    if (w->nprocs > 1 && !has_room_for(window_bytes(w))) err = NC_ENOMEM;
    return err;
}

/* Sets the number of processes that arrive at each counter. */
static void init_counters(struct twophase_window *w)
{
    const int all[TWOPHASE_COUNTERS] = {[TWOPHASE_ARRIVED] = w->nprocs,
                                        [TWOPHASE_PACKED] = w->nprocs,
                                        [TWOPHASE_PLANNED] = 1,
                                        [TWOPHASE_MOVED] = w->columns,
                                        [TWOPHASE_ANSWERED] = w->columns,
                                        [TWOPHASE_STORED] = w->nprocs - w->first_storer};
    for (int i = 0; i < TWOPHASE_COUNTERS; i++)
        w->counters[i] = (struct node_counter){.word = &w->control->counters[i],
                                               .expected = all[i],
                                               .spins = node_spins(w->nprocs)};
}

/* Allocates the memory and agrees on the window's number. */
static int make_memory_all(struct twophase_window *w, struct dataset *ds)
{
    int err = w->nprocs == 1 ? allocate_alone(w) : allocate_all(w);
    int64_t all[2] = {node_cache_next_number(&windows),
                      w->nprocs > 1 && w->memory.window == MPI_WIN_NULL};
    err = dataset_agree_all(ds, err, NULL, all, 2);
    if (err == NC_NOERR && w->nprocs > 1) node_memory_sync(&w->memory);
    if (all[1] && w->nprocs > 1) node_memory_agree_all(w->own, &w->memory);
    w->number = all[0];
    node_cache_note_number(&windows, w->number);
    if (err == NC_NOERR) init_counters(w);
    return err;
}

/* Sets the sizes that are the same on all nodes: -all[0] is the smallest buffer size on
 * any node, -all[2] the smallest number of exchanging processes. */
static void set_sizes(struct twophase_window *w, const int64_t *all)
{
    enum { LEAST_AREA = 1024 };
    w->size = -all[0];
    if (w->nodes > 1) {
        w->columns = (int)-all[2];
        w->area_size = (w->size + w->size / 4) / -all[3] / 64 * 64;
        if (w->area_size < LEAST_AREA) w->area_size = LEAST_AREA;
    }
}

/* Creates the columns if there are several nodes. All processes get the same result. */
static int join_nodes_all(struct twophase_window *w, struct dataset *ds,
                          const int64_t *sizes)
{
    int err = number_nodes_all(w, ds);
    if (err != NC_NOERR) return err;
    set_sizes(w, sizes);
    err = connect_all(ds, w->rank < w->columns ? w->rank : MPI_UNDEFINED, w->node,
                      &w->column);
    if (err != NC_NOERR) return err;
    return dataset_agree_all(ds, prepare_window(w), NULL, NULL, 0);
}

/* Creates the window. An agreement precedes each collective step, so that no process
 * waits for another process whose previous step failed. Returns the agreed result. */
static int make_window_all(struct twophase_window *w, struct dataset *ds)
{
    enum { BLOCK, ACROSS, EXCHANGING, PROCS, LACKING, NVALUES };
    int64_t lacking = 0;
    int err = ds->nprocs > 1 ? find_node_all(w, ds, &lacking) : NC_NOERR;
    int store = count_storing(w, ds), exchange = w->nprocs - store;
    w->first_storer = exchange;
    w->size = buffer_size(w, store);
    int64_t all[NVALUES] = {[BLOCK] = -w->size,
                            [ACROSS] = w->nprocs < ds->nprocs,
                            [EXCHANGING] = -(exchange > 0 ? exchange : 1),
                            [PROCS] = -w->nprocs,
                            [LACKING] = lacking};
    if (err == NC_NOERR && w->nprocs == ds->nprocs) err = prepare_window(w);
    err = dataset_agree_all(ds, err, NULL, all, NVALUES);
    if (all[LACKING]) {
        node_abandon(ds);
        w->own = NULL;
        return err;
    }
    if (err != NC_NOERR) return err;
    set_sizes(w, all);
    if (all[ACROSS]) err = join_nodes_all(w, ds, all);
    return err != NC_NOERR ? err : make_memory_all(w, ds);
}

/* The hints and the stripe size for which a window was created. */
struct window_key {
    int64_t share, most, storers, unit;
};

static bool matches_window(const void *thing, const void *of)
{
    const struct twophase_window *w = thing;
    const struct window_key *x = of;
    return w->share == x->share && w->most == x->most && w->storers == x->storers &&
           w->unit == x->unit;
}

/* Excludes a cached window's memory from the usage count, or includes it again. */
static void exclude_window(const struct twophase_window *w, bool aside)
{
    base_mem_exclude(w->alone, aside);
    base_mem_exclude(w->inbox, aside);
    base_mem_exclude(w->tallies, aside);
}

/* Reuses a cached window if all processes have cached the same one. */
static bool reuse_all(struct twophase_window *w, struct dataset *ds, int64_t unit)
{
    const struct hints *h = &ds->hints;
    const struct window_key x = {h->node_share, h->node_procs, h->aggregators_per_node,
                                 unit};
    bool taken;
    (void)node_cache_take_all(&windows, ds, matches_window, &x, NC_NOERR, w, &taken);
    if (!taken) return false;
    exclude_window(w, false);
    node_assign(ds, w->own);
    return true;
}

bool twophase_window_reserve_slot(const struct twophase_window *w,
                                  const struct dataset *ds)
{
    return w->state == TWOPHASE_WINDOW_READY && w->nodes * w->nprocs > 1 &&
           node_cache_reserve(&windows, ds, w->number);
}

void twophase_window_store_or_release(struct twophase_window *w, bool keep)
{
    if (!keep) {
        node_cache_release(&windows, w->number);
        return;
    }
    exclude_window(w, true);
    node_cache_store(&windows, w->number, w);
    w->state = TWOPHASE_WINDOW_NEW;
}

bool twophase_window_ready_all(struct twophase_window *w, struct dataset *ds,
                               int64_t unit)
{
    if (w->state != TWOPHASE_WINDOW_NEW) return w->state == TWOPHASE_WINDOW_READY;
    if (ds->nprocs > 1 && reuse_all(w, ds, unit)) return true;
    *w = (struct twophase_window){.state = TWOPHASE_WINDOW_READY,
                                  .share = ds->hints.node_share,
                                  .most = ds->hints.node_procs,
                                  .unit = unit,
                                  .storers = ds->hints.aggregators_per_node,
                                  .column = MPI_COMM_NULL,
                                  .nodes = 1,
                                  .memory = NODE_NO_MEMORY,
                                  .nprocs = 1};
    if (make_window_all(w, ds) == NC_NOERR) return true;
    twophase_window_free_all(w);
    w->state = TWOPHASE_WINDOW_REFUSED;
    return false;
}

void twophase_window_free_all(struct twophase_window *w)
{
    if (w->state != TWOPHASE_WINDOW_READY) return;
    /* Errors here cannot be reported, and have no consequences. */
    node_memory_free_all(&w->memory);
    if (w->column != MPI_COMM_NULL) (void)MPI_Comm_free(&w->column);
    node_release_all(w->own);
    base_free(w->alone);
    base_free(w->inbox);
    base_free(w->tallies);
    w->state = TWOPHASE_WINDOW_NEW;
}

struct twophase_slot *twophase_window_slot(const struct twophase_window *w, int64_t step,
                                           int rank)
{
    return w->control->slots + step % TWOPHASE_BUFFERS * slots_of(w) + rank;
}

unsigned char *twophase_window_area(const struct twophase_window *w, int64_t step,
                                    int rank)
{
    return w->areas + (step % TWOPHASE_BUFFERS * w->nprocs + rank) * w->area_size;
}

struct node_board twophase_window_board(struct twophase_window *w)
{
    void *behind_slots = w->control->slots + 2 * (ptrdiff_t)slots_of(w);
    return (struct node_board){.rank = w->rank,
                               .nprocs = w->nprocs,
                               .state = &w->control->state,
                               .names = behind_slots,
                               .barrier = &w->counters[TWOPHASE_ARRIVED]};
}
