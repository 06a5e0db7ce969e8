/* Shared memory of a node: an MPI-3 window, and waiting for each other in it. */
#include "mpio_window.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#else
#include <sched.h>
#endif

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "driver_share.h"
#include "mpio_pool.h"

/* A counter in a cache line of its own. */
struct counter {
    atomic_uint count, sleepers;
    char apart[56];
};

/* At the window's beginning. */
struct mpio_control {
    struct counter counters[MPIO_COUNTERS];
    struct counter state;
    struct mpio_slot slots[]; /* of two steps, by turns; then a name of each process */
};

/* Slots of a step: one for each process, and one for each that exchanges with others.
 */
static int slots_of(const struct mpio_window *w)
{
    return w->nprocs + w->columns;
}

static int64_t control_bytes(const struct mpio_window *w)
{
    return (int64_t)sizeof(struct mpio_control) +
           2 * (int64_t)slots_of(w) * (int64_t)sizeof(struct mpio_slot) +
           ((int64_t)w->nprocs * (int64_t)sizeof(int64_t) + 63) / 64 * 64;
}

/* A share for each process, 4 MiB at most, and a whole stripe for each that writes;
 * rounded down to a power of 2. */
static int64_t buffer_size(const struct mpio_window *w, int storers)
{
    enum { MOST = 1 << 22, LARGEST = 1 << 29 };
    int64_t size = MPIO_LEAST_BLOCK;
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

/* How often to look before sleeping. Where there are cores enough, as long as it takes to
 * be woken; where not, the others need this one's. */
static int spins(int nprocs)
{
    enum { FEW = 500, MANY = 20000 };
    return sysconf(_SC_NPROCESSORS_ONLN) < nprocs ? FEW : MANY;
}

/* Is there room for that much shared memory? Where it lives in /dev/shm, too much of it
 * would be promised and then end the program. */
static bool room_for(int64_t bytes)
{
    struct statvfs fs;
    if (statvfs("/dev/shm", &fs) != 0) return true;
    return (int64_t)(fs.f_bavail * fs.f_frsize) / 2 > bytes;
}

static int64_t window_bytes(const struct mpio_window *w)
{
    return control_bytes(w) + MPIO_BUFFERS * buffer_bytes(w->size) +
           MPIO_BUFFERS * w->area_size * w->nprocs;
}

static void lay_out(struct mpio_window *w, unsigned char *memory)
{
    w->control = (struct mpio_control *)memory;
    memory += control_bytes(w);
    for (int i = 0; i < MPIO_BUFFERS; i++) {
        w->buffers[i].bytes = memory;
        w->buffers[i].marks = memory + buffer_bytes(w->size) / 2;
        memory += buffer_bytes(w->size);
    }
    w->areas = memory;
}

static int split_all(struct mpio_window *w, struct dataset *ds)
{
    int err = driver_node_all(ds, &w->comm, &w->rank, &w->nprocs);
    if (err != NC_NOERR) return err;
    int mpi = MPI_Comm_set_errhandler(w->comm, MPI_ERRORS_RETURN);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_group(ds->comm, &w->group);
    return base_mpi_error(mpi, NC_EMPI, "finding the processes of a node");
}

/* How many processes of a node write and read the file: as the hint says, else half of
 * them, the others being free to move data meanwhile. */
static int storers(const struct mpio_window *w, const struct dataset *ds)
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
static int number_nodes_all(struct mpio_window *w, struct dataset *ds)
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
    int told = MPI_Bcast(place, 2, MPI_INT, 0, w->comm);
    err = base_mpi_error(mpi != MPI_SUCCESS ? mpi : told, NC_EMPI, "finding the nodes");
    int64_t nodes = place[1];
    err = dataset_agree_all(ds, err, NULL, &nodes, 1);
    w->node = place[0];
    w->nodes = (int)nodes;
    return err;
}

/* The window's memory: all of it is the first process's. */
static int allocate_all(struct mpio_window *w)
{
    void *base;
    MPI_Aint size;
    int unit;
    int mpi = MPI_Win_allocate_shared(w->rank == 0 ? (MPI_Aint)window_bytes(w) : 0, 1,
                                      MPI_INFO_NULL, w->comm, &base, &w->win);
    if (mpi != MPI_SUCCESS) {
        w->win = MPI_WIN_NULL;
        return base_mpi_error(mpi, NC_ENOMEM, "shared memory of a node");
    }
    mpi = base_mpi_window_begin(w->win);
    if (mpi == MPI_SUCCESS) mpi = MPI_Win_shared_query(w->win, 0, &size, &unit, &base);
    if (mpi == MPI_SUCCESS) lay_out(w, base);
    if (mpi == MPI_SUCCESS && w->rank == 0)
        memset(w->control, 0, (size_t)control_bytes(w));
    if (mpi == MPI_SUCCESS) base_mpi_window_sync(w->win);
    return base_mpi_error(mpi, NC_ENOMEM, "shared memory of a node");
}

static int allocate_own(struct mpio_window *w)
{
    w->own = base_malloc((size_t)window_bytes(w));
    if (w->own == NULL) return NC_ENOMEM;
    lay_out(w, w->own);
    memset(w->control, 0, (size_t)control_bytes(w));
    return NC_NOERR;
}

/* Of a process that exchanges messages with other nodes. */
static int make_desk(struct mpio_window *w)
{
    enum { LISTS = 4 };
    size_t tallies = LISTS * ((size_t)w->nodes + 1) * sizeof *w->tallies;
    w->inbox = base_malloc(2 * (size_t)w->area_size);
    w->tallies = base_malloc(tallies);
    return w->inbox == NULL || w->tallies == NULL ? NC_ENOMEM : NC_NOERR;
}

/* What a process that exchanges with other nodes has for itself, and is there room for
 * the window? */
static int prepare(struct mpio_window *w)
{
    int err = w->column == MPI_COMM_NULL ? NC_NOERR : make_desk(w);
    if (w->nprocs > 1 && !room_for(window_bytes(w))) err = NC_ENOMEM;
    return err;
}

/* The memory, and the window's number. Agreed. */
static int make_memory_all(struct mpio_window *w, struct dataset *ds)
{
    int err = w->nprocs == 1 ? allocate_own(w) : allocate_all(w);
    int64_t all[2] = {mpio_pool_number(), w->nprocs > 1 && w->win == MPI_WIN_NULL};
    err = dataset_agree_all(ds, err, NULL, all, 2);
    if (err == NC_NOERR && w->nprocs > 1) base_mpi_window_sync(w->win);
    if (all[1] && w->nprocs > 1) base_mpi_whole_window_all(w->comm, &w->win);
    w->number = all[0];
    mpio_pool_note(w->number);
    return err;
}

/* Sizes, the same on all nodes: all[0] has the opposite of the least block, all[2] of the
 * least number of processes that can exchange. */
static void take_sizes(struct mpio_window *w, const int64_t *all)
{
    enum { LEAST_AREA = 1024 };
    w->spins = spins(w->nprocs);
    w->size = -all[0];
    if (w->nodes > 1) {
        w->columns = (int)-all[2];
        w->area_size = (w->size + w->size / 4) / -all[3] / 64 * 64;
        if (w->area_size < LEAST_AREA) w->area_size = LEAST_AREA;
    }
    w->all[MPIO_ARRIVED] = w->all[MPIO_PACKED] = w->nprocs;
    w->all[MPIO_PLANNED] = 1;
    w->all[MPIO_MOVED] = w->all[MPIO_ANSWERED] = w->columns;
    w->all[MPIO_STORED] = w->nprocs - w->first_storer;
}

/* Where there are several nodes. Agreed. */
static int join_nodes_all(struct mpio_window *w, struct dataset *ds, const int64_t *sizes)
{
    int err = number_nodes_all(w, ds);
    if (err != NC_NOERR) return err;
    take_sizes(w, sizes);
    err = connect_all(ds, w->rank < w->columns ? w->rank : MPI_UNDEFINED, w->node,
                      &w->column);
    if (err != NC_NOERR) return err;
    return dataset_agree_all(ds, prepare(w), NULL, NULL, 0);
}

/* An agreement before each step that takes all, that nobody waits in vain for one who was
 * refused the one before. Agreed. */
static int make_all(struct mpio_window *w, struct dataset *ds)
{
    enum { BLOCK, ACROSS, SPEAK, PROCS, LACKING, NVALUES };
    int err = ds->nprocs > 1 ? split_all(w, ds) : NC_NOERR;
    int store = storers(w, ds), exchange = w->nprocs - store;
    w->first_storer = exchange;
    w->size = buffer_size(w, store);
    int64_t all[NVALUES] = {
        -w->size,
        w->nprocs<ds->nprocs, -(exchange > 0 ? exchange : 1), -w->nprocs, ds->nprocs> 1 &&
            w->comm == MPI_COMM_NULL};
    if (err == NC_NOERR && w->nprocs == ds->nprocs) err = prepare(w);
    err = dataset_agree_all(ds, err, NULL, all, NVALUES);
    if (all[LACKING]) w->comm = MPI_COMM_NULL; /* not to be freed by some alone */
    if (err != NC_NOERR) return err;
    take_sizes(w, all);
    if (all[ACROSS]) err = join_nodes_all(w, ds, all);
    return err != NC_NOERR ? err : make_memory_all(w, ds);
}

/* Takes the window that all have kept, if it is the same. */
static bool reuse_all(struct mpio_window *w, struct dataset *ds, int64_t unit)
{
    struct mpio_window kept;
    bool found = mpio_pool_take(&kept, ds, unit);
    int64_t number = found ? kept.number : 0, all[2] = {number, -number};
    int err = dataset_agree_all(ds, NC_NOERR, NULL, all, 2);
    bool same = err == NC_NOERR && all[0] > 0 && all[0] == -all[1];
    if (same) {
        *w = kept;
        mpio_pool_let_go();
    } else if (found) {
        mpio_pool_keep(&kept);
    }
    return same;
}

bool mpio_window_ready_all(struct mpio_window *w, struct dataset *ds, int64_t unit)
{
    if (w->state != MPIO_WINDOW_NEW) return w->state == MPIO_WINDOW_READY;
    if (ds->nprocs > 1 && reuse_all(w, ds, unit)) return true;
    *w = (struct mpio_window){.state = MPIO_WINDOW_READY,
                              .group = MPI_GROUP_NULL,
                              .share = ds->hints.node_share,
                              .most = ds->hints.node_procs,
                              .unit = unit,
                              .storers = ds->hints.aggregators_per_node,
                              .comm = MPI_COMM_NULL,
                              .column = MPI_COMM_NULL,
                              .nodes = 1,
                              .win = MPI_WIN_NULL,
                              .nprocs = 1};
    if (make_all(w, ds) == NC_NOERR) return true;
    mpio_window_free_all(w);
    w->state = MPIO_WINDOW_REFUSED;
    return false;
}

void mpio_window_free_all(struct mpio_window *w)
{
    if (w->state != MPIO_WINDOW_READY) return;
    /* Nobody can be told of a failure here, nor does anything hang on it. */
    base_mpi_window_end(w->win);
    if (w->win != MPI_WIN_NULL) (void)MPI_Win_free(&w->win);
    if (w->group != MPI_GROUP_NULL) (void)MPI_Group_free(&w->group);
    if (w->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&w->comm);
    if (w->column != MPI_COMM_NULL) (void)MPI_Comm_free(&w->column);
    base_free(w->own);
    base_free(w->inbox);
    base_free(w->tallies);
    w->state = MPIO_WINDOW_NEW;
}

struct mpio_slot *mpio_window_slot(const struct mpio_window *w, int64_t step, int rank)
{
    return w->control->slots + step % MPIO_BUFFERS * slots_of(w) + rank;
}

unsigned char *mpio_window_area(const struct mpio_window *w, int64_t step, int rank)
{
    return w->areas + (step % MPIO_BUFFERS * w->nprocs + rank) * w->area_size;
}

/* Sleeps while the word is `old`; may return early. */
static void sleep_on(atomic_uint *word, unsigned old)
{
#ifdef __linux__
    (void)syscall(SYS_futex, word, FUTEX_WAIT, old, NULL, NULL, 0);
#else
    (void)word;
    (void)old;
    (void)sched_yield();
#endif
}

static void wake_sleepers(atomic_uint *word)
{
#ifdef __linux__
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
#else
    (void)word;
#endif
}

/* Counting releases what this process wrote, and who sees the count acquires it. No
 * wake-up is lost: counting, looking for sleepers, noting oneself as one and looking at
 * the count are in one order for all (sequentially consistent), so that either the
 * sleeper is seen, or it sees the count; and the futex does not sleep if the count is
 * another by then. */
void mpio_window_arrive(struct mpio_window *w, enum mpio_counter c)
{
    struct counter *counter = &w->control->counters[c];
    unsigned count = atomic_fetch_add(&counter->count, 1) + 1;
    if ((count - w->count[c]) % (unsigned)w->all[c] > 0) return;
    if (atomic_load(&counter->sleepers) > 0) wake_sleepers(&counter->count);
}

/* Counts wrap around; those waited for are near. */
static bool reached(unsigned count, unsigned due)
{
    return (int)(count - due) >= 0;
}

void mpio_window_await(const struct mpio_window *w, enum mpio_counter c, int64_t times)
{
    struct counter *counter = &w->control->counters[c];
    unsigned due = w->count[c] + (unsigned)(times * w->all[c]), count;
    for (int i = 0; i < w->spins; i++)
        if (reached(atomic_load_explicit(&counter->count, memory_order_acquire), due))
            return;
    atomic_fetch_add(&counter->sleepers, 1);
    while (!reached(count = atomic_load(&counter->count), due))
        sleep_on(&counter->count, count);
    atomic_fetch_sub(&counter->sleepers, 1);
}

void mpio_window_end(struct mpio_window *w, enum mpio_counter c, int64_t times)
{
    w->count[c] += (unsigned)(times * w->all[c]);
}

int mpio_window_state(const struct mpio_window *w)
{
    return (int)atomic_load_explicit(&w->control->state.count, memory_order_acquire);
}

void mpio_window_set_state(struct mpio_window *w, int state)
{
    struct counter *word = &w->control->state;
    atomic_store(&word->count, (unsigned)state);
    if (atomic_load(&word->sleepers) > 0) wake_sleepers(&word->count);
}

bool mpio_window_change_state(struct mpio_window *w, int from, int to)
{
    unsigned old = (unsigned)from;
    return atomic_compare_exchange_strong(&w->control->state.count, &old, (unsigned)to);
}

/* No wake-up is lost, for the same reason as above. */
void mpio_window_await_state(const struct mpio_window *w, int state)
{
    struct counter *word = &w->control->state;
    unsigned now;
    atomic_fetch_add(&word->sleepers, 1);
    while ((now = atomic_load(&word->count)) != (unsigned)state)
        sleep_on(&word->count, now);
    atomic_fetch_sub(&word->sleepers, 1);
}

int64_t *mpio_window_name(const struct mpio_window *w, int rank)
{
    return (int64_t *)(w->control->slots + 2 * (ptrdiff_t)slots_of(w)) + rank;
}

void mpio_window_meet_all(struct mpio_window *w)
{
    mpio_window_arrive(w, MPIO_ARRIVED);
    mpio_window_await(w, MPIO_ARRIVED, 1);
    mpio_window_end(w, MPIO_ARRIVED, 1);
}
