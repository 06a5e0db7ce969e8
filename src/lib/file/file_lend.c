/* One process of each node opens the file for all of it.
 *
 * A word that the node shares tells how far that is. Who changes it from NOBODY to
 * OPENING, where no process had the file open from before, opens the file, passes the
 * descriptor to all that listen, and changes it to PASSED. The others wait for that, for
 * no longer than an open takes, and then find it in their sockets. Where they do not, for
 * whatever reason, they open the file themselves, and each process is told of its own
 * failure only. */
#include "file_lend.h"

#include <unistd.h>

enum { NOBODY, OPENING, PASSED };

static void stop_listening(struct file_lend *s)
{
    if (s->board.state != NULL && s->socket >= 0) (void)close(s->socket);
    s->socket = -1;
}

/* In place of a socket's name. */
enum { HAS_IT = -1 };

static int who_has_it(const struct node_board *b)
{
    for (int rank = 0; rank < b->nprocs; rank++)
        if (b->names[rank] == HAS_IT) return rank;
    return -1;
}

void file_lend_begin_all(struct file_lend *s, struct node_board board,
                         enum file_lending how, struct file_descriptor *d)
{
    int64_t name = 0;
    s->board = board;
    s->socket = how == FILE_LEND_LISTEN ? file_descriptor_listen(&name) : -1;
    board.names[board.rank] = how == FILE_LEND_HAVE ? HAS_IT : name;
    if (board.rank == 0) node_word_set(board.state, NOBODY);
    node_meet_all(board.met);
    int owner = who_has_it(&board);
    s->first = owner == board.rank;
    s->other = owner >= 0 && !s->first;
    if (s->first) file_lend_pass(s, d);
}

bool file_lend_take(struct file_lend *s, const struct dataset *ds,
                    struct file_descriptor *d)
{
    if (s->board.state == NULL || s->socket < 0) return false;
    s->first = !s->other && node_word_change(s->board.state, NOBODY, OPENING);
    if (s->first) stop_listening(s);
    if (s->first) return false;
    node_word_await(s->board.state, PASSED);
    return file_lend_settle(s, ds, d);
}

bool file_lend_settle(struct file_lend *s, const struct dataset *ds,
                      struct file_descriptor *d)
{
    if (s->board.state == NULL || s->socket < 0) return false;
    if (node_word_get(s->board.state) != PASSED) return false;
    bool taken = file_descriptor_take(ds, s->socket, d);
    stop_listening(s);
    return taken;
}

static void pass_around(const struct node_board *b, struct file_descriptor *d)
{
    for (int rank = 0; rank < b->nprocs; rank++)
        if (rank != b->rank && b->names[rank] > 0)
            (void)file_descriptor_pass(d, b->names[rank]);
}

void file_lend_pass(struct file_lend *s, struct file_descriptor *d)
{
    struct node_word *state = s->board.state;
    if (state == NULL || s->other) return;
    if (!s->first && !node_word_change(state, NOBODY, OPENING)) return;
    if (d != NULL) pass_around(&s->board, d);
    node_word_set(state, PASSED);
    s->first = false;
}

void file_lend_end(struct file_lend *s)
{
    stop_listening(s);
    s->board.state = NULL;
}
