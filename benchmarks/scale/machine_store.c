/* The parallel file system: a metadata server, object servers, and stripes with locks.
 * Requests queue at a server in the order they come, and each has the whole server for
 * its time. The first file begins at the first server, each later one somewhere else, as
 * metadata servers deal them out. Nothing is kept in a client's memory: a write is done
 * when the server has it. The bytes go to a real file. */
#include <errno.h>
#include <fcntl.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <simgrid/mutex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine_impl.h"

enum { NOBODY = -1, READERS = -2 };

/* Who has the lock of a stripe: a node, NOBODY, or READERS. `busy` until the requests it
 * was given for are done. */
struct stripe {
    int owner, waiting;
    double busy;
    sg_mutex_t turn;
};

struct store_file {
    char *path;
    int fd, open;
    long first; /* server that has its first stripe */
    dev_t device;
    ino_t inode;
    long nstripes;
    struct stripe *stripes;
    struct store_file *next;
};

static struct store_file *files;
static double metadata_free, *server_free;
static sg_host_t store;

static void metadata_request(void)
{
    const struct machine *m = machine_get();
    double now = machine_now() + m->file_latency / 2;
    metadata_free = (metadata_free > now ? metadata_free : now) + 1 / m->opens;
    machine_count.metadata++;
    machine_wait_until(metadata_free + m->file_latency / 2);
}

static struct store_file *find(const char *path)
{
    struct store_file *f = files;
    while (f != NULL && strcmp(f->path, path) != 0)
        f = f->next;
    return f;
}

/* Of the next file: spread by the golden ratio, so that any number of files in a row
 * begin far from each other. */
static long first_server(void)
{
    static long nfiles;
    return (long)((double)nfiles++ * 0.6180339887 * machine_servers()) %
           machine_servers();
}

/* Locks outlive a close: the nodes keep them. */
struct store_file *store_open(const char *path, int flags)
{
    machine_settle();
    metadata_request();
    machine_count.opens++;
    struct store_file *f = find(path);
    if (f == NULL || f->open == 0 || (flags & (O_TRUNC | O_EXCL)) != 0) {
        int fd = open(path, (flags & ~(O_ACCMODE)) | O_RDWR, 0666);
        if (fd < 0) return NULL;
        if (f == NULL) {
            f = calloc(1, sizeof *f);
            if (f == NULL || (f->path = strdup(path)) == NULL)
                machine_fail("out of memory", path);
            f->first = first_server();
            f->next = files;
            files = f;
        } else if (f->open > 0) {
            close(f->fd);
        }
        f->fd = fd;
        struct stat st;
        if (fstat(fd, &st) != 0) machine_fail("cannot look at", path);
        f->device = st.st_dev;
        f->inode = st.st_ino;
    }
    f->open++;
    return f;
}

struct store_file *store_find(dev_t device, ino_t inode)
{
    struct store_file *f = files;
    while (f != NULL && (f->open == 0 || f->device != device || f->inode != inode))
        f = f->next;
    return f;
}

void store_join(struct store_file *f)
{
    f->open++;
}

void store_look(void)
{
    machine_settle();
    metadata_request();
}

void store_close(struct store_file *f)
{
    machine_settle();
    f->open--;
    if (f->open == 0) close(f->fd);
}

static void forget_locks(struct store_file *f)
{
    free(f->stripes);
    f->stripes = NULL;
    f->nstripes = 0;
}

int store_delete(const char *path)
{
    machine_settle();
    metadata_request();
    struct store_file *f = find(path);
    if (f != NULL) forget_locks(f);
    return unlink(path);
}

int64_t store_size(struct store_file *f)
{
    struct stat st;
    machine_settle();
    metadata_request();
    return fstat(f->fd, &st) == 0 ? (int64_t)st.st_size : -1;
}

int store_resize(struct store_file *f, int64_t size)
{
    machine_settle();
    metadata_request();
    return ftruncate(f->fd, size);
}

static struct stripe *stripe_at(struct store_file *f, long i)
{
    if (i >= f->nstripes) {
        long n = 2 * i + 64;
        f->stripes = machine_grow(f->stripes, f->nstripes, n, sizeof *f->stripes);
        for (; f->nstripes < n; f->nstripes++)
            f->stripes[f->nstripes].owner = NOBODY;
    }
    return &f->stripes[i];
}

/* What it takes until `want` (a node that writes, or READERS) has the lock in place of
 * its owner. Where reading needs no lock, it leaves them alone. */
static double price(const struct stripe *s, int want, int node)
{
    const struct machine *m = machine_get();
    if (s->owner == NOBODY || s->owner == want || s->owner == node) return 0;
    return want == READERS ? m->lock_transfer_reading : m->lock_transfer;
}

/* A server's time for n bytes of a stripe; returns when it is done. */
static double serve(const struct store_file *f, struct stripe *s, long i, int64_t n)
{
    const struct machine *m = machine_get();
    double *free_at = &server_free[(f->first + i) % machine_servers()];
    double now = machine_now() + m->file_latency / 2;
    double parts = (double)((n - 1) / (int64_t)m->request_bytes + 1);
    if (*free_at < now) *free_at = now;
    *free_at += parts * m->server_request + (double)n / m->server_rate;
    if (s->busy < *free_at) s->busy = *free_at;
    return *free_at + m->file_latency / 2;
}

/* The part of a request that lies in one stripe. Who waits for its lock queues. Stripes
 * move when the array of them grows, so this looks again whenever it has slept. */
static double request(struct store_file *f, long i, int want, int node, int64_t n)
{
    struct stripe *s = stripe_at(f, i);
    bool locks = want != READERS || machine_get()->lock_transfer_reading > 0;
    bool queue = locks && (s->waiting > 0 || price(s, want, node) > 0);
    if (queue) {
        if (s->turn == NULL) s->turn = sg_mutex_init();
        s->waiting++;
        sg_mutex_lock(s->turn);
        s = stripe_at(f, i);
        double wait = price(s, want, node);
        if (wait > 0) {
            machine_count.lock_transfers++;
            machine_wait_until(s->busy);
            sg_actor_sleep_for(wait);
            s = stripe_at(f, i);
        }
    }
    if (locks && s->owner != node) s->owner = want;
    double done = serve(f, s, i, n);
    if (queue) {
        s->waiting--;
        sg_mutex_unlock(s->turn);
    }
    return done;
}

/* The bytes share the node's link with its messages, while the servers work. Small ones
 * fit in beside: simulating each as a flow would take more than it tells. */
static void transfer(struct store_file *f, int64_t offset, int64_t n, bool writing)
{
    enum { SMALL = 1 << 15 };
    const struct machine *m = machine_get();
    int node = machine_node();
    if (server_free == NULL)
        server_free = machine_grow(NULL, 0, machine_servers(), sizeof *server_free);
    double until = machine_now(), from = until;
    for (int64_t at = offset, end = offset + n, next; at < end; at = next) {
        long i = (long)(at / (int64_t)m->stripe);
        next = (int64_t)(i + 1) * (int64_t)m->stripe;
        if (next > end) next = end;
        double done = request(f, i, writing ? node : READERS, node, next - at);
        if (done > until) until = done;
    }
    if (m->process_rate > 0 && until < from + (double)n / m->process_rate)
        until = from + (double)n / m->process_rate;
    if (n >= SMALL) {
        if (store == NULL) store = sg_host_by_name("store");
        sg_host_t self = sg_host_self();
        sg_host_sendto(writing ? self : store, writing ? store : self, (double)n);
    } else {
        until += (double)n / m->link_rate;
    }
    machine_wait_until(until);
}

/* To see that wrong bytes are found. */
static bool spoiled(void)
{
    int64_t every = (int64_t)machine_get()->spoil;
    return every > 0 && machine_count.writes % every == 0;
}

/* The bytes move at the end, so that who takes a buffer back too early is found out. */
int64_t store_write(struct store_file *f, int64_t offset, const void *bytes, int64_t n)
{
    machine_settle();
    if (n > 0) transfer(f, offset, n, true);
    int64_t done = pwrite(f->fd, bytes, (size_t)n, (off_t)offset);
    machine_count.writes++;
    if (done > 0 && spoiled()) done -= 1 - pwrite(f->fd, "?", 1, (off_t)(offset + n / 2));
    machine_count.written_bytes += done > 0 ? done : 0;
    return done;
}

int64_t store_read(struct store_file *f, int64_t offset, void *bytes, int64_t n)
{
    struct stat st;
    machine_settle();
    if (fstat(f->fd, &st) != 0) return -1;
    if (n > st.st_size - offset) n = st.st_size > offset ? st.st_size - offset : 0;
    if (n > 0) transfer(f, offset, n, false);
    int64_t done = pread(f->fd, bytes, (size_t)n, (off_t)offset);
    machine_count.reads++;
    machine_count.read_bytes += done > 0 ? done : 0;
    return done;
}
