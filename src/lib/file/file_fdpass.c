/* On each node, one process opens the file for all.
 *
 * A state word in the node's shared memory coordinates them. If no process has the file
 * open yet, the process that changes the word from NOT_OPEN to OPENING opens the file,
 * passes the descriptor to all listening processes, and sets PASSED. The others wait for
 * PASSED, which takes no longer than an open, and then read the descriptor from their
 * sockets. A process that receives no descriptor opens the file itself and reports only
 * its own failure. */
#include "file_fdpass.h"

#include <unistd.h>

enum { NOT_OPEN, OPENING, PASSED };

static void stop_listening(struct file_fdpass *s)
{
    if (s->board.state != NULL && s->socket >= 0) (void)close(s->socket);
    s->socket = -1;
}

/* A process that already has the file open stores this value instead of a socket name. */
enum { HOLDS_FD = -1 };

static int find_holder(const struct node_board *b)
{
    for (int rank = 0; rank < b->nprocs; rank++)
        if (b->names[rank] == HOLDS_FD) return rank;
    return -1;
}

void file_fdpass_begin_all(struct file_fdpass *s, struct node_board board,
                           enum file_fdpass_role how, struct file_descriptor *d)
{
    int64_t name = 0;
    s->board = board;
    s->socket = how == FILE_FDPASS_LISTEN ? file_descriptor_listen(&name) : -1;
    board.names[board.rank] = how == FILE_FDPASS_HAVE ? HOLDS_FD : name;
    if (board.rank == 0) node_word_set(board.state, NOT_OPEN);
    node_barrier_all(board.barrier);
    int owner = find_holder(&board);
    s->first = owner == board.rank;
    s->other = owner >= 0 && !s->first;
    if (s->first) file_fdpass_send(s, d);
}

bool file_fdpass_receive(struct file_fdpass *s, const struct dataset *ds,
                         struct file_descriptor *d)
{
    if (s->board.state == NULL || s->socket < 0) return false;
    s->first = !s->other && node_word_change(s->board.state, NOT_OPEN, OPENING);
    if (s->first) stop_listening(s);
    if (s->first) return false;
    node_word_await(s->board.state, PASSED);
    return file_fdpass_drain(s, ds, d);
}

bool file_fdpass_drain(struct file_fdpass *s, const struct dataset *ds,
                       struct file_descriptor *d)
{
    if (s->board.state == NULL || s->socket < 0) return false;
    if (node_word_get(s->board.state) != PASSED) return false;
    bool taken = file_descriptor_take(ds, s->socket, d);
    stop_listening(s);
    return taken;
}

static void send_to_node(const struct node_board *b, struct file_descriptor *d)
{
    for (int rank = 0; rank < b->nprocs; rank++)
        if (rank != b->rank && b->names[rank] > 0)
            (void)file_descriptor_pass(d, b->names[rank]);
}

void file_fdpass_send(struct file_fdpass *s, struct file_descriptor *d)
{
    struct node_word *state = s->board.state;
    if (state == NULL || s->other) return;
    if (!s->first && !node_word_change(state, NOT_OPEN, OPENING)) return;
    if (d != NULL) send_to_node(&s->board, d);
    node_word_set(state, PASSED);
    s->first = false;
}

void file_fdpass_end(struct file_fdpass *s)
{
    stop_listening(s);
    s->board.state = NULL;
}
