/* The parallel file system: a metadata server, and files that are striped over object
 * servers (machine_server.c) and protected by locks (machine_lock.c). The first file
 * starts at the first server and later files start at other servers, as a real metadata
 * server would assign them. Clients do not cache: a write completes when the server has
 * received it. The contents are stored in a real file. */
#include <errno.h>
#include <fcntl.h>
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine_lock.h"
#include "machine_server.h"

struct store_file {
    char *path;
    int fd, open;
    long first; /* server that stores the file's first stripe */
    long width; /* number of servers that store the file */
    dev_t device;
    ino_t inode;
    struct locks *locks;
    struct store_file *next;
};

static struct store_file *files;
static double metadata_free;
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

/* Returns the first server of the next file. Steps by the golden ratio, which spreads any
 * number of consecutive files evenly. */
static long first_server(void)
{
    static long nfiles;
    return (long)((double)nfiles++ * 0.6180339887 * machine_servers()) %
           machine_servers();
}

/* A file that is opened again still has its locks: nodes keep them after closing the
 * file. */
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
            f->width = machine_file_servers();
            f->locks = locks_new();
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

int store_delete(const char *path)
{
    machine_settle();
    metadata_request();
    struct store_file *f = find(path);
    if (f != NULL) locks_forget(f->locks);
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

/* A no-op, because written data is already on the servers. */
int store_sync(struct store_file *f)
{
    (void)f;
    machine_settle();
    return 0;
}

void store_narrow(struct store_file *f, int servers)
{
    f->width = servers;
}

static double serve(const struct lock_use *u)
{
    return server_serve(u->by, u->high - u->low);
}

/* Sends a request for bytes of stripe i to the stripe's server. Returns the time at which
 * the server is done. */
static double request(struct store_file *f, long i, bool writing, int64_t from,
                      int64_t to)
{
    int64_t stripe = (int64_t)machine_get()->stripe, object = (i / f->width - i) * stripe;
    long server = i % f->width;
    struct lock_use use = {.stripe = i,
                           .server = server,
                           .low = from + object,
                           .high = to + object,
                           .serve = serve,
                           .by = server_at((f->first + server) % machine_servers())};
    return locks_use(f->locks, &use, writing, machine_node());
}

/* Transfers bytes while the servers work. The bytes share the node's link with its MPI
 * messages. Small transfers are not simulated as network flows, which would slow down the
 * simulation but hardly change the result. */
static void transfer(struct store_file *f, int64_t offset, int64_t n, bool writing)
{
    enum { SMALL = 1 << 15 };
    const struct machine *m = machine_get();
    double until = machine_now(), from = until;
    for (int64_t at = offset, end = offset + n, next; at < end; at = next) {
        long i = (long)(at / (int64_t)m->stripe);
        next = (int64_t)(i + 1) * (int64_t)m->stripe;
        if (next > end) next = end;
        double done = request(f, i, writing, at, next);
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

/* Returns whether this write must store a wrong byte, which the verification must
 * detect. */
static bool spoiled(void)
{
    int64_t every = (int64_t)machine_get()->spoil;
    return every > 0 && machine_count.writes % every == 0;
}

/* Copies the bytes only when the transfer ends, to detect callers that reuse their buffer
 * too early. */
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
