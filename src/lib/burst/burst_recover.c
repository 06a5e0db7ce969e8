/* Replays unfinished logs: those that burst_scan_logs.c has found, or those given to
 * ncmpilog. First checks that all of them are complete and belong to the dataset, and
 * that no other program has changed the file since. Then replays the logs of each
 * opening, oldest opening first: it lists their writes by epoch and drains them. Logs are
 * removed once the file has been synced and all logs record this. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_mpi.h"
#include "base_names.h"
#include "burst.h"

/* ---- checking that the log belongs to the dataset and is complete ---- */

static int check_dataset(const struct burst *b, const struct burst_reader *r)
{
    const struct dataset *ds = b->base.ds;
    const struct burst_header *h = burst_reader_header(r);
    const struct burst_counts n = burst_reader_counts(r);
    if (h->version == 0 && !b->recover.by_hand) /* identifies it only by name */
        return base_error_set(NC_EBADLOG,
                              "log %s is in PnetCDF's format; replay it with ncmpilog",
                              burst_reader_path(r));
    if (h->version == 0) return NC_NOERR;
    if (n.count == n.drained)
        return NC_NOERR; /* there is nothing to replay, so the dataset does not matter */
    if (h->format != ds->header.format || !burst_reader_fits(r, burst_definitions(ds)))
        return base_error_set(NC_EBADLOG,
                              "log %s belongs to a dataset with different definitions",
                              burst_reader_path(r));
    if (!b->recover.any_file && b->file.handle.fd < 0) /* the file cannot be compared */
        return base_error_set(NC_EFILE, "%s cannot be opened, but log %s belongs to it",
                              b->file.path, burst_reader_path(r));
    if (!b->recover.any_file && !burst_file_is(&b->file, h, !burst_reader_rebooted(r)))
        return base_error_set(NC_EBADLOG,
                              "log %s belongs to another file that had this name",
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

/* Checks whether the log can be replayed. After a power cut, synced entries must exist.
 * If no entry was synced, the definitions may have been lost too, so entries that do not
 * fit the present ones are dropped. */
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
    return err == NC_NOERR && !b->recover.any_log ? check_entries(r) : err;
}

/* ---- loading entries ---- */

static int bad_entry(const struct burst_reader *r, const struct burst_entry *e)
{
    return base_error_set(NC_EBADLOG,
                          "log %s: entry %lld of process %lld does not fit the dataset",
                          burst_reader_path(r), (long long)e->seq, (long long)e->rank);
}

/* Returns the number of elements of a slab; -1 if it is not within the variable or if the
 * number overflows, which a malicious log may cause. */
static int64_t elements_of(const struct cdf_header *h, const struct cdf_var *v,
                           const struct burst_write *w)
{
    int64_t n = 1;
    bool fits = true;
    for (int i = 0; i < v->ndims; i++) {
        int64_t start = w->slab[i], count = w->slab[v->ndims + i], last;
        int64_t stride = w->strided ? w->slab[2 * v->ndims + i] : 1;
        int64_t length = i > 0 || !v->is_record ? v->shape[i] : cdf_max_records(h);
        if (count < 0 || __builtin_mul_overflow(n, count, &n)) return -1;
        if (start < 0 || count < 1 || stride < 1 || start >= length ||
            __builtin_mul_overflow(count - 1, stride, &last) || last >= length - start)
            fits = false;
    }
    return fits || n == 0 ? n : -1;
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
    struct burst_write *w = burst_list_new(&b->list, e->varid, 1 + 2 * (size_t)e->nreqs);
    if (w == NULL) return NULL;
    w->slab[0] = e->nreqs;
    for (int64_t i = 0; i < e->nreqs; i++) {
        w->slab[1 + 2 * i] = e->start[i];
        w->slab[2 + 2 * i] = e->count[i];
    }
    return w;
}

/* Makes the write for an entry's i-th request. */
static struct burst_write *write_of_logged_slab(struct burst *b,
                                                const struct burst_entry *e, int64_t i)
{
    bool strided = e->stride != NULL;
    struct burst_write *w =
        burst_list_new(&b->list, e->varid, (size_t)e->ndims * (strided ? 3 : 2));
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

/* Lists the writes of an entry: one write, or one per request of a varn. */
static int load_entry(struct burst *b, int source, const struct burst_entry *e)
{
    const struct burst_reader *r = b->recover.sources[source];
    const struct cdf_header *h = &b->base.ds->header;
    const struct burst_header *log = burst_reader_header(r);
    if (e->varid >= h->nvars) return bad_entry(r, e);
    const struct cdf_var *v = &h->vars[e->varid];
    bool raw = e->flags & BURST_RAW, fill = e->flags & BURST_FILL;
    int type = log->is_external ? conv_type_of(v->type) : burst_conv_type(e->itype);
    int64_t size = conv_size((enum conv_type)type), off = e->data_off, left = e->data_len;
    if (conv_check(v->type, (enum conv_type)type) != NC_NOERR ||
        (!raw && e->ndims != v->ndims) ||
        (raw &&
         (fill || e->ndims != 1 || e->count == NULL || size != cdf_type_size(v->type))))
        return bad_entry(r, e);
    for (int64_t i = 0; i < (raw ? 1 : e->nreqs); i++) {
        struct burst_write *w =
            raw ? write_of_logged_runs(b, e) : write_of_logged_slab(b, e, i);
        if (w == NULL) return NC_ENOMEM;
        w->nelems = raw ? e->data_len / size : elements_of(h, v, w);
        if (w->nelems == 0 && !raw) continue; /* PnetCDF logs empty parts of a varn */
        w->type = (unsigned char)type;
        w->external = log->is_external;
        w->flags = (unsigned char)e->flags;
        if (fill) cdf_fill_value(h, e->varid, w->fill);
        w->data_off = off;
        w->epoch = e->epoch;
        w->source = source;
        int64_t bytes;
        if (w->nelems < 0 || (raw && !runs_fit(h, v, w, e->data_len)) ||
            __builtin_mul_overflow(w->nelems, size, &bytes) || (!fill && bytes > left))
            return bad_entry(r, e);
        off += fill ? 0 : bytes;
        left -= fill ? 0 : bytes;
        int err = burst_list_add(&b->list, h, &w, 1);
        if (err != NC_NOERR) return err;
    }
    /* Version 0 has no checksums, but leftover values show that a count is wrong. */
    return log->version == 0 && left > 0 ? bad_entry(r, e) : NC_NOERR;
}

static int load_logs(struct burst *b, int source)
{
    struct burst_reader *r = b->recover.sources[source];
    struct burst_entry e;
    bool more;
    int err;
    burst_reader_rewind(r);
    while ((err = burst_reader_next(r, false, &e, &more)) == NC_NOERR && more) {
        if (e.flags & BURST_CANCELLED) continue;
        if (b->recover.any_log && burst_reader_check(r, &e) != NC_NOERR) continue;
        if ((err = load_entry(b, source, &e)) != NC_NOERR) return err;
    }
    return b->recover.any_log && err == NC_EBADLOG ? NC_NOERR : err;
}

/* ---- replaying ---- */

static uint64_t token_of(const struct burst_reader *r)
{
    return burst_reader_header(r)->token;
}

/* Finds the newest generation among an opening's logs. A log of an older generation has
 * all its entries in the file. */
static int newest_generation_all(struct burst *b, uint64_t token, int64_t *generation)
{
    *generation = -1;
    for (int i = 0; i < b->recover.nsources; i++) {
        int64_t own = burst_reader_counts(b->recover.sources[i]).generation;
        if (token_of(b->recover.sources[i]) == token && own > *generation)
            *generation = own;
    }
    return dataset_agree_all(b->base.ds, NC_NOERR, NULL, generation, 1);
}

/* Checks that each process of an opening occurs exactly once in its logs. No-op if there
 * is nothing to replay. Agreed; NC_EBADLOG. */
static int check_ranks_all(struct burst *b, uint64_t token)
{
    enum { HERE, WAITING, HASHES, NSUMS };
    uint64_t sums[NSUMS] = {0};
    int64_t ranks = 0, rank;
    for (int i = 0; i < b->recover.nsources; i++) {
        const struct burst_reader *r = b->recover.sources[i];
        const struct burst_header *h = burst_reader_header(r);
        const struct burst_counts n = burst_reader_counts(r);
        if (h->token != token) continue;
        sums[HERE] += (uint64_t)h->nslots;
        sums[WAITING] += (uint64_t)(n.count - n.drained);
        for (int64_t k = 0; k < h->nslots; k++)
            if ((rank = burst_reader_rank(r, k)) >= 0)
                sums[HASHES] += base_hash(&rank, sizeof rank, 0);
        ranks = h->num_ranks;
    }
    int mpi =
        MPI_Allreduce(MPI_IN_PLACE, sums, NSUMS, MPI_UINT64_T, MPI_SUM, b->base.ds->comm);
    int err = base_mpi_error(mpi, NC_EMPI, "MPI_Allreduce");
    err = dataset_agree_all(b->base.ds, err, NULL, &ranks, 1);
    if (err != NC_NOERR || sums[WAITING] == 0) return err;
    if ((int64_t)sums[HERE] < ranks)
        return base_error_set(
            NC_EBADLOG, "the logs of %lld of %lld processes are missing from %s",
            (long long)(ranks - (int64_t)sums[HERE]), (long long)ranks, b->file.dir);
    /* The sum of the hashes shows whether each rank occurs exactly once. */
    uint64_t expected = 0;
    for (rank = 0; rank < ranks; rank++)
        expected += base_hash(&rank, sizeof rank, 0);
    if ((int64_t)sums[HERE] == ranks && sums[HASHES] == expected) return NC_NOERR;
    return base_error_set(NC_EBADLOG,
                          "%s has logs of %lld processes, but the dataset was opened by "
                          "%lld: some logs are duplicates or belong to another open",
                          b->file.dir, (long long)sums[HERE], (long long)ranks);
}

/* Compares by epoch, because one process may replay several logs, and then by serial. */
static int compare_epoch(const void *a, const void *b)
{
    const struct burst_write *p = *(struct burst_write *const *)a;
    const struct burst_write *q = *(struct burst_write *const *)b;
    if (p->epoch != q->epoch) return p->epoch < q->epoch ? -1 : 1;
    return p->serial < q->serial ? -1 : p->serial > q->serial;
}

static int replay_opening_all(struct burst *b, uint64_t token)
{
    int64_t generation;
    int err = newest_generation_all(b, token, &generation);
    int incomplete = err == NC_NOERR ? check_ranks_all(b, token) : NC_NOERR;
    if (err == NC_NOERR && !b->recover.any_log) err = incomplete;
    if (err == NC_NOERR) err = base_holds(b->list.n == 0);
    for (int i = 0; i < b->recover.nsources && err == NC_NOERR; i++)
        if (token_of(b->recover.sources[i]) == token &&
            burst_reader_counts(b->recover.sources[i]).generation == generation)
            err = load_logs(b, i);
    if (err == NC_NOERR && b->list.n > 0)
        qsort(b->list.writes, (size_t)b->list.n, sizeof(void *), compare_epoch);
    err = dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
    for (int64_t i = 0; i < b->list.n && err == NC_NOERR; i++)
        b->base.ds->stats.burst_replayed_bytes += burst_bytes(b->list.writes[i]);
    return err == NC_NOERR ? burst_drain_all(b, BURST_ALL, false) : err;
}

/* Sets *token to the next higher token on any process; sets *any to false if none. */
static int next_token_all(struct burst *b, bool *any, uint64_t *token)
{
    uint64_t after = *token, next = INT64_MAX;
    bool first = !*any;
    for (int i = 0; i < b->recover.nsources; i++) {
        uint64_t t = token_of(b->recover.sources[i]);
        if ((first || t > after) && t < next) next = t;
    }
    int64_t value = -(int64_t)next;
    int err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, &value, 1);
    *any = err == NC_NOERR && value != -INT64_MAX;
    *token = (uint64_t)-value;
    return err;
}

/* Information about an opening, combined from its logs. */
struct opening {
    struct burst_note note;
    int64_t waiting; /* largest number of undrained entries in any log */
    int what;        /* flags such as BURST_UNQUIET */
};

/* Adds a log's information. Notes count even if the log's generation is old. */
static void add_to_opening(const struct burst_reader *r, int64_t newest,
                           struct opening *k)
{
    struct burst_note note;
    const struct burst_counts n = burst_reader_counts(r);
    if (burst_reader_header(r)->version == 0) k->what |= BURST_UNORDERED;
    if (n.generation == newest && n.count - n.drained > k->waiting)
        k->waiting = n.count - n.drained;
    if (!burst_reader_note(r, &note)) k->what |= BURST_UNQUIET;
    if (burst_reader_rebooted(r)) k->what |= BURST_REBOOTED;
    if (burst_reader_copied(r)) k->what |= BURST_COPIED;
    if (note.when > k->note.when) k->note.when = note.when;
    if (note.mtime > k->note.mtime) k->note.mtime = note.mtime;
    if (note.size > k->note.size) k->note.size = note.size;
    if (note.ctime > k->note.ctime) k->note.ctime = note.ctime;
}

static int describe_opening_all(struct burst *b, uint64_t token, struct opening *k)
{
    int64_t generation;
    *k = (struct opening){.waiting = 0};
    int err = newest_generation_all(b, token, &generation);
    for (int i = 0; i < b->recover.nsources && err == NC_NOERR; i++)
        if (token_of(b->recover.sources[i]) == token)
            add_to_opening(b->recover.sources[i], generation, k);
    int64_t all[] = {k->waiting,
                     k->note.when,
                     k->note.mtime,
                     k->note.size,
                     k->note.ctime,
                     k->what & BURST_UNQUIET,
                     k->what & BURST_REBOOTED,
                     k->what & BURST_COPIED,
                     k->what & BURST_UNORDERED};
    err = dataset_agree_all(b->base.ds, err, NULL, all, sizeof all / sizeof all[0]);
    *k = (struct opening){
        {.when = all[1], .mtime = all[2], .size = all[3], .ctime = all[4]},
        .waiting = all[0],
        .what = (int)(all[5] | all[6] | all[7] | all[8])};
    return err;
}

/* Checks that the file is in the state in which the job of each opening left it. Must be
 * called before any replay changes the file. Sets *waiting to whether there are entries
 * to replay. */
static int check_file_all(struct burst *b, bool *waiting)
{
    int err, mine = NC_NOERR, openings = 0,
             unordered = 0; /* number of openings with entries to replay, and of those
                             * with version 0 logs */
    bool any = false;
    uint64_t token = 0;
    *waiting = false;
    while ((err = next_token_all(b, &any, &token)) == NC_NOERR && any) {
        struct opening k;
        err = describe_opening_all(b, token, &k);
        if (err != NC_NOERR) return err;
        bool damaged = b->base.ds->netcdf4 && (k.what & BURST_UNQUIET);
        if (k.waiting == 0 && !damaged) continue;
        *waiting |= k.waiting > 0;
        openings += k.waiting > 0;
        unordered += k.waiting > 0 && (k.what & BURST_UNORDERED);
        if ((k.what & BURST_UNORDERED) || b->recover.any_file || b->base.ds->rank != 0 ||
            mine != NC_NOERR)
            continue; /* version 0 has no notes about the file */
        mine = burst_file_check_unchanged(&b->file, token, &k.note, k.what);
    }
    if (openings > 1 && unordered > 0 && !b->recover.any_log && mine == NC_NOERR)
        mine = base_error_set(
            NC_EBADLOG,
            "PnetCDF's logs contain values of %d opens of the dataset, but do not record "
            "the order of the opens; replay the logs of each open separately",
            openings);
    return dataset_agree_all(b->base.ds, err != NC_NOERR ? err : mine, NULL, NULL, 0);
}

/* Prepares the logs in case this reader is killed and another one resumes. First makes
 * every log count as an original, even if it is a copy. Only then records in the logs
 * that the file is being changed. */
static int start_replay_all(struct burst *b)
{
    struct burst_note note = {0};
    int err = NC_NOERR;
    for (int i = 0; i < b->recover.nsources && err == NC_NOERR && !b->recover.any_file;
         i++)
        err = burst_reader_adopt(b->recover.sources[i]);
    err = dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
    burst_file_get_note(&b->file, &note);
    note.changing = 1;
    for (int i = 0; i < b->recover.nsources && err == NC_NOERR && !b->recover.any_file;
         i++)
        err = burst_reader_set_note(b->recover.sources[i], note);
    return dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
}

/* Sets the logs to replay. Until the replay ends, one also gets this process's notes. */
static void set_sources(struct burst *b, struct burst_reader **logs, int n)
{
    b->recover.sources = logs;
    b->recover.nsources = n;
    b->file.replaying = n > 0;
    b->file.replayed = n > 0 && !b->recover.any_file ? logs[0] : NULL;
}

/* ---- before each write of the layers below ---- */

/* Refuses all writes, because another process has taken over the logs. */
static int refuse_write(void *argument)
{
    (void)argument;
    return base_error_set(
        NC_EFILE,
        "another process has taken over the logs, and this process stops replaying them");
}

/* Checks that no other process has taken over any of the logs. */
static int may_write(void *argument)
{
    struct burst *b = argument;
    int err = b->recover.lower_may_write == NULL
                  ? NC_NOERR
                  : b->recover.lower_may_write(b->recover.lower_argument);
    if (err != NC_NOERR) return err;
    burst_renew_change(&b->file);
    for (int i = 0; i < b->recover.nchecked && err == NC_NOERR; i++)
        err = burst_reader_check_mine(b->recover.checked[i]);
    if (err != NC_NOERR) b->base.ds->may_write = refuse_write;
    return err;
}

void burst_begin_write_checks(struct burst *b)
{
    struct dataset *ds = b->base.ds;
    if (ds->may_write != may_write) {
        b->recover.lower_may_write = ds->may_write;
        b->recover.lower_argument = ds->may_write_arg;
    }
    ds->may_write = may_write;
    ds->may_write_arg = b;
}

void burst_end_write_checks(struct burst *b)
{
    if (b->base.ds->may_write != may_write) return;
    b->base.ds->may_write = b->recover.lower_may_write;
    b->base.ds->may_write_arg = b->recover.lower_argument;
}

void burst_end_replay_checks(struct burst *b)
{
    b->recover.nchecked = 0;
}

int burst_replay_all(struct burst *b, struct burst_reader **logs, int n)
{
    int err = NC_NOERR;
    bool any = false, waiting = false;
    uint64_t token = 0;
    set_sources(b, logs, n);
    b->recover.checked = logs;
    b->recover.nchecked = n;
    for (int i = 0; i < n && err == NC_NOERR; i++)
        err = check_log(b, logs[i]);
    err = dataset_agree_all(b->base.ds, err, NULL, NULL, 0);
    if (err == NC_NOERR) err = check_file_all(b, &waiting);
    if (err == NC_NOERR && waiting) err = start_replay_all(b);
    b->base.ds->log_token = DATASET_REPLAYS;
    while (err == NC_NOERR && (err = next_token_all(b, &any, &token)) == NC_NOERR && any)
        err = replay_opening_all(b, token);
    /* After an error, this opening has written only values of these logs. It must not
     * disown them when it is closed, or the next open could not replay them. */
    set_sources(b, NULL, 0);
    /* The reason for refusing a write takes precedence over the write's own error. */
    return b->base.ds->may_write == refuse_write ? may_write(b) : err;
}

/* Returns whether a log is left as it is, so that its entries can be replayed again: into
 * another file, or once missing logs have been found. A version 0 log is also left,
 * because it could record the replay only by setting the number of entries to 0. */
static bool is_retained(const struct burst *b, const struct burst_reader *r, bool remove)
{
    return !remove && (b->recover.any_file || b->recover.any_log ||
                       burst_reader_header(r)->version == 0);
}

int burst_replayed_all(struct burst *b, struct burst_reader **logs, int n, bool remove)
{
    struct dataset *ds = b->base.ds;
    bool *retired = base_calloc((size_t)n + 1, sizeof *retired);
    int err = driver_call(b->base.lower, sync_all);
    if (err == NC_NOERR && retired == NULL) err = NC_ENOMEM;
    if (err == NC_NOERR) err = base_holds(b->list.n == 0);
    /* All logs record the replay before any log is removed, so that those that remain are
     * valid without the removed ones. */
    for (int i = 0; i < n && err == NC_NOERR; i++) {
        /* A log with a skipped entry may contain the only copy of its values. */
        bool whole = !b->recover.any_log || check_entries(logs[i]) == NC_NOERR;
        retired[i] = whole && !is_retained(b, logs[i], remove);
        if (retired[i]) err = burst_reader_drained(logs[i]);
    }
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    for (int i = 0; i < n && err == NC_NOERR && remove; i++)
        if (retired[i]) {
            err = burst_reader_remove(logs[i]);
            burst_file_set_token(&b->file, token_of(logs[i]), 0);
        }
    base_free(retired);
    /* After a power cut, the logs must not reappear over newer values in the file. */
    if (err == NC_NOERR && n > 0 && remove)
        err = base_sync_directory(burst_reader_path(logs[0]));
    err = dataset_agree_all(ds, err, NULL, NULL, 0);
    if (err == NC_NOERR) ds->log_token = 0;
    return err;
}

/* Replays the logs of a dataset opened only for reading, by reopening it for writing. */
static int recover_for_reading_all(struct burst *b)
{
    struct dataset *ds = b->base.ds, again = *ds;
    struct driver *top;
    again.writable = true;
    again.shared_descriptor = NULL; /* that descriptor is read-only */
    cdf_init(&again.header, 1);
    int err = driver_open_all(&again, NC_WRITE, &top);
    if (err == NC_NOERR) {
        dataset_raise_records(ds, again.header.numrecs);
        err = driver_call(top, close_all, false);
    }
    cdf_free(&again.header);
    return err;
}

int burst_share_error_all(struct dataset *ds, int err)
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

static int report_waiting(const struct burst *b)
{
    if (b->base.ds->hints.burst_recover == HINTS_RECOVER_ERROR)
        return base_error_set(NC_EBADLOG, "unfinished logs of this dataset are in %s",
                              b->file.dir);
    return base_error_set(NC_EBADLOG,
                          "unfinished logs in %s contain values of this dataset: open it "
                          "for writing once, or run ncmpilog replay -r%s",
                          b->file.dir,
                          b->base.ds->netcdf4
                              ? ""
                              : ", or allow replays at an open for reading (hint "
                                "nc_burst_buf_recover=always)");
}

/* Replays the logs, syncs the file, and only then removes the logs. */
static int replay_found_all(struct burst *b, struct burst_found *f)
{
    struct dataset *ds = b->base.ds;
    int64_t policy = ds->hints.burst_recover;
    if (!ds->writable || policy == HINTS_RECOVER_ERROR) {
        bool waiting;
        set_sources(b, f->logs, f->n);
        int err = check_file_all(b, &waiting);
        set_sources(b, NULL, 0);
        if (err != NC_NOERR) return burst_share_error_all(ds, err);
        /* HDF5 cannot open a file for writing while it is open for reading. */
        bool may = policy == HINTS_RECOVER_ALWAYS && (ds->writable || !ds->netcdf4);
        if (waiting && !may) return report_waiting(b);
        if (!waiting && !ds->writable) return NC_NOERR;
    }
    if (!ds->writable) {
        burst_found_free(f);
        return recover_for_reading_all(b);
    }
    int err = burst_share_error_all(ds, burst_replay_all(b, f->logs, f->n));
    return err == NC_NOERR ? burst_replayed_all(b, f->logs, f->n, true) : err;
}

int burst_recover_all(struct burst *b)
{
    struct burst_found f;
    if (b->base.ds->hints.burst_recover == HINTS_RECOVER_DISABLE) return NC_NOERR;
    int err = burst_share_error_all(b->base.ds, burst_scan_logs_all(b, &f));
    if (err == NC_NOERR) {
        int64_t any = f.n;
        err = dataset_agree_all(b->base.ds, NC_NOERR, NULL, &any, 1);
        if (err == NC_NOERR && any > 0) err = replay_found_all(b, &f);
    }
    burst_end_replay_checks(b);
    burst_found_free(&f);
    return err;
}
