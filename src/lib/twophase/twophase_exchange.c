/* Exchanges messages between nodes.
 *
 * In each step, twophase_exchange_collect builds one or more messages for each node from
 * the entries that the node's processes have packed; _count_all finds out how many
 * messages this process will receive; _messages sends and receives them, unpacking one
 * while the next arrives; in gets, _answers sends what other nodes have requested. */
#include "twophase_exchange.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_mpi.h"

/* MPI tags. A process that is out of memory answers immediately, possibly before it has
 * answered the previous step, so the answers in successive steps alternate between two
 * tags. */
enum { VALUES = 1, COUNT, ANSWER };

static int failed(int mpi)
{
    return base_mpi_error(mpi, NC_EMPI, "exchanging data between nodes");
}

static void keep_first_error(int *result, int err)
{
    if (*result == NC_NOERR) *result = err;
}

/* ---- messages ---- */

/* An entry, the process that packed it, and the destination node. */
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

/* Return the number of tournament rounds, and the round that pairs this node with another
 * node. In each round a node has at most one partner. If the number of nodes is even, the
 * last node is paired with each other node in the round in which that node would be
 * paired with itself. */
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

/* Returns the node rank of the process that sends process `rank`'s data for a node.
 * Rounds are distributed over the exchanging processes. If there are more processes than
 * rounds, several processes share a round. */
static int column_of(const struct twophase_window *w, int rank, int node)
{
    int several = w->columns / rounds_of(w);
    if (several < 1) several = 1;
    return (round_of(w, node) * several + rank % several) % w->columns;
}

/* Lists this process's entries to send, unless `pieces` is NULL; returns their number. */
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

/* Creates a datatype for n pieces, or for the answers to them, at offsets in w->areas. */
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
            lengths[i] = (int)(answers ? e->answer_size : e->used);
            displs[i] = twophase_window_area(w, step, pieces[i].rank) - w->areas +
                        (answers ? e->answer : e->offset);
        }
        err = failed(base_mpi_runs(n, lengths, displs, type));
    }
    base_free(lengths);
    base_free(displs);
    return err;
}

/* Returns the number of pieces in the next message, all for one node. A message with
 * several pieces has at most an eighth of an area, so that it is unpacked while the next
 * arrives. */
static int message_length(const struct twophase_window *w, const struct piece *p, int n)
{
    int64_t used = 0, asked = 0, most = w->area_size / 8;
    int i = 0;
    for (; i < n && p[i].node == p[0].node; i++) {
        used += p[i].entry->used;
        asked += p[i].entry->answer_size;
        if (i > 0 && (used > most || asked > most)) break;
    }
    return i;
}

/* Checks that an entry is for another node, and that its data are in its process's area.
 * The entries of all processes on the node are in shared memory. */
static int check_piece(const struct twophase_window *w, const struct piece *p)
{
    const struct twophase_entry *e = p->entry;
    base_require(p->node >= 0 && p->node < w->nodes && p->node != w->node);
    base_require(e->offset >= 0 && e->used > 0 && e->used <= w->area_size - e->offset);
    base_require(e->answer >= 0 && e->answer_size >= 0 &&
                 e->answer_size <= w->area_size - e->answer);
    return NC_NOERR;
}

static int add_message(struct twophase_exchange *x, int64_t step, const struct piece *p,
                       int n)
{
    struct twophase_message *l = &x->messages[x->nmessages];
    *l = (struct twophase_message){p[0].node, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, 0};
    int err = NC_NOERR;
    for (int i = 0; i < n && err == NC_NOERR; i++) {
        err = check_piece(&x->t->window, &p[i]);
        l->answer_size += p[i].entry->answer_size;
    }
    if (err == NC_NOERR) err = type_of_step(&x->t->window, step, p, n, false, &l->packed);
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
    int found = find_pieces(w, step, pieces);
    keep_first_error(&result, base_holds(found == n));
    qsort(pieces, (size_t)n, sizeof *pieces, by_node);
    for (int i = 0, length; i < n; i += length) {
        length = message_length(w, pieces + i, n - i);
        keep_first_error(&result, add_message(x, step, pieces + i, length));
    }
    base_free(pieces);
    return result;
}

/* ---- counting messages ----
 *
 * A count for the process d ranks after this one is forwarded by 1, 2, 4 ... ranks: once
 * for each bit that is set in d. That takes log2(n) messages per process, none of which
 * has more entries than there are receivers. All processes participate in every step, so
 * none finishes before all have begun. */

/* Merges two lists sorted by distance, adding the counts of equal distances. */
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

/* Moves entries whose distance has bit `step` set to another list; returns their
 * number. */
static int extract_tallies(struct twophase_tally *list, int *n, int step,
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

/* Lists this process's message counts by distance. */
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

/* Exchanges the lists in one step. The first entry of a list is the minimum. */
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
        int nin, nout = extract_tallies(list, &n, step, out + 1);
        keep_first_error(&result, swap_all(w, out, nout, step, in, &nin, least));
        x->t->ds->stats.exchanges++;
        n = merge_tallies(list, n, in + 1, nin, spare);
        keep_first_error(&result, base_holds(n <= w->nodes));
        struct twophase_tally *other = list;
        list = spare;
        spare = other;
    }
    x->incoming = n > 0 ? list[0].messages : 0;
    /* Each count has reached its receiver. */
    keep_first_error(&result, base_holds(n == 0 || (n == 1 && list[0].distance == 0)));
    return result;
}

/* ---- sending and receiving ---- */

/* Returns the buffer for message i. One of the two buffers receives a message while the
 * other is unpacked. */
static unsigned char *inbox(const struct twophase_window *w, int message)
{
    return w->inbox + message % 2 * w->area_size;
}

static int store_request(struct twophase_exchange *x, const struct access_block *b,
                         int node, const unsigned char *bytes, int64_t n, int64_t *low,
                         int64_t *high)
{
    struct twophase_request *q = &x->questions[x->nquestions++];
    *q = (struct twophase_request){.node = node, .used = n};
    int err = twophase_unpack_request(b, bytes, n, &q->answer_size, low, high);
    if (err == NC_NOERR && q->answer_size > x->t->window.area_size)
        err = base_error_set(NC_EMPI,
                             "invalid message from another node: it requests too much");
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

static int unpack_message(struct twophase_exchange *x, const struct access_block *b,
                          int message, MPI_Status *status, int64_t *low, int64_t *high)
{
    const struct twophase_window *w = &x->t->window;
    const unsigned char *bytes = inbox(w, message);
    int n = 0, mpi = MPI_Get_count(status, MPI_BYTE, &n);
    if (mpi != MPI_SUCCESS) return failed(mpi);
    if (x->put) return twophase_unpack(b, bytes, n);
    if (x->questions != NULL)
        return store_request(x, b, status->MPI_SOURCE, bytes, n, low, high);
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
        if (err == NC_NOERR) err = unpack_message(x, b, i, &status, low, high);
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

/* Starts sending answer number i. */
static int answer(struct twophase_exchange *x, const struct access_block *b, int i,
                  MPI_Request *request)
{
    const struct twophase_window *w = &x->t->window;
    struct twophase_request *q = &x->questions[i];
    int n = q->bytes != NULL ? (int)q->answer_size : 0;
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
        if (mpi == MPI_SUCCESS && n > 0)
            keep_first_error(&result, base_holds(n == x->messages[i].answer_size));
        if (mpi == MPI_SUCCESS && n == 0)
            keep_first_error(
                &result, base_error_set(NC_ENOMEM,
                                        "another node ran out of memory for its reply"));
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
