/* Shared memory of a node: an MPI-3 window, and waiting for each other in it. */
#include "twophase_window.h"

#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "node_kept.h"

/* At the window's beginning. */
struct twophase_control {
    struct node_word counters[TWOPHASE_COUNTERS];
    struct node_word state;
    struct twophase_slot
        slots[]; /* of two steps, by turns; then a name of each process */
};

static void free_window_all(void *thing)
{
    twophase_window_free_all(thing);
}

enum { WINDOWS = 2 };
static struct twophase_window things[WINDOWS];
static struct node_kept windows = {.end = BASE_END_WINDOWS,
                                   .most = WINDOWS,
                                   .size = sizeof things[0],
                                   .things = things,
                                   .free_all = free_window_all};

/* Slots of a step: one for each process, and one for each that exchanges with others.
 */
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

/* A share for each process, 4 MiB at most, and a whole stripe for each that writes;
 * rounded down to a power of 2. */
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
    enum { ROOM = 128 }; /* for the slack, and where a block begins */
    return 2 * (size + ROOM);
}

/* Is there room for that much shared memory? Where it lives in /dev/shm, too much of it
 * would be promised and then end the program. */
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

/* How many processes of a node write and read the file: as the hint says, else half of
 * them, the others being free to move data meanwhile. */
static int storers(const struct twophase_window *w, const struct dataset *ds)
{
    if (w->nprocs == ds->nprocs) return w->nprocs;
    int64_t asked = ds->hints.aggregators_per_node, most = w->nprocs - 1;
    int64_t n = asked > 0 ? asked : w->nprocs / 2;
    if (n > most) n = most;
    return n > 0 ? (int)n : 1;
}

/* Who has the same colour, 0 and up, as a communicator of its own: all have it, or
 * nobody, as it cannot be freed by some alone. Agreed. */
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

/* Of several nodes: which is this? The first process of each finds out. Agreed. */
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
    int told = MPI_Bcast(place, 2, MPI_INT, 0, w->own->comm);
    err = base_mpi_error(mpi != MPI_SUCCESS ? mpi : told, NC_EMPI, "finding the nodes");
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

/* Of a process that exchanges messages with other nodes. */
static int make_desk(struct twophase_window *w)
{
    enum { LISTS = 4 };
    size_t tallies = LISTS * ((size_t)w->nodes + 1) * sizeof *w->tallies;
    w->inbox = base_malloc(2 * (size_t)w->area_size);
    w->tallies = base_malloc(tallies);
    return w->inbox == NULL || w->tallies == NULL ? NC_ENOMEM : NC_NOERR;
}

/* What a process that exchanges with other nodes has for itself, and is there room for
 * the window? */
static int prepare_window(struct twophase_window *w)
{
    int err = w->column == MPI_COMM_NULL ? NC_NOERR : make_desk(w);
    if (w->nprocs > 1 && !has_room_for(window_bytes(w))) err = NC_ENOMEM;
    return err;
}

/* How many processes come to each counter. */
static void take_counters(struct twophase_window *w)
{
    const int all[TWOPHASE_COUNTERS] = {[TWOPHASE_ARRIVED] = w->nprocs,
                                        [TWOPHASE_PACKED] = w->nprocs,
                                        [TWOPHASE_PLANNED] = 1,
                                        [TWOPHASE_MOVED] = w->columns,
                                        [TWOPHASE_ANSWERED] = w->columns,
                                        [TWOPHASE_STORED] = w->nprocs - w->first_storer};
    for (int i = 0; i < TWOPHASE_COUNTERS; i++)
        w->counters[i] = (struct node_counter){.word = &w->control->counters[i],
                                               .all = all[i],
                                               .spins = node_spins(w->nprocs)};
}

/* The memory, and the window's number. Agreed. */
static int make_memory_all(struct twophase_window *w, struct dataset *ds)
{
    int err = w->nprocs == 1 ? allocate_alone(w) : allocate_all(w);
    int64_t all[2] = {node_kept_number(&windows),
                      w->nprocs > 1 && w->memory.window == MPI_WIN_NULL};
    err = dataset_agree_all(ds, err, NULL, all, 2);
    if (err == NC_NOERR && w->nprocs > 1) node_memory_sync(&w->memory);
    if (all[1] && w->nprocs > 1) node_memory_whole_all(w->own, &w->memory);
    w->number = all[0];
    node_kept_note(&windows, w->number);
    if (err == NC_NOERR) take_counters(w);
    return err;
}

/* Sizes, the same on all nodes: all[0] has the opposite of the least block, all[2] of the
 * least number of processes that can exchange. */
static void take_sizes(struct twophase_window *w, const int64_t *all)
{
    enum { LEAST_AREA = 1024 };
    w->size = -all[0];
    if (w->nodes > 1) {
        w->columns = (int)-all[2];
        w->area_size = (w->size + w->size / 4) / -all[3] / 64 * 64;
        if (w->area_size < LEAST_AREA) w->area_size = LEAST_AREA;
    }
}

/* Where there are several nodes. Agreed. */
static int join_nodes_all(struct twophase_window *w, struct dataset *ds,
                          const int64_t *sizes)
{
    int err = number_nodes_all(w, ds);
    if (err != NC_NOERR) return err;
    take_sizes(w, sizes);
    err = connect_all(ds, w->rank < w->columns ? w->rank : MPI_UNDEFINED, w->node,
                      &w->column);
    if (err != NC_NOERR) return err;
    return dataset_agree_all(ds, prepare_window(w), NULL, NULL, 0);
}

/* An agreement before each step that takes all, that nobody waits in vain for one who was
 * refused the one before. Agreed. */
static int make_window_all(struct twophase_window *w, struct dataset *ds)
{
    enum { BLOCK, ACROSS, SPEAK, PROCS, LACKING, NVALUES };
    int64_t lacking = 0;
    int err = ds->nprocs > 1 ? find_node_all(w, ds, &lacking) : NC_NOERR;
    int store = storers(w, ds), exchange = w->nprocs - store;
    w->first_storer = exchange;
    w->size = buffer_size(w, store);
    int64_t all[NVALUES] = {[BLOCK] = -w->size,
                            [ACROSS] = w->nprocs < ds->nprocs,
                            [SPEAK] = -(exchange > 0 ? exchange : 1),
                            [PROCS] = -w->nprocs,
                            [LACKING] = lacking};
    if (err == NC_NOERR && w->nprocs == ds->nprocs) err = prepare_window(w);
    err = dataset_agree_all(ds, err, NULL, all, NVALUES);
    if (all[LACKING]) {
        node_lose(ds);
        w->own = NULL;
        return err;
    }
    if (err != NC_NOERR) return err;
    take_sizes(w, all);
    if (all[ACROSS]) err = join_nodes_all(w, ds, all);
    return err != NC_NOERR ? err : make_memory_all(w, ds);
}

/* The hints and stripes that a window is made by. */
struct wanted {
    int64_t share, most, storers, unit;
};

static bool is_wanted(const void *thing, const void *of)
{
    const struct twophase_window *w = thing;
    const struct wanted *x = of;
    return w->share == x->share && w->most == x->most && w->storers == x->storers &&
           w->unit == x->unit;
}

/* What nobody uses does not count. */
static void set_window_aside(const struct twophase_window *w, bool aside)
{
    base_mem_set_aside(w->alone, aside);
    base_mem_set_aside(w->inbox, aside);
    base_mem_set_aside(w->tallies, aside);
}

/* Takes the window that all have kept, if it is the same. */
static bool reuse_all(struct twophase_window *w, struct dataset *ds, int64_t unit)
{
    const struct base_hints *h = &ds->hints;
    const struct wanted x = {h->node_share, h->node_procs, h->aggregators_per_node, unit};
    bool taken;
    (void)node_kept_take_all(&windows, ds, is_wanted, &x, NC_NOERR, w, &taken);
    if (!taken) return false;
    set_window_aside(w, false);
    node_take_over(ds, w->own);
    return true;
}

bool twophase_window_hold(const struct twophase_window *w, const struct dataset *ds)
{
    return w->state == TWOPHASE_WINDOW_READY && w->nodes * w->nprocs > 1 &&
           node_kept_hold(&windows, ds, w->number);
}

void twophase_window_settle(struct twophase_window *w, bool keep)
{
    if (!keep) {
        node_kept_let_go(&windows, w->number);
        return;
    }
    set_window_aside(w, true);
    node_kept_keep(&windows, w->number, w);
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
    /* Nobody can be told of a failure here, nor does anything hang on it. */
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
                               .met = &w->counters[TWOPHASE_ARRIVED]};
}
