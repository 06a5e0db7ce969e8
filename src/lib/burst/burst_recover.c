/* Unfinished logs that burst_find.c has found: held against the dataset, and replayed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "burst.h"

/* ---- is it ours, and whole? ---- */

static int check_dataset(const struct burst *b, const struct burst_reader *r)
{
    const struct dataset *ds = b->base.ds;
    const struct burst_header *h = burst_reader_header(r);
    int64_t count, drained, generation;
    burst_reader_counts(r, &count, &drained, &generation);
    if (h->version == 0 && !b->by_hand) /* it does not say more than a name */
        return base_error_set(
            NC_EBADLOG, "log %s is of PnetCDF's format, which only ncmpilog replays",
            burst_reader_path(r));
    if (h->version == 0) return NC_NOERR;
    if (count == drained) return NC_NOERR; /* nothing waits, whatever it was of */
    if (h->format != ds->header.format || !burst_reader_fits(r, burst_definitions(ds)))
        return base_error_set(NC_EBADLOG, "log %s is of a dataset with other definitions",
                              burst_reader_path(r));
    if (!b->any_file && b->file.fd < 0) /* and it may be that, or not */
        return base_error_set(NC_EFILE, "%s cannot be opened, to which log %s belongs",
                              b->path, burst_reader_path(r));
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
static bool entry_fits(const struct cdf_header *h, const struct cdf_var *v,
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
            at > end - length || __builtin_add_overflow(all, length, &all))
            return false;
    }
    return all == bytes;
}

static struct burst_write *write_of_logged_runs(struct burst *b,
                                                const struct burst_entry *e)
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
static struct burst_write *write_of_logged_slab(struct burst *b,
                                                const struct burst_entry *e, int64_t i)
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

/* -1: not even a hostile log may ask for that. */
static int64_t elements_of(const struct burst_write *w, int ndims)
{
    int64_t n = 1;
    for (int i = 0; i < ndims; i++) {
        int64_t count = w->slab[ndims + i];
        if (count < 0 || __builtin_mul_overflow(n, count, &n)) return -1;
    }
    return n;
}

/* Takes the bytes of n values from the `left` ones of an entry. False: there are fewer.
 */
static bool take_bytes(int64_t n, int64_t size, int64_t *off, int64_t *left)
{
    int64_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > *left) return false;
    *off += bytes;
    *left -= bytes;
    return true;
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
    int64_t size = conv_size((enum conv_type)type), off = e->data_off, left = e->data_len;
    if (conv_check(v->type, (enum conv_type)type) != NC_NOERR ||
        (!raw && e->ndims != v->ndims) ||
        (raw && (e->ndims != 1 || e->count == NULL || size != cdf_type_size(v->type))))
        return bad_entry(r, e);
    for (int64_t i = 0; i < (raw ? 1 : e->nreqs); i++) {
        struct burst_write *w =
            raw ? write_of_logged_runs(b, e) : write_of_logged_slab(b, e, i);
        if (w == NULL) return NC_ENOMEM;
        w->nelems = raw ? e->data_len / size : elements_of(w, v->ndims);
        if (w->nelems == 0 && !raw) continue; /* PnetCDF logs empty parts of a varn */
        w->type = (unsigned char)type;
        w->external = log->is_external;
        w->flags = (unsigned char)e->flags;
        if (fill) cdf_fill_value(h, e->varid, w->fill);
        w->data_off = off;
        w->epoch = e->epoch;
        w->source = source;
        if (raw ? !runs_fit(h, v, w, e->data_len) : !entry_fits(h, v, w, w->nelems))
            return bad_entry(r, e);
        if (!fill && !take_bytes(w->nelems, size, &off, &left)) return bad_entry(r, e);
        int err = burst_add_write(b, w);
        if (err != NC_NOERR) return err;
    }
    return NC_NOERR;
}

static int load_logs(struct burst *b, int source)
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
    return dataset_agree_all(b->base.ds, NC_NOERR, NULL, generation, 1);
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
    err = dataset_agree_all(b->base.ds, err, NULL, ranks, 1);
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
            err = load_logs(b, i);
    if (err == NC_NOERR && b->nwrites > 0) err = put_in_order(b);
    err = dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
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
    int err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, &value, 1);
    *any = err == NC_NOERR && value != -INT64_MAX;
    *token = (uint64_t)-value;
    return err;
}

/* What the logs of one opening know together. */
struct known {
    struct burst_note note;
    int64_t waiting; /* entries of the log with most */
    int what;        /* of them: BURST_UNQUIET ... */
};

/* A log of the generation before, too, knows what its processes did to the file. */
static void add_known_log(const struct burst_reader *r, bool newest, struct known *k)
{
    struct burst_note note;
    int64_t count, drained, generation;
    burst_reader_counts(r, &count, &drained, &generation);
    if (newest && count - drained > k->waiting) k->waiting = count - drained;
    if (!burst_reader_note(r, &note)) k->what |= BURST_UNQUIET;
    if (burst_reader_rebooted(r)) k->what |= BURST_REBOOTED;
    if (burst_reader_copied(r)) k->what |= BURST_COPIED;
    if (note.when > k->note.when) k->note.when = note.when;
    if (note.mtime > k->note.mtime) k->note.mtime = note.mtime;
    if (note.size > k->note.size) k->note.size = note.size;
}

static int ask_opening_all(struct burst *b, uint64_t token, struct known *k)
{
    int64_t generation;
    *k = (struct known){.waiting = 0};
    int err = newest_generation_all(b, token, &generation);
    for (int i = 0; i < b->nsources && err == NC_NOERR; i++)
        if (token_of(b->sources[i]) == token)
            add_known_log(b->sources[i], generation_of(b->sources[i]) == generation, k);
    int64_t all[] = {k->waiting,
                     k->note.when,
                     k->note.mtime,
                     k->note.size,
                     k->what & BURST_UNQUIET,
                     k->what & BURST_REBOOTED,
                     k->what & BURST_COPIED};
    err = dataset_agree_all(b->base.ds, err, NULL, all, 7);
    *k = (struct known){{.when = all[1], .mtime = all[2], .size = all[3]},
                        .waiting = all[0],
                        .what = (int)(all[4] | all[5] | all[6])};
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
        bool damaged = b->base.ds->netcdf4 && (k.what & BURST_UNQUIET);
        if (k.waiting == 0 && !damaged) continue;
        *waiting |= k.waiting > 0;
        if (token == 0 || b->any_file || b->base.ds->rank != 0 || mine != NC_NOERR)
            continue; /* version 0 knows nothing of the file */
        mine = burst_file_unchanged(b, &k.note, k.what);
    }
    return dataset_agree_all(b->base.ds, err != NC_NOERR ? err : mine, NULL, NULL, 0);
}

/* For the next reader, should this one be killed: the logs are those that count, copies
 * or not, and the file changes. All are taken for that before any says so. */
static int start_replay_all(struct burst *b)
{
    struct burst_note note = {0};
    int err = NC_NOERR;
    for (int i = 0; i < b->nsources && err == NC_NOERR && !b->any_file; i++)
        err = burst_reader_adopt(b->sources[i]);
    err = dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
    burst_file_note(b, &note);
    note.changing = 1;
    for (int i = 0; i < b->nsources && err == NC_NOERR && !b->any_file; i++)
        err = burst_reader_set_note(b->sources[i], note);
    return dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
}

static void use(struct burst *b, struct burst_reader **logs, int n)
{
    b->sources = logs;
    b->nsources = n;
}

/* ---- before each write of the layers below ---- */

/* Its logs are another process's by now. */
static int nothing_more(void *asked)
{
    (void)asked;
    return base_error_set(NC_EFILE,
                          "the logs were taken over by another process: nothing "
                          "more is written by this one");
}

/* Others may have taken the logs over. */
static int may_write(void *asked)
{
    struct burst *b = asked;
    int err = NC_NOERR;
    burst_change_lasts(b);
    for (int i = 0; i < b->nwatched && err == NC_NOERR; i++)
        err = burst_reader_check_mine(b->watched[i]);
    if (err != NC_NOERR) b->base.ds->may_write = nothing_more;
    return err;
}

void burst_watch_writes(struct burst *b)
{
    b->base.ds->may_write = may_write;
    b->base.ds->asked = b;
}

void burst_unwatch_writes(struct burst *b)
{
    if (b->base.ds->may_write == may_write) b->base.ds->may_write = NULL;
}

void burst_unwatch(struct burst *b)
{
    b->nwatched = 0;
}

int burst_replay_all(struct burst *b, struct burst_reader **logs, int n)
{
    int err = NC_NOERR;
    bool any = false, waiting = false;
    uint64_t token = 0;
    use(b, logs, n);
    b->watched = logs;
    b->nwatched = n;
    for (int i = 0; i < n && err == NC_NOERR; i++)
        err = check_log(b, logs[i]);
    err = dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
    if (err == NC_NOERR) err = check_file_all(b, &waiting);
    if (err == NC_NOERR && waiting) err = start_replay_all(b);
    while (err == NC_NOERR && (err = next_token_all(b, &any, &token)) == NC_NOERR && any)
        err = replay_opening_all(b, token);
    use(b, NULL, 0);
    /* Rather than what could not be written, who writes it now. */
    return b->base.ds->may_write == nothing_more ? may_write(b) : err;
}

/* A log whose entries stay to be replayed once more: to another file, or when what is
 * lost of it has been found. */
static bool stays_whole(const struct burst *b, bool remove)
{
    return !remove && (b->any_file || b->any_log);
}

int burst_replayed_all(struct burst *b, struct burst_reader **logs, int n, bool remove)
{
    struct dataset *ds = b->base.ds;
    int err = driver_call(b->base.lower, sync_all);
    /* None of them is missed, when one goes after the other. */
    for (int i = 0; i < n && err == NC_NOERR && !stays_whole(b, remove); i++)
        err = burst_reader_drained(logs[i]);
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    for (int i = 0; i < n && err == NC_NOERR && remove; i++)
        err = burst_reader_remove(logs[i]);
    /* They must not come back after a power cut, when other values are in their places.
     */
    if (err == NC_NOERR && n > 0 && remove)
        err = base_sync_directory(burst_reader_path(logs[0]));
    return dataset_agree_all(ds, err, NULL, NULL, 0);
}

/* A dataset that is open for reading only is opened once more for that. */
static int recover_for_reading_all(struct burst *b)
{
    struct dataset *ds = b->base.ds, again = *ds;
    struct driver *top;
    again.writable = true;
    again.lent = NULL; /* that can only be read */
    cdf_init(&again.header, 1);
    int err = driver_open_all(&again, NC_WRITE, &top);
    if (err == NC_NOERR) {
        dataset_hold_records(ds, again.header.numrecs);
        err = driver_call(top, close_all, false);
    }
    cdf_free(&again.header);
    return err;
}

int burst_share_words_all(struct dataset *ds, int err)
{
    char text[512];
    snprintf(text, sizeof text, "%s", base_error_detail(err));
    int64_t first = err != NC_NOERR && text[0] != '\0' ? ds->nprocs - ds->rank : 0;
    int worst = dataset_agree_all(ds, err, NULL, &first, 1);
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
                          "for writing once, or run ncmpilog replay -r%s",
                          b->dir,
                          b->base.ds->netcdf4 ? ""
                                              : ", or allow it at an open for reading "
                                                "(hint nc_burst_buf_recover=always)");
}

/* Replays, makes sure that it is on the device, and only then removes the logs. */
static int replay_found_all(struct burst *b, struct burst_found *f)
{
    struct dataset *ds = b->base.ds;
    int64_t policy = ds->hints.burst_recover;
    if (!ds->writable || policy == BASE_RECOVER_ERROR) {
        bool waiting;
        use(b, f->logs, f->n);
        int err = check_file_all(b, &waiting);
        use(b, NULL, 0);
        if (err != NC_NOERR) return burst_share_words_all(ds, err);
        /* HDF5 does not open a file for writing that is open for reading. */
        bool may = policy == BASE_RECOVER_ALWAYS && (ds->writable || !ds->netcdf4);
        if (waiting && !may) return tell_waiting(b);
        if (!waiting && !ds->writable) return NC_NOERR;
    }
    if (!ds->writable) {
        burst_let_go(f);
        return recover_for_reading_all(b);
    }
    int err = burst_share_words_all(ds, burst_replay_all(b, f->logs, f->n));
    return err == NC_NOERR ? burst_replayed_all(b, f->logs, f->n, true) : err;
}

int burst_recover_all(struct burst *b)
{
    struct burst_found f;
    if (b->base.ds->hints.burst_recover == BASE_RECOVER_DISABLE) return NC_NOERR;
    int err = burst_share_words_all(b->base.ds, burst_find_all(b, &f));
    if (err == NC_NOERR) {
        int64_t any = f.n;
        err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, &any, 1);
        if (err == NC_NOERR && any > 0) err = replay_found_all(b, &f);
    }
    burst_unwatch(b);
    burst_let_go(&f);
    return err;
}
