/* Unfinished logs: found, held against the dataset, and replayed. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "burst.h"

/* ---- finding ---- */

/* Logs that this process has opened and locked. */
struct found {
    struct burst_reader **logs;
    int n, capacity;
    int64_t contested; /* logs that another opening is at */
};

static int make_room(struct found *f)
{
    int capacity = f->capacity * 2 + 16;
    if (f->n < f->capacity) return NC_NOERR;
    void *grown = base_realloc(f->logs, (size_t)capacity * sizeof(struct burst_reader *));
    if (grown == NULL) return NC_ENOMEM;
    f->logs = grown;
    f->capacity = capacity;
    return NC_NOERR;
}

static void tell_left(const struct burst *b, const char *path, const char *why)
{
    char line[PATH_MAX + 100];
    snprintf(line, sizeof line, "left alone: %s, %s", path, why);
    driver_stats_tell(b->base.ds, line);
}

/* What another user has put here is nobody's business, unless that is who has the
 * dataset: then values may be missing from it that only he can bring there. */
static int pass_by(const struct burst *b, const char *path, int64_t user)
{
    if (b->fd >= 0 && user != (int64_t)geteuid() && user == burst_file_owner(b))
        return base_error_set(NC_EBADLOG,
                              "log %s is that of user %lld, whose dataset this is, and "
                              "who has to recover it",
                              path, (long long)user);
    tell_left(b, path, "which is no file of this user's");
    return NC_NOERR;
}

static int take(const struct burst *b, struct found *f, const char *path)
{
    enum burst_busy busy = BURST_FREE;
    int64_t user = 0;
    int err = make_room(f);
    if (err != NC_NOERR) return err;
    switch (burst_whose(path, &user)) {
    case BURST_NOBODYS:
        return NC_NOERR; /* gone */
    case BURST_OTHERS:
        return pass_by(b, path, user);
    case BURST_OURS:
        break;
    }
    err = burst_reader_open(path, BURST_READ_LOCK, &f->logs[f->n], &busy);
    f->contested += busy == BURST_READ;
    if (busy != BURST_FREE || err == NC_ENOENT) return NC_NOERR;
    if (err == NC_NOERR) f->n++;
    return err;
}

static bool has_ending(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

/* The rank in a log's name, behind the token. */
static long rank_in(const char *name, const char *prefix)
{
    const char *dot = strchr(name + strlen(prefix), '.');
    return dot == NULL ? 0 : strtol(dot + 1, NULL, 10);
}

/* Calls each(name) for the dataset's metadata logs, or for the other files of its logs.
 */
static int for_each_file(const struct burst *b, struct found *f, bool meta,
                         int (*each)(const struct burst *, struct found *,
                                     const char *path, long rank))
{
    char prefix[256], path[PATH_MAX];
    DIR *dir = opendir(b->dir);
    struct dirent *entry;
    int first = NC_NOERR;
    if (dir == NULL) return NC_NOERR; /* no directory, no logs */
    burst_log_prefix(b, prefix, sizeof prefix);
    while ((entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
            has_ending(entry->d_name, ".meta") != meta)
            continue;
        snprintf(path, sizeof path, "%s/%s", b->dir, entry->d_name);
        int err = each(b, f, path, rank_in(entry->d_name, prefix));
        if (first == NC_NOERR) first = err;
    }
    closedir(dir);
    return first;
}

static int for_each_log(const struct burst *b, struct found *f,
                        int (*each)(const struct burst *, struct found *,
                                    const char *path, long rank))
{
    return for_each_file(b, f, true, each);
}

/* What a killed program has left over can go, but for values without their entries. */
static int sweep(const struct burst *b, struct found *f, const char *path, long rank)
{
    int64_t user;
    (void)f, (void)rank;
    if (burst_whose(path, &user) == BURST_OURS &&
        burst_left(path, true) == BURST_LEFT_VALUES)
        tell_left(b, path, "whose metadata log is gone");
    return NC_NOERR;
}

static int take_mine(const struct burst *b, struct found *f, const char *path, long rank)
{
    return rank % b->base.ds->nprocs == b->base.ds->rank ? take(b, f, path) : NC_NOERR;
}

static int take_any(const struct burst *b, struct found *f, const char *path, long rank)
{
    return rank % b->base.ds->nprocs == b->base.ds->rank ? NC_NOERR : take(b, f, path);
}

static bool first_of_node(const struct burst *b)
{
    int rank = 0;
    MPI_Comm_rank(b->node, &rank);
    return rank == 0;
}

static void let_go(struct found *f)
{
    for (int i = 0; i < f->n; i++)
        burst_reader_close(f->logs[i]);
    base_free(f->logs);
    *f = (struct found){0};
}

/* As the file has it now: whoever recovered it may just have made it longer. */
static int64_t records_in_file(const struct burst *b)
{
    const struct driver_dataset *ds = b->base.ds;
    size_t width = ds->header.format == 5 ? 8 : 4;
    unsigned char bytes[8];
    int64_t n = 0;
    if (ds->rank != 0 || b->fd < 0 ||
        burst_read_file(b->fd, 4, bytes, (int64_t)width, b->path) != NC_NOERR)
        return 0;
    for (size_t i = 0; i < width; i++)
        n = (int64_t)((uint64_t)n << 8 | bytes[i]);
    return n < 0 || (width == 4 && n == UINT32_MAX) ? 0 : n; /* all ones: not known */
}

/* Each process takes those logs that are its own by their numbers; those that no such
 * process sees, one of each node takes (what is locked then, is so by the others of this
 * opening). None, where another opening has one. */
static int take_logs_all(struct burst *b, struct found *f)
{
    struct driver_dataset *ds = b->base.ds;
    *f = (struct found){0};
    int err = for_each_log(b, f, take_mine);
    err = driver_agree_all(ds, err, NULL, &f->contested, 1);
    int64_t contested = f->contested;
    if (err == NC_NOERR && contested == 0 && first_of_node(b))
        err = for_each_log(b, f, take_any);
    f->contested = contested;
    int64_t records = records_in_file(b);
    err = driver_agree_all(ds, err, NULL, &records, 1);
    if (records > ds->header.numrecs && ds->header.nrecord_vars > 0)
        ds->header.numrecs = records;
    return err;
}

/* Another opening that recovers the dataset has its logs locked, as long as it lives: it
 * is waited for, until it has removed them or is dead. Nobody waits with a lock, and two
 * openings do not try again at the same times, so that none keeps the other from all. */
static int find_all(struct burst *b, struct found *f)
{
    enum { SHORTEST = 5, LONGEST = 1000 }; /* milliseconds */
    int64_t longest = SHORTEST;
    unsigned seed = (unsigned)b->base.ds->rank + (unsigned)getpid();
    int err;
    while ((err = take_logs_all(b, f)) == NC_NOERR && f->contested > 0) {
        let_go(f);
        int64_t wait = b->base.ds->rank == 0 ? 1 + rand_r(&seed) % longest : 0;
        err = driver_agree_all(b->base.ds, NC_NOERR, NULL, &wait, 1);
        if (err != NC_NOERR) return err;
        const struct timespec pause = {wait / 1000, wait % 1000 * 1000000};
        nanosleep(&pause, NULL);
        longest = longest * 2 < LONGEST ? longest * 2 : LONGEST;
    }
    return err;
}

static int discard(const struct burst *b, struct found *f, const char *path, long rank)
{
    enum burst_busy busy;
    struct burst_reader *r;
    int64_t user;
    (void)b, (void)f, (void)rank;
    if (burst_whose(path, &user) != BURST_OURS) return NC_NOERR;
    burst_reader_open(path, BURST_READ_LOCK, &r, &busy);
    if (busy == BURST_FREE) burst_remove(path, true);
    burst_reader_close(r);
    return NC_NOERR;
}

void burst_discard(struct burst *b)
{
    if (!first_of_node(b)) return;
    for_each_log(b, NULL, discard);
    for_each_file(b, NULL, false, sweep);
}

/* ---- is it ours, and whole? ---- */

static int check_dataset(const struct burst *b, const struct burst_reader *r)
{
    const struct driver_dataset *ds = b->base.ds;
    const struct burst_header *h = burst_reader_header(r);
    int64_t count, drained, generation;
    burst_reader_counts(r, &count, &drained, &generation);
    if (h->version == 0 && !b->by_hand) /* it does not say more than a name */
        return base_error_set(
            NC_EBADLOG, "log %s is of PnetCDF's format, which only ncmpilog replays",
            burst_reader_path(r));
    if (h->version == 0) return NC_NOERR;
    if (count == drained) return NC_NOERR; /* nothing waits, whatever it was of */
    if (h->format != ds->header.format ||
        h->definitions != burst_definitions(&ds->header))
        return base_error_set(NC_EBADLOG, "log %s is of a dataset with other definitions",
                              burst_reader_path(r));
    if (!b->any_file && !burst_file_is(b, h, !burst_reader_rebooted(r)))
        return base_error_set(NC_EBADLOG, "log %s is of another file that had this name",
                              burst_reader_path(r));
    return NC_NOERR;
}

static int check_entries(struct burst_reader *r)
{
    struct burst_entry e;
    bool more;
    int err;
    burst_reader_rewind(r);
    while ((err = burst_reader_next(r, false, &e, &more)) == NC_NOERR && more)
        if ((err = burst_reader_check(r, &e)) != NC_NOERR) return err;
    return err == NC_NOERR ? burst_reader_complete(r) : err;
}

/* Is the log one that can be replayed? After a power cut what was synced has to be there:
 * the definitions may not be, where nothing was. */
static int check_log(const struct burst *b, struct burst_reader *r)
{
    bool rebooted = burst_reader_rebooted(r);
    int err = rebooted ? burst_reader_trim(r) : NC_NOERR;
    if (err != NC_NOERR) return err;
    err = check_dataset(b, r);
    if (err == NC_EBADLOG && rebooted && !burst_reader_synced(r)) {
        burst_reader_forget(r);
        err = NC_NOERR;
    }
    return err == NC_NOERR && !b->any_log ? check_entries(r) : err;
}

/* ---- what an entry asks for ---- */

static int bad_entry(const struct burst_reader *r, const struct burst_entry *e)
{
    return base_error_set(NC_EBADLOG, "log %s: entry %lld does not fit the dataset",
                          burst_reader_path(r), (long long)e->seq);
}

/* Does the slab lie within the variable, and have as many elements as it should? */
static bool fits(const struct cdf_header *h, const struct cdf_var *v,
                 const struct burst_write *w, int64_t nelems)
{
    int64_t n = 1;
    for (int i = 0; i < v->ndims; i++) {
        int64_t start = w->slab[i], count = w->slab[v->ndims + i], last;
        int64_t stride = w->strided ? w->slab[2 * v->ndims + i] : 1;
        int64_t length = i > 0 || !v->is_record ? v->shape[i] : cdf_max_records(h);
        if (start < 0 || count < 1 || stride < 1 || start >= length ||
            __builtin_mul_overflow(count - 1, stride, &last) || last >= length - start ||
            __builtin_mul_overflow(n, count, &n))
            return false;
    }
    return n == nelems;
}

static bool runs_fit(const struct cdf_header *h, const struct cdf_var *v,
                     const struct burst_write *w, int64_t bytes)
{
    int64_t size = cdf_type_size(v->type), all = 0;
    int64_t end = v->nelems * size;
    if (v->is_record)
        end = cdf_max_records(h) * h->record_size - (v->begin - h->begin_record);
    for (int64_t i = 0; i < w->slab[0]; i++) {
        int64_t at = w->slab[1 + 2 * i], length = w->slab[2 + 2 * i];
        if (at < 0 || length < 1 || length % size != 0 || length > end ||
            at > end - length)
            return false;
        all += length;
    }
    return all == bytes;
}

static struct burst_write *write_of_runs(struct burst *b, const struct burst_entry *e)
{
    struct burst_write *w = burst_new_write(b, e->varid, 1 + 2 * (size_t)e->nreqs);
    if (w == NULL) return NULL;
    w->slab[0] = e->nreqs;
    for (int64_t i = 0; i < e->nreqs; i++) {
        w->slab[1 + 2 * i] = e->start[i];
        w->slab[2 + 2 * i] = e->count[i];
    }
    return w;
}

/* Request i of an entry. */
static struct burst_write *write_of_slab(struct burst *b, const struct burst_entry *e,
                                         int64_t i)
{
    bool strided = e->stride != NULL;
    struct burst_write *w =
        burst_new_write(b, e->varid, (size_t)e->ndims * (strided ? 3 : 2));
    if (w == NULL) return NULL;
    w->strided = strided;
    for (int d = 0; d < e->ndims; d++) {
        w->slab[d] = e->start[i * e->ndims + d];
        bool one = e->count == NULL || e->kind == BURST_VAR1;
        w->slab[e->ndims + d] = one ? 1 : e->count[i * e->ndims + d];
        if (strided) w->slab[2 * e->ndims + d] = e->stride[d];
    }
    return w;
}

static int64_t elements_of(const struct burst_write *w, int ndims)
{
    int64_t n = 1;
    for (int i = 0; i < ndims; i++)
        if (__builtin_mul_overflow(n, w->slab[ndims + i], &n) || n < 0) return -1;
    return n;
}

/* The writes of one entry, one for each of a varn's requests. */
static int load_entry(struct burst *b, int source, const struct burst_entry *e)
{
    const struct burst_reader *r = b->sources[source];
    const struct cdf_header *h = &b->base.ds->header;
    const struct burst_header *log = burst_reader_header(r);
    if (e->varid >= h->nvars) return bad_entry(r, e);
    const struct cdf_var *v = &h->vars[e->varid];
    bool raw = e->flags & BURST_RAW, fill = e->flags & BURST_FILL;
    int type = log->is_external ? conv_type_of(v->type) : burst_conv_type(e->itype);
    int64_t size = conv_size((enum conv_type)type), off = e->data_off;
    if (conv_check(v->type, (enum conv_type)type) != NC_NOERR ||
        (!raw && e->ndims != v->ndims) || (raw && (e->ndims != 1 || e->count == NULL)))
        return bad_entry(r, e);
    for (int64_t i = 0; i < (raw ? 1 : e->nreqs); i++) {
        struct burst_write *w = raw ? write_of_runs(b, e) : write_of_slab(b, e, i);
        if (w == NULL) return NC_ENOMEM;
        w->nelems = raw ? e->data_len / size : elements_of(w, v->ndims);
        w->type = (unsigned char)type;
        w->external = log->is_external;
        w->flags = (unsigned char)e->flags;
        if (fill) cdf_fill_value(h, e->varid, w->fill);
        w->data_off = off;
        w->epoch = e->epoch;
        w->source = source;
        if (raw ? !runs_fit(h, v, w, e->data_len) : !fits(h, v, w, w->nelems))
            return bad_entry(r, e);
        if (!fill) off += w->nelems * size;
        if (off > e->data_off + e->data_len) return bad_entry(r, e);
        int err = burst_add_write(b, w);
        if (err != NC_NOERR) return err;
    }
    return NC_NOERR;
}

static int load(struct burst *b, int source)
{
    struct burst_reader *r = b->sources[source];
    struct burst_entry e;
    bool more;
    int err;
    burst_reader_rewind(r);
    while ((err = burst_reader_next(r, false, &e, &more)) == NC_NOERR && more) {
        if (e.flags & BURST_CANCELLED) continue;
        if (b->any_log && burst_reader_check(r, &e) != NC_NOERR) continue;
        if ((err = load_entry(b, source, &e)) != NC_NOERR) return err;
    }
    return b->any_log && err == NC_EBADLOG ? NC_NOERR : err;
}

/* ---- replaying ---- */

static uint64_t token_of(const struct burst_reader *r)
{
    return burst_reader_header(r)->token;
}

static int64_t generation_of(const struct burst_reader *r)
{
    int64_t count, drained, generation;
    burst_reader_counts(r, &count, &drained, &generation);
    return generation;
}

/* Of the logs of one opening, those that have not reached the generation that another
 * has: all of theirs is in the file already. */
static int newest_generation_all(struct burst *b, uint64_t token, int64_t *generation)
{
    *generation = -1;
    for (int i = 0; i < b->nsources; i++)
        if (token_of(b->sources[i]) == token &&
            generation_of(b->sources[i]) > *generation)
            *generation = generation_of(b->sources[i]);
    return driver_agree_all(b->base.ds, NC_NOERR, NULL, generation, 1);
}

/* How many processes' entries the logs of an opening hold, and how many there were. */
static int missing_all(struct burst *b, uint64_t token, int64_t *logged, int64_t *ranks)
{
    int64_t sums[2] = {0, 0}; /* processes whose log is here, entries that wait */
    *ranks = 0;
    for (int i = 0; i < b->nsources; i++) {
        int64_t count, drained, generation;
        const struct burst_header *h = burst_reader_header(b->sources[i]);
        if (h->token != token) continue;
        burst_reader_counts(b->sources[i], &count, &drained, &generation);
        sums[0] += h->nslots;
        sums[1] += count - drained;
        *ranks = h->num_ranks;
    }
    int mpi =
        MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, b->base.ds->comm);
    int err = base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
    err = driver_agree_all(b->base.ds, err, NULL, ranks, 1);
    *logged = sums[0];
    if (sums[1] == 0) *logged = *ranks; /* nothing waits: nothing is missed */
    return err;
}

struct turn {
    struct burst_write *w;
    int64_t i;
};

static int by_epoch(const void *a, const void *b)
{
    const struct turn *p = a, *q = b;
    if (p->w->epoch != q->w->epoch) return p->w->epoch < q->w->epoch ? -1 : 1;
    return p->i < q->i ? -1 : p->i > q->i;
}

/* The writes of several logs that one process replays, in the order of the collective
 * calls. */
static int put_in_order(struct burst *b)
{
    struct turn *turns = base_malloc((size_t)b->nwrites * sizeof *turns);
    if (turns == NULL) return NC_ENOMEM;
    for (int64_t i = 0; i < b->nwrites; i++)
        turns[i] = (struct turn){b->writes[i], i};
    qsort(turns, (size_t)b->nwrites, sizeof *turns, by_epoch);
    for (int64_t i = 0; i < b->nwrites; i++)
        b->writes[i] = turns[i].w;
    base_free(turns);
    return NC_NOERR;
}

static int replay_opening_all(struct burst *b, uint64_t token)
{
    int64_t generation, logged = 0, ranks = 0;
    int err = newest_generation_all(b, token, &generation);
    if (err == NC_NOERR && token != 0) err = missing_all(b, token, &logged, &ranks);
    if (err == NC_NOERR && token != 0 && logged < ranks && !b->any_log)
        err = base_error_set(NC_EBADLOG,
                             "the logs of %lld of %lld processes are missing from %s",
                             (long long)(ranks - logged), (long long)ranks, b->dir);
    for (int i = 0; i < b->nsources && err == NC_NOERR; i++)
        if (token_of(b->sources[i]) == token &&
            generation_of(b->sources[i]) == generation)
            err = load(b, i);
    if (err == NC_NOERR && b->nwrites > 0) err = put_in_order(b);
    err = driver_agree_all(b->base.ds, err, NULL, NULL, 0);
    for (int64_t i = 0; i < b->nwrites && err == NC_NOERR; i++)
        b->base.ds->stats.burst_replayed_bytes += burst_bytes(b->writes[i]);
    return err == NC_NOERR ? burst_drain_all(b, BURST_ALL) : err;
}

/* The least token above `after` of all processes. */
static int next_token_all(struct burst *b, bool *any, uint64_t *token)
{
    uint64_t after = *token, next = INT64_MAX;
    bool first = !*any;
    for (int i = 0; i < b->nsources; i++) {
        uint64_t t = token_of(b->sources[i]);
        if ((first || t > after) && t < next) next = t;
    }
    int64_t value = -(int64_t)next;
    int err = driver_agree_all(b->base.ds, NC_NOERR, NULL, &value, 1);
    *any = err == NC_NOERR && value != -INT64_MAX;
    *token = (uint64_t)-value;
    return err;
}

/* What the logs of one opening know together. */
struct known {
    struct burst_note note;
    int64_t waiting; /* entries of the log with most */
    bool quiet;
};

static void add_log(const struct burst_reader *r, struct known *k)
{
    struct burst_note note;
    int64_t count, drained, generation;
    burst_reader_counts(r, &count, &drained, &generation);
    if (count - drained > k->waiting) k->waiting = count - drained;
    if (!burst_reader_note(r, &note) || burst_reader_rebooted(r)) k->quiet = false;
    if (note.when > k->note.when) k->note.when = note.when;
    if (note.mtime > k->note.mtime) k->note.mtime = note.mtime;
    if (note.size > k->note.size) k->note.size = note.size;
}

static int ask_opening_all(struct burst *b, uint64_t token, struct known *k)
{
    int64_t generation;
    *k = (struct known){.quiet = true};
    int err = newest_generation_all(b, token, &generation);
    for (int i = 0; i < b->nsources && err == NC_NOERR; i++)
        if (token_of(b->sources[i]) == token &&
            generation_of(b->sources[i]) == generation)
            add_log(b->sources[i], k);
    int64_t all[] = {k->waiting, !k->quiet, k->note.when, k->note.mtime, k->note.size};
    err = driver_agree_all(b->base.ds, err, NULL, all, 5);
    *k = (struct known){{.when = all[2], .mtime = all[3], .size = all[4]},
                        .waiting = all[0],
                        .quiet = !all[1]};
    return err;
}

/* Does the file hold what the job left there, for each opening whose logs these are?
 * Before any is replayed, which changes it. Is there anything to be replayed at all? */
static int check_file_all(struct burst *b, bool *waiting)
{
    int err, mine = NC_NOERR;
    bool any = false;
    uint64_t token = 0;
    *waiting = false;
    while ((err = next_token_all(b, &any, &token)) == NC_NOERR && any) {
        struct known k;
        err = ask_opening_all(b, token, &k);
        if (err != NC_NOERR) return err;
        if (k.waiting == 0) continue;
        *waiting = true;
        if (token == 0 || b->any_file || b->base.ds->rank != 0 || mine != NC_NOERR)
            continue; /* version 0 knows nothing of the file */
        mine = burst_file_unchanged(b, &k.note, k.quiet);
    }
    return driver_agree_all(b->base.ds, err != NC_NOERR ? err : mine, NULL, NULL, 0);
}

/* For whoever comes after this process, should it be killed: the file changes. */
static int start_replay(struct burst *b)
{
    struct burst_note note = {0};
    int err = NC_NOERR;
    burst_file_note(b, &note);
    note.changing = 1;
    for (int i = 0; i < b->nsources && err == NC_NOERR && !b->any_file; i++)
        err = burst_reader_set_note(b->sources[i], note);
    return err;
}

static void use(struct burst *b, struct burst_reader **logs, int n)
{
    b->sources = logs;
    b->nsources = n;
}

int burst_replay_all(struct burst *b, struct burst_reader **logs, int n)
{
    int err = NC_NOERR;
    bool any = false, waiting = false;
    uint64_t token = 0;
    use(b, logs, n);
    for (int i = 0; i < n && err == NC_NOERR; i++)
        err = check_log(b, logs[i]);
    err = driver_agree_all(b->base.ds, err, NULL, NULL, 0);
    if (err == NC_NOERR) err = check_file_all(b, &waiting);
    if (err == NC_NOERR && waiting)
        err = driver_agree_all(b->base.ds, start_replay(b), NULL, NULL, 0);
    while (err == NC_NOERR && (err = next_token_all(b, &any, &token)) == NC_NOERR && any)
        err = replay_opening_all(b, token);
    use(b, NULL, 0);
    return err;
}

int burst_replayed(const struct burst *b, struct burst_reader **logs, int n)
{
    struct burst_note note = {0};
    int err = NC_NOERR;
    if (b->any_file || !burst_file_note(b, &note)) return NC_NOERR;
    for (int i = 0; i < n && err == NC_NOERR; i++)
        err = burst_reader_set_note(logs[i], note);
    return err;
}

/* A dataset that is open for reading only is opened once more for that. */
static int recover_for_reading_all(struct burst *b)
{
    struct driver_dataset *ds = b->base.ds, again = *ds;
    struct driver *top;
    again.writable = true;
    cdf_init(&again.header, 1);
    int err = driver_open_all(&again, NC_WRITE, &top);
    if (err == NC_NOERR) {
        driver_hold_records(ds, again.header.numrecs);
        err = driver_close_all(top);
    }
    cdf_free(&again.header);
    return err;
}

/* The words in which a process says what is wrong with a log reach all. */
static int share_words_all(struct driver_dataset *ds, int err)
{
    char text[512];
    int64_t who = err != NC_NOERR ? ds->nprocs - ds->rank : 0;
    snprintf(text, sizeof text, "%s", base_error_detail(err));
    int64_t first = who;
    int worst = driver_agree_all(ds, err, NULL, &first, 1);
    if (worst == NC_NOERR) return NC_NOERR;
    if (first > 0 && MPI_Bcast(text, sizeof text, MPI_CHAR, ds->nprocs - (int)first,
                               ds->comm) == MPI_SUCCESS)
        return base_error_set(worst, "%s", text);
    return worst;
}

static int tell_waiting(const struct burst *b)
{
    if (b->base.ds->hints.burst_recover == BASE_RECOVER_ERROR)
        return base_error_set(NC_EBADLOG, "unfinished logs of this dataset are in %s",
                              b->dir);
    return base_error_set(NC_EBADLOG,
                          "values of this dataset wait in unfinished logs in %s: open it "
                          "for writing once, run ncmpilog replay -r, or allow it at an "
                          "open for reading (hint nc_burst_buf_recover=always)",
                          b->dir);
}

/* Replays, makes sure that it is on the device, and only then removes the logs. */
static int replay_found_all(struct burst *b, struct found *f)
{
    struct driver_dataset *ds = b->base.ds;
    int64_t policy = ds->hints.burst_recover;
    if (!ds->writable || policy == BASE_RECOVER_ERROR) {
        bool waiting;
        use(b, f->logs, f->n);
        int err = check_file_all(b, &waiting);
        use(b, NULL, 0);
        if (err != NC_NOERR) return share_words_all(ds, err);
        if (waiting && policy != BASE_RECOVER_ALWAYS) return tell_waiting(b);
        if (!waiting && !ds->writable) return NC_NOERR;
    }
    if (!ds->writable) {
        let_go(f);
        return recover_for_reading_all(b);
    }
    int err = share_words_all(ds, burst_replay_all(b, f->logs, f->n));
    if (err == NC_NOERR) err = driver_sync_all(b->base.lower);
    /* None of them is missed, when one goes after the other. */
    for (int i = 0; i < f->n && err == NC_NOERR; i++)
        err = burst_reader_drained(f->logs[i]);
    err = driver_agree_all(ds, err, NULL, NULL, 0);
    for (int i = 0; i < f->n && err == NC_NOERR; i++)
        burst_reader_remove(f->logs[i]);
    /* They must not come back after a power cut, when other values are in their places.
     */
    if (err == NC_NOERR && f->n > 0)
        err = burst_sync_directory(burst_reader_path(f->logs[0]));
    return driver_agree_all(ds, err, NULL, NULL, 0);
}

int burst_recover_all(struct burst *b)
{
    struct found f;
    if (b->base.ds->hints.burst_recover == BASE_RECOVER_DISABLE) return NC_NOERR;
    if (first_of_node(b)) for_each_file(b, NULL, false, sweep);
    int err = share_words_all(b->base.ds, find_all(b, &f));
    if (err == NC_NOERR) {
        int64_t any = f.n;
        err = driver_agree_all(b->base.ds, NC_NOERR, NULL, &any, 1);
        if (err == NC_NOERR && any > 0) err = replay_found_all(b, &f);
    }
    let_go(&f);
    return err;
}
