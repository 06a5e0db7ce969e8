/* Messages between nodes. */
#include "twophase_exchange.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"

/* Who has no memory answers at once, before it has answered the step before: by turns
 * answers have one tag or the next. */
enum { VALUES = 1, COUNT, ANSWER };

static int failed(int mpi)
{
    return base_mpi_error(mpi, NC_EMPI, "between nodes");
}

static void keep_first_error(int *result, int err)
{
    if (*result == NC_NOERR) *result = err;
}

/* ---- messages ---- */

/* An entry of a process of the node. */
struct piece {
    int node, rank;
    const struct twophase_entry *entry;
};

static int by_node(const void *a, const void *b)
{
    const struct piece *p = a, *q = b;
    if (p->node != q->node) return p->node < q->node ? -1 : 1;
    if (p->rank != q->rank) return p->rank < q->rank ? -1 : 1;
    return p->entry > q->entry ? -1 : p->entry < q->entry;
}

/* Rounds in which pairs of nodes exchange, and in which of them two do: as in a
 * tournament each node is in one pair a round at most. Of an even number the last node is
 * paired with the others when these would be paired with themselves. */
static int rounds_of(const struct twophase_window *w)
{
    return w->nodes % 2 == 0 ? w->nodes - 1 : w->nodes;
}

static int round_of(const struct twophase_window *w, int node)
{
    int rounds = rounds_of(w), a = w->node, b = node;
    if (a == rounds) a = b;
    if (b == rounds) b = a;
    return (a + b) % rounds;
}

/* Who sends what a process has packed for a node: the rounds are dealt out to those who
 * exchange, several to each round where there are more of them than rounds. */
static int column_of(const struct twophase_window *w, int rank, int node)
{
    int several = w->columns / rounds_of(w);
    if (several < 1) several = 1;
    return (round_of(w, node) * several + rank % several) % w->columns;
}

/* The entries for the nodes this process exchanges with; how many, and where they go. */
static int find_pieces(const struct twophase_window *w, int64_t step,
                       struct piece *pieces)
{
    int n = 0;
    for (int rank = 0; rank < w->nprocs; rank++) {
        int64_t entries = twophase_window_slot(w, step, rank)->entries;
        for (int64_t i = 0; i < entries; i++) {
            const struct twophase_entry *e = twophase_entry_at(w, step, rank, i);
            if (column_of(w, rank, (int)e->node) != w->rank) continue;
            if (pieces != NULL) pieces[n] = (struct piece){(int)e->node, rank, e};
            n++;
        }
    }
    return n;
}

/* Where n pieces lie, or their answers, from w->areas on. */
static int type_of_step(const struct twophase_window *w, int64_t step,
                        const struct piece *pieces, int n, bool answers,
                        MPI_Datatype *type)
{
    int *lengths = base_malloc((size_t)n * sizeof *lengths);
    MPI_Aint *displs = base_malloc((size_t)n * sizeof *displs);
    int err = NC_ENOMEM;
    if (lengths != NULL && displs != NULL) {
        for (int i = 0; i < n; i++) {
            const struct twophase_entry *e = pieces[i].entry;
            lengths[i] = (int)(answers ? e->asked : e->used);
            displs[i] = twophase_window_area(w, step, pieces[i].rank) - w->areas +
                        (answers ? e->answer : e->offset);
        }
        err = failed(base_mpi_runs(n, lengths, displs, type));
    }
    base_free(lengths);
    base_free(displs);
    return err;
}

/* How many pieces make one message: for one node, and of several no more than an eighth
 * of what there is room for, so that one is unpacked while the next is under way. */
static int message_length(const struct twophase_window *w, const struct piece *p, int n)
{
    int64_t used = 0, asked = 0, most = w->area_size / 8;
    int i = 0;
    for (; i < n && p[i].node == p[0].node; i++) {
        used += p[i].entry->used;
        asked += p[i].entry->asked;
        if (i > 0 && (used > most || asked > most)) break;
    }
    return i;
}

static int add_message(struct twophase_exchange *x, int64_t step, const struct piece *p,
                       int n)
{
    struct twophase_message *l = &x->messages[x->nmessages];
    *l = (struct twophase_message){p[0].node, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    int err = type_of_step(&x->t->window, step, p, n, false, &l->packed);
    if (err == NC_NOERR && !x->put)
        err = type_of_step(&x->t->window, step, p, n, true, &l->answer);
    if (err == NC_NOERR)
        x->nmessages++;
    else if (l->packed != MPI_DATATYPE_NULL)
        (void)MPI_Type_free(&l->packed);
    for (int i = 0; i < n; i++)
        x->t->ds->stats.exchanged_bytes += p[i].entry->used;
    return err;
}

int twophase_exchange_collect(struct twophase_exchange *x, int64_t step)
{
    const struct twophase_window *w = &x->t->window;
    int n = find_pieces(w, step, NULL), result = NC_NOERR;
    x->nmessages = x->nquestions = x->incoming = 0;
    x->answers = ANSWER + (int)(step % 2);
    if (n == 0) return NC_NOERR;
    struct piece *pieces = base_malloc((size_t)n * sizeof *pieces);
    x->messages = base_malloc((size_t)n * sizeof *x->messages);
    x->requests = base_malloc((size_t)n * 2 * sizeof(MPI_Request));
    if (pieces == NULL || x->messages == NULL || x->requests == NULL) {
        base_free(pieces);
        return NC_ENOMEM;
    }
    find_pieces(w, step, pieces);
    qsort(pieces, (size_t)n, sizeof *pieces, by_node);
    for (int i = 0, length; i < n; i += length) {
        length = message_length(w, pieces + i, n - i);
        keep_first_error(&result, add_message(x, step, pieces + i, length));
    }
    base_free(pieces);
    return result;
}

/* ---- how many come ----
 *
 * What is for a process d ranks behind this one goes there in steps that are powers of
 * two, those d is made of: log2(n) messages a process, none longer than there are
 * receivers. All have a part in each step, so that nobody is through before all have
 * begun. */

/* Two lists into one, by distance. */
static int merge_tallies(const struct twophase_tally *a, int na,
                         const struct twophase_tally *b, int nb,
                         struct twophase_tally *to)
{
    int n = 0;
    for (int i = 0, k = 0; i < na || k < nb; n++) {
        bool from_a = k == nb || (i < na && a[i].distance <= b[k].distance);
        bool from_b = i == na || (k < nb && b[k].distance <= a[i].distance);
        to[n] = from_a ? a[i] : b[k];
        if (from_a && from_b) to[n].messages += b[k].messages;
        i += from_a;
        k += from_b;
    }
    return n;
}

/* Takes out of a list what goes on by `step` ranks. */
static int take_out(struct twophase_tally *list, int *n, int step,
                    struct twophase_tally *out)
{
    int kept = 0, taken = 0;
    for (int i = 0; i < *n; i++) {
        if (list[i].distance & step) {
            out[taken] = list[i];
            out[taken++].distance -= step;
        } else {
            list[kept++] = list[i];
        }
    }
    *n = kept;
    return taken;
}

/* This process's messages, by distance: those for higher ranks, then for lower ones. */
static int list_messages(const struct twophase_exchange *x, struct twophase_tally *list)
{
    const struct twophase_window *w = &x->t->window;
    int n = 0;
    for (int lower = 0; lower < 2; lower++)
        for (int i = 0; i < x->nmessages; i++) {
            int distance = (x->messages[i].node - w->node + w->nodes) % w->nodes;
            if ((x->messages[i].node < w->node) != lower) continue;
            if (n > 0 && list[n - 1].distance == distance)
                list[n - 1].messages++;
            else
                list[n++] = (struct twophase_tally){distance, 1};
        }
    return n;
}

/* One step; the first place of what is sent has the least value. */
static int swap_all(const struct twophase_window *w, struct twophase_tally *out, int nout,
                    int step, struct twophase_tally *in, int *nin, int64_t *least)
{
    MPI_Status status;
    int size = (int)sizeof *out, bytes = 0;
    int64_t heard = *least;
    memcpy(out, least, sizeof *least);
    int mpi =
        MPI_Sendrecv(out, (nout + 1) * size, MPI_BYTE, (w->node + step) % w->nodes, COUNT,
                     in, (w->nodes + 1) * size, MPI_BYTE,
                     (w->node - step + w->nodes) % w->nodes, COUNT, w->column, &status);
    if (mpi == MPI_SUCCESS) mpi = MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes >= size) memcpy(&heard, in, sizeof heard);
    *nin = bytes / size - 1;
    if (*nin < 0) *nin = 0;
    if (heard < *least) *least = heard;
    return failed(mpi);
}

int twophase_exchange_count_all(struct twophase_exchange *x, int64_t *least)
{
    const struct twophase_window *w = &x->t->window;
    int most = w->nodes + 1, result = NC_NOERR;
    struct twophase_tally *list = w->tallies, *out = list + most, *in = out + most,
                          *spare = in + most;
    int n = list_messages(x, list);
    for (int step = 1; step < w->nodes; step *= 2) {
        int nin, nout = take_out(list, &n, step, out + 1);
        keep_first_error(&result, swap_all(w, out, nout, step, in, &nin, least));
        x->t->ds->stats.exchanges++;
        n = merge_tallies(list, n, in + 1, nin, spare);
        struct twophase_tally *other = list;
        list = spare;
        spare = other;
    }
    x->incoming = n > 0 ? list[0].messages : 0;
    return result;
}

/* ---- there and back ---- */

/* Two messages are at hand at a time: one that is under way, and one that is looked at.
 */
static unsigned char *inbox(const struct twophase_window *w, int message)
{
    return w->inbox + message % 2 * w->area_size;
}

static int keep_question(struct twophase_exchange *x, const struct access_block *b,
                         int node, const unsigned char *bytes, int64_t n, int64_t *low,
                         int64_t *high)
{
    struct twophase_question *q = &x->questions[x->nquestions++];
    *q = (struct twophase_question){.node = node, .used = n};
    int err = twophase_unpack_asked(b, bytes, n, &q->asked, low, high);
    if (err == NC_NOERR && q->asked > x->t->window.area_size)
        err = base_error_set(NC_EMPI, "another node asks for too much");
    if (err == NC_NOERR && (q->bytes = base_malloc((size_t)n)) == NULL) err = NC_ENOMEM;
    if (err == NC_NOERR) memcpy(q->bytes, bytes, (size_t)n);
    return err;
}

static int start_message(const struct twophase_window *w, int message,
                         MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return failed(MPI_Irecv(inbox(w, message), (int)w->area_size, MPI_BYTE,
                            MPI_ANY_SOURCE, VALUES, w->column, request));
}

static int take_message(struct twophase_exchange *x, const struct access_block *b,
                        int message, MPI_Status *status, int64_t *low, int64_t *high)
{
    const struct twophase_window *w = &x->t->window;
    const unsigned char *bytes = inbox(w, message);
    int n = 0, mpi = MPI_Get_count(status, MPI_BYTE, &n);
    if (mpi != MPI_SUCCESS) return failed(mpi);
    if (x->put) return twophase_unpack(b, bytes, n);
    if (x->questions != NULL)
        return keep_question(x, b, status->MPI_SOURCE, bytes, n, low, high);
    (void)MPI_Send(NULL, 0, MPI_BYTE, status->MPI_SOURCE, x->answers, w->column);
    return NC_ENOMEM;
}

static int receive_messages(struct twophase_exchange *x, const struct access_block *b,
                            int64_t *low, int64_t *high)
{
    const struct twophase_window *w = &x->t->window;
    const int n = x->incoming;
    MPI_Request request;
    int result = NC_NOERR, started = n > 0 ? start_message(w, 0, &request) : NC_NOERR;
    for (int i = 0; i < n; i++) {
        MPI_Status status;
        int err = failed(MPI_Wait(&request, &status));
        if (started != NC_NOERR) err = started;
        if (i + 1 < n) started = start_message(w, i + 1, &request);
        if (err == NC_NOERR) err = take_message(x, b, i, &status, low, high);
        keep_first_error(&result, err);
    }
    return result;
}

static int send_messages(struct twophase_exchange *x)
{
    const struct twophase_window *w = &x->t->window;
    int result = NC_NOERR;
    for (int i = 0; i < x->nmessages; i++) {
        struct twophase_message *l = &x->messages[i];
        x->requests[i] = x->requests[x->nmessages + i] = MPI_REQUEST_NULL;
        if (!x->put)
            keep_first_error(
                &result, failed(MPI_Irecv(w->areas, 1, l->answer, l->node, x->answers,
                                          w->column, &x->requests[x->nmessages + i])));
        keep_first_error(&result, failed(MPI_Isend(w->areas, 1, l->packed, l->node,
                                                   VALUES, w->column, &x->requests[i])));
        (void)MPI_Type_free(&l->packed);
        if (!x->put) (void)MPI_Type_free(&l->answer);
    }
    x->t->ds->stats.exchanges += x->nmessages;
    return result;
}

int twophase_exchange_messages(struct twophase_exchange *x, const struct access_block *b,
                               int64_t *low, int64_t *high)
{
    int result = send_messages(x);
    if (!x->put && x->incoming > 0)
        x->questions = base_malloc((size_t)x->incoming * sizeof *x->questions);
    keep_first_error(&result, receive_messages(x, b, low, high));
    for (int i = 0; i < x->nmessages; i++)
        keep_first_error(&result, failed(MPI_Wait(&x->requests[i], MPI_STATUS_IGNORE)));
    return result;
}

/* The i-th answer, on its way. */
static int answer(struct twophase_exchange *x, const struct access_block *b, int i,
                  MPI_Request *request)
{
    const struct twophase_window *w = &x->t->window;
    struct twophase_question *q = &x->questions[i];
    int n = q->bytes != NULL ? (int)q->asked : 0;
    if (n > 0) twophase_unpack_answer(b, q->bytes, q->used, inbox(w, i));
    base_free(q->bytes);
    x->t->ds->stats.exchanges++;
    x->t->ds->stats.exchanged_bytes += n;
    return failed(
        MPI_Isend(inbox(w, i), n, MPI_BYTE, q->node, x->answers, w->column, request));
}

int twophase_exchange_answers(struct twophase_exchange *x, const struct access_block *b)
{
    const int answers = x->nquestions;
    MPI_Request sent[2];
    int result = NC_NOERR;
    for (int i = 0; i < answers + 2; i++) {
        if (i >= 2)
            keep_first_error(&result, failed(MPI_Wait(&sent[i % 2], MPI_STATUS_IGNORE)));
        sent[i % 2] = MPI_REQUEST_NULL;
        if (i < answers) keep_first_error(&result, answer(x, b, i, &sent[i % 2]));
    }
    for (int i = 0; i < x->nmessages; i++) {
        MPI_Status status;
        int n = 0, mpi = MPI_Wait(&x->requests[x->nmessages + i], &status);
        if (mpi == MPI_SUCCESS) mpi = MPI_Get_count(&status, MPI_BYTE, &n);
        keep_first_error(&result, failed(mpi));
        if (mpi == MPI_SUCCESS && n == 0)
            keep_first_error(
                &result,
                base_error_set(NC_ENOMEM, "another node had no memory for an answer"));
    }
    return result;
}

void twophase_exchange_free(struct twophase_exchange *x)
{
    base_free(x->messages);
    base_free(x->requests);
    base_free(x->questions);
    x->messages = NULL;
    x->requests = NULL;
    x->questions = NULL;
    x->nmessages = x->nquestions = 0;
}
