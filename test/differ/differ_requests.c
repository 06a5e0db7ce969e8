/* Steps for pending requests. Keeps a list of the requests that this process has posted,
 * and waits for them, cancels them, inquires about them, or attaches and detaches the
 * buffer. After each step, the processes agree on which elements have pending puts, and
 * which have known values. */
#include <stdlib.h>
#include <string.h>

#include "differ_access.h"

static struct access *requests[MAX_REQUESTS];
static int nrequests;

enum { NO_REQUEST = 123456 };

static bool anywhere(bool here)
{
    int mine = here, any;
    MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return any;
}

/* Returns whether any process has pending puts. */
bool requests_pending(void)
{
    bool puts = false;
    for (int i = 0; i < nrequests; i++)
        puts |= requests[i]->put;
    return anywhere(puts);
}

bool requests_any(void)
{
    return anywhere(nrequests > 0);
}

bool requests_full(void)
{
    return anywhere(nrequests == MAX_REQUESTS);
}

static bool overlap(const struct access *a, const struct access *b)
{
    unsigned char of_a[MOST] = {0};
    if (a->v != b->v) return false;
    if (a->odd || b->odd) return true;
    for (int i = 0; i < a->n; i++)
        of_a[a->element[i]] = 1;
    for (int i = 0; i < b->n; i++)
        if (of_a[b->element[i]]) return true;
    return false;
}

bool requests_overlap(const struct access *a)
{
    for (int i = 0; i < nrequests; i++)
        if (overlap(a, requests[i])) return true;
    for (int i = 0; i < a->n && a->put; i++)
        if (a->v->pending[a->element[i]]) return true; /* another process's pending put */
    return false;
}

void requests_forget(void)
{
    for (int i = 0; i < nrequests; i++)
        access_free(requests[i]);
    nrequests = 0;
    for (int i = 0; i < MAX_VARS; i++)
        memset(d.vars[i].pending, 0, MOST);
}

void requests_add(struct access *a)
{
    requests[nrequests++] = a;
}

/* One byte for each element of each variable. The last byte is set if a request may
 * affect arbitrary elements. */
typedef unsigned char marks[MAX_VARS][MOST + 1];

static void gather(marks mine, marks all)
{
    MPI_Allreduce(mine, all, MAX_VARS * (MOST + 1), MPI_UNSIGNED_CHAR, MPI_BOR,
                  MPI_COMM_WORLD);
}

static void mark(const struct access *a, marks m)
{
    unsigned char *of = m[a->varid];
    for (int i = 0; i < a->n && !a->odd; i++)
        of[a->element[i]] = 1;
    of[MOST] |= a->odd;
}

void requests_mark(void)
{
    marks mine = {{0}}, all;
    for (int i = 0; i < nrequests; i++)
        if (requests[i]->put) mark(requests[i], mine);
    gather(mine, all);
    for (int i = 0; i < MAX_VARS; i++) {
        memcpy(d.vars[i].pending, all[i], MOST);
        if (all[i][MOST]) memset(d.vars[i].pending, 1, MOST);
    }
}

static void written(marks mine)
{
    marks all;
    gather(mine, all);
    for (int i = 0; i < MAX_VARS; i++)
        for (int e = 0; e < MOST; e++)
            d.vars[i].known[e] = !all[i][MOST] && (d.vars[i].known[e] || all[i][e]);
}

/* ---- lists of ids ---- */

struct list {
    int n, ids[MAX_REQUESTS + 2], statuses[MAX_REQUESTS + 2];
    struct access *of[MAX_REQUESTS + 2];
    int all;    /* NC_REQ_ALL, NC_GET_REQ_ALL or NC_PUT_REQ_ALL; 0 if ids are listed */
    bool wants; /* whether an array of statuses is passed */
};

static void add(struct list *l, struct access *a, int id)
{
    int at = (int)draw_own((uint64_t)l->n + 1);
    for (int i = l->n; i > at; i--) {
        l->ids[i] = l->ids[i - 1];
        l->of[i] = l->of[i - 1];
    }
    l->ids[at] = id;
    l->of[at] = a;
    l->n++;
}

static struct list some(void)
{
    static const int all[] = {NC_REQ_ALL, NC_GET_REQ_ALL, NC_PUT_REQ_ALL};
    struct list l = {.wants = draw_own(6) > 0};
    bool together = once_in(2);
    uint64_t which = draw(5);
    if (together) {
        l.all = l.n = all[which > 2 ? 0 : which];
        l.wants = false;
        return l;
    }
    for (int i = 0; i < nrequests; i++)
        if (draw_own(4) > 0) add(&l, requests[i], requests[i]->request);
    if (draw_own(12) == 0) add(&l, NULL, NO_REQUEST);
    /* PnetCDF 1.12 loses unlisted requests if NC_REQ_NULL is in the list. */
    if (draw_own(12) == 0 && l.n >= nrequests) add(&l, NULL, NC_REQ_NULL);
    for (int i = 0; i < l.n; i++)
        l.statuses[i] = -88;
    return l;
}

static void tell(const struct list *l, const char *name, int ncid)
{
    call("%s(%s", name, ncid == d.ncid ? "" : "bad id, ");
    put_out(l->all == NC_REQ_ALL       ? "all"
            : l->all == NC_GET_REQ_ALL ? "gets"
            : l->all == NC_PUT_REQ_ALL ? "puts"
                                       : "list");
    for (int i = 0; i < l->n; i++) {
        int k = 0;
        while (k < nrequests && requests[k] != l->of[i])
            k++;
        if (l->of[i] != NULL)
            put_out(" %s%d", l->of[i]->put ? "put" : "get", k);
        else
            put_out(l->ids[i] == NC_REQ_NULL ? " null" : " unknown");
    }
    put_out(l->wants || l->all != 0 ? ")" : "; no statuses)");
}

/* Returns whether a call with this list completed the request. */
static bool is_in(const struct list *l, const struct access *a, int err)
{
    int left = -1;
    for (int i = 0; i < l->n; i++)
        if (l->of[i] == a) return l->ids[i] == NC_REQ_NULL;
    if (l->all == 0) return false;
    ncmpi_inq_nreqs(d.ncid, &left);
    if (left == 0) return true;
    if (err != NC_NOERR && err != NC_ERANGE) return false;
    return l->all == NC_REQ_ALL || (l->all == NC_PUT_REQ_ALL) == a->put;
}

/* Prints the ids and statuses after the call. */
static void print_ids(const struct list *l)
{
    for (int i = 0; i < l->n; i++) {
        put_out(l->ids[i] == NC_REQ_NULL ? ", null" : ", kept");
        if (!l->wants) continue;
        if (l->of[i] != NULL)
            access_came(l->of[i], l->statuses[i], d.vars[l->of[i]->varid].pending);
        else
            came(l->statuses[i]);
    }
}

static void returned(int err)
{
    /* elements that were never written may be out of range */
    bool gets = false;
    for (int i = 0; i < nrequests; i++)
        gets |= !requests[i]->put;
    came(gets && err == NC_ERANGE ? NC_NOERR : err);
}

/* Removes completed requests, and prints the values that their gets returned. */
static void settle(struct list *l, int err, bool waited)
{
    marks mine = {{0}};
    int n = 0;
    for (int i = 0; i < nrequests; i++) {
        struct access *a = requests[i];
        if (!is_in(l, a, err)) {
            requests[n++] = a;
            continue;
        }
        if (waited && a->put) mark(a, mine);
        if (waited && !a->put && !a->odd) {
            call("  got =");
            access_show(a, d.vars[a->varid].pending);
            done();
        }
        access_free(a);
    }
    nrequests = n;
    written(mine);
    requests_mark();
}

void requests_wait(void)
{
    int ncid = an_id();
    bool together = (d.state == INDEPENDENT) == once_in(30);
    if (d.state != INDEPENDENT && d.state != COLLECTIVE && once_in(2))
        together = !together;
    struct list l = some();
    tell(&l, together ? "wait_all" : "wait", ncid);
    int *statuses = l.wants ? l.statuses : NULL, *ids = l.all != 0 ? NULL : l.ids;
    int err = together ? ncmpi_wait_all(ncid, l.n, ids, statuses)
                       : ncmpi_wait(ncid, l.n, ids, statuses);
    returned(err);
    print_ids(&l);
    done();
    settle(&l, err, true);
    differ_records();
}

void requests_cancel(void)
{
    int ncid = an_id();
    struct list l = some();
    tell(&l, "cancel", ncid);
    int err =
        ncmpi_cancel(ncid, l.n, l.all != 0 ? NULL : l.ids, l.wants ? l.statuses : NULL);
    returned(err);
    print_ids(&l);
    done();
    settle(&l, err, false);
}

void requests_buffer(void)
{
    static const MPI_Offset sizes[] = {100000, 100000, 100000, 100, 1000, 0, -1};
    int ncid = an_id();
    MPI_Offset size = sizes[draw(7)];
    if (once_in(3)) {
        call("buffer_detach()");
        simple(ncmpi_buffer_detach(ncid));
        return;
    }
    call("buffer_attach(%lld)", (long long)size);
    simple(ncmpi_buffer_attach(ncid, size));
}

void requests_ask(void)
{
    int n = -7;
    MPI_Offset size = -7;
    call("inq_nreqs()");
    came(ncmpi_inq_nreqs(d.ncid, &n));
    put_out(" %d", n);
    done();
    call("inq_buffer_usage()");
    came(ncmpi_inq_buffer_usage(d.ncid, &size));
    put_out(" %lld", (long long)size);
    done();
    call("inq_buffer_size()");
    came(ncmpi_inq_buffer_size(d.ncid, &size));
    put_out(" %lld", (long long)size);
    done();
}
