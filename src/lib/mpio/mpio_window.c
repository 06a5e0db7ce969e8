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
#include "mpio_pool.h"

/* At the window's beginning. */
struct mpio_control {
    atomic_uint arrived;      /* processes that wait */
    atomic_uint sleepers;     /* ... and sleep */
    atomic_uint round;        /* how often all have met */
    char apart[52];           /* the slots have cache lines of their own */
    struct mpio_slot slots[]; /* of two rounds, by turns */
};

static int64_t control_bytes(int nprocs)
{
    return (int64_t)sizeof(struct mpio_control) +
           2 * (int64_t)nprocs * (int64_t)sizeof(struct mpio_slot);
}

/* A share for each process, 4 MiB at most, rounded down to a power of 2. */
static int64_t buffer_size(int64_t share, int nprocs)
{
    enum { MOST = 1 << 22, LARGEST = 1 << 29 };
    int64_t size = MPIO_LEAST_BLOCK, wanted = (share < MOST ? share : MOST) * nprocs;
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

static void lay_out(struct mpio_window *w, unsigned char *memory)
{
    w->control = (struct mpio_control *)memory;
    memory += control_bytes(w->nprocs);
    for (int i = 0; i < MPIO_BUFFERS; i++) {
        w->buffers[i].bytes = memory;
        w->buffers[i].marks = memory + buffer_bytes(w->size) / 2;
        memory += buffer_bytes(w->size);
    }
}

/* The processes of a node, or a part of them. w->comm is MPI_COMM_NULL where there is
 * none: it cannot be freed then, which takes all. */
static int split_all(struct mpio_window *w, struct driver_dataset *ds)
{
    MPI_Comm node;
    int64_t most = ds->hints.node_procs, lacking;
    int rank = 0;
    int mpi = MPI_Comm_split_type(ds->comm, MPI_COMM_TYPE_SHARED, ds->rank, MPI_INFO_NULL,
                                  &node);
    w->comm = mpi == MPI_SUCCESS ? node : MPI_COMM_NULL;
    if (most > 0) {
        lacking = mpi != MPI_SUCCESS;
        int err = driver_agree_all(ds, NC_NOERR, NULL, &lacking, 1);
        w->comm = MPI_COMM_NULL;
        if (err != NC_NOERR || lacking) return err != NC_NOERR ? err : NC_EMPI;
        int ranked = MPI_Comm_rank(node, &rank);
        mpi = MPI_Comm_split(node, rank / (int)most, rank, &w->comm);
        if (mpi != MPI_SUCCESS) w->comm = MPI_COMM_NULL;
        int freed = MPI_Comm_free(&node);
        if (mpi == MPI_SUCCESS) mpi = ranked != MPI_SUCCESS ? ranked : freed;
    }
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_set_errhandler(w->comm, MPI_ERRORS_RETURN);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_size(w->comm, &w->nprocs);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_rank(w->comm, &w->rank);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_group(ds->comm, &w->group);
    return base_mpi_error(mpi, NC_EMPI, "finding the processes of a node");
}

/* A node's place among all, as its first process finds it. */
static int find_place(struct mpio_window *w, int *place)
{
    int mpi = MPI_Comm_rank(w->leaders, &place[0]);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_size(w->leaders, &place[1]);
    if (mpi == MPI_SUCCESS) mpi = MPI_Comm_set_errhandler(w->leaders, MPI_ERRORS_RETURN);
    return base_mpi_error(mpi, NC_EMPI, "finding the nodes");
}

/* Of several nodes: which is this, and who speaks for it? That one has an inbox. Agreed.
 */
static int join_all(struct mpio_window *w, struct driver_dataset *ds)
{
    int place[2] = {0, 1};
    int mpi =
        MPI_Comm_split(ds->comm, w->rank == 0 ? 0 : MPI_UNDEFINED, ds->rank, &w->leaders);
    int err = base_mpi_error(mpi, NC_EMPI, "finding the nodes");
    int64_t all[2] = {mpi != MPI_SUCCESS, 0};
    if (err == NC_NOERR && w->rank == 0) {
        w->inbox = base_malloc((size_t)buffer_bytes(w->size));
        err = w->inbox == NULL ? NC_ENOMEM : find_place(w, place);
    }
    mpi = MPI_Bcast(place, 2, MPI_INT, 0, w->comm);
    if (err == NC_NOERR) err = base_mpi_error(mpi, NC_EMPI, "finding the nodes");
    w->node = place[0];
    all[1] = place[1];
    err = driver_agree_all(ds, err, NULL, all, 2);
    if (all[0]) w->leaders = MPI_COMM_NULL; /* not to be freed by some alone */
    w->nodes = (int)all[1];
    return err;
}

/* The window's memory: all of it is the first process's. */
static int allocate_all(struct mpio_window *w, int64_t bytes)
{
    void *base;
    MPI_Aint size;
    int unit;
    int mpi = MPI_Win_allocate_shared(w->rank == 0 ? (MPI_Aint)bytes : 0, 1,
                                      MPI_INFO_NULL, w->comm, &base, &w->win);
    if (mpi != MPI_SUCCESS) {
        w->win = MPI_WIN_NULL;
        return base_mpi_error(mpi, NC_ENOMEM, "shared memory of a node");
    }
    mpi = MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    if (mpi == MPI_SUCCESS) mpi = MPI_Win_shared_query(w->win, 0, &size, &unit, &base);
    if (mpi == MPI_SUCCESS) lay_out(w, base);
    if (mpi == MPI_SUCCESS && w->rank == 0)
        memset(w->control, 0, (size_t)control_bytes(w->nprocs));
    return base_mpi_error(mpi, NC_ENOMEM, "shared memory of a node");
}

static int allocate_own(struct mpio_window *w, int64_t bytes)
{
    w->own = base_malloc((size_t)bytes);
    if (w->own == NULL) return NC_ENOMEM;
    lay_out(w, w->own);
    memset(w->control, 0, (size_t)control_bytes(w->nprocs));
    return NC_NOERR;
}

/* The memory, and the window's number. Agreed. */
static int make_memory_all(struct mpio_window *w, struct driver_dataset *ds)
{
    int64_t bytes = control_bytes(w->nprocs) + MPIO_BUFFERS * buffer_bytes(w->size);
    int err = w->nprocs == 1 ? allocate_own(w, bytes) : allocate_all(w, bytes);
    int64_t all[2] = {mpio_pool_number(), w->nprocs > 1 && w->win == MPI_WIN_NULL};
    err = driver_agree_all(ds, err, NULL, all, 2);
    if (all[1]) w->win = MPI_WIN_NULL; /* not to be freed by some alone */
    w->number = all[0];
    mpio_pool_note(w->number);
    return err;
}

/* An agreement before each step that takes all, that nobody waits in vain for one who was
 * refused the one before. Agreed. */
static int make_all(struct mpio_window *w, struct driver_dataset *ds)
{
    int err = ds->nprocs > 1 ? split_all(w, ds) : NC_NOERR;
    int64_t least = -buffer_size(ds->hints.node_share, w->nprocs);
    int64_t all[3] = {least,
                      w->nprocs<ds->nprocs, ds->nprocs> 1 && w->comm == MPI_COMM_NULL};
    int64_t bytes = control_bytes(w->nprocs) + MPIO_BUFFERS * buffer_bytes(-least);
    if (err == NC_NOERR && w->nprocs > 1 && !room_for(bytes)) err = NC_ENOMEM;
    err = driver_agree_all(ds, err, NULL, all, 3);
    if (all[2]) w->comm = MPI_COMM_NULL; /* not to be freed by some alone */
    if (err != NC_NOERR) return err;
    w->spins = spins(w->nprocs);
    w->size = -all[0];
    if (all[1]) err = join_all(w, ds);
    return err != NC_NOERR ? err : make_memory_all(w, ds);
}

/* Takes the window that all have kept, if it is the same. */
static bool reuse_all(struct mpio_window *w, struct driver_dataset *ds)
{
    struct mpio_window kept;
    bool found = mpio_pool_take(&kept, ds);
    int64_t number = found ? kept.number : 0, all[2] = {number, -number};
    int err = driver_agree_all(ds, NC_NOERR, NULL, all, 2);
    bool same = err == NC_NOERR && all[0] > 0 && all[0] == -all[1];
    if (same) {
        *w = kept;
        mpio_pool_let_go();
    } else if (found) {
        mpio_pool_keep(&kept);
    }
    return same;
}

bool mpio_window_ready_all(struct mpio_window *w, struct driver_dataset *ds)
{
    if (w->state != MPIO_WINDOW_NEW) return w->state == MPIO_WINDOW_READY;
    if (ds->nprocs > 1 && reuse_all(w, ds)) return true;
    *w = (struct mpio_window){.state = MPIO_WINDOW_READY,
                              .group = MPI_GROUP_NULL,
                              .share = ds->hints.node_share,
                              .most = ds->hints.node_procs,
                              .comm = MPI_COMM_NULL,
                              .leaders = MPI_COMM_NULL,
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
    if (w->win != MPI_WIN_NULL) (void)MPI_Win_free(&w->win);
    if (w->group != MPI_GROUP_NULL) (void)MPI_Group_free(&w->group);
    if (w->comm != MPI_COMM_NULL) (void)MPI_Comm_free(&w->comm);
    if (w->leaders != MPI_COMM_NULL) (void)MPI_Comm_free(&w->leaders);
    base_free(w->own);
    base_free(w->inbox);
    w->state = MPIO_WINDOW_NEW;
}

/* Sleeps while *round is old; may return early. */
static void sleep_on(atomic_uint *round, unsigned old)
{
#ifdef __linux__
    (void)syscall(SYS_futex, round, FUTEX_WAIT, old, NULL, NULL, 0);
#else
    (void)round;
    (void)old;
    (void)sched_yield();
#endif
}

static void wake(atomic_uint *round)
{
#ifdef __linux__
    (void)syscall(SYS_futex, round, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
#else
    (void)round;
#endif
}

/* Until the round is another. */
static void wait_for(const struct mpio_window *w, unsigned old)
{
    struct mpio_control *c = w->control;
    for (int i = 0; i < w->spins; i++)
        if (atomic_load_explicit(&c->round, memory_order_acquire) != old) return;
    atomic_fetch_add(&c->sleepers, 1);
    while (atomic_load(&c->round) == old)
        sleep_on(&c->round, old);
    atomic_fetch_sub(&c->sleepers, 1);
}

void mpio_window_meet_all(struct mpio_window *w, const struct mpio_slot *mine,
                          const struct mpio_slot **all)
{
    struct mpio_control *c = w->control;
    struct mpio_slot *slots = c->slots + (w->turn++ % 2) * (size_t)w->nprocs;
    slots[w->rank] = *mine;
    *all = slots;
    unsigned round = atomic_load_explicit(&c->round, memory_order_relaxed);
    unsigned before = atomic_fetch_add_explicit(&c->arrived, 1, memory_order_acq_rel);
    if (before + 1 < (unsigned)w->nprocs) {
        wait_for(w, round);
        return;
    }
    atomic_store_explicit(&c->arrived, 0, memory_order_relaxed);
    atomic_store(&c->round, round + 1);
    if (atomic_load(&c->sleepers) > 0) wake(&c->round);
}
