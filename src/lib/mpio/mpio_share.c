/* One process of each node opens the file for all of it.
 *
 * A word in the node's window tells how far that is. Who changes it from NOBODY to
 * OPENING, where no process had the file open from before, opens the file, passes the
 * descriptor to all that listen, and changes it to PASSED. The others wait for that, for
 * no longer than an open takes, and then find it in their sockets. Where they do not, for
 * whatever reason, they open the file themselves, and each process is told of its own
 * failure only. */
#include "mpio_share.h"

#include <unistd.h>

enum { NOBODY, OPENING, PASSED };

static void stop_listening(struct mpio_share *s)
{
    if (s->window != NULL && s->socket >= 0) (void)close(s->socket);
    s->socket = -1;
}

/* In place of a socket's name. */
enum { HAS_IT = -1 };

static int who_has_it(const struct mpio_window *w)
{
    for (int rank = 0; rank < w->nprocs; rank++)
        if (*mpio_window_name(w, rank) == HAS_IT) return rank;
    return -1;
}

void mpio_share_begin_all(struct mpio_share *s, struct mpio_window *w,
                          enum mpio_sharing how, struct driver_descriptor *d)
{
    int64_t name = 0;
    s->window = w;
    s->socket = how == MPIO_SHARE_LISTEN ? driver_share_listen(&name) : -1;
    *mpio_window_name(w, w->rank) = how == MPIO_SHARE_HAVE ? HAS_IT : name;
    if (w->rank == 0) mpio_window_set_state(w, NOBODY);
    mpio_window_meet_all(w);
    int owner = who_has_it(w);
    s->first = owner == w->rank;
    s->other = owner >= 0 && !s->first;
    if (s->first) mpio_share_pass(s, d);
}

bool mpio_share_take(struct mpio_share *s, const struct dataset *ds,
                     struct driver_descriptor *d)
{
    if (s->window == NULL || s->socket < 0) return false;
    s->first = !s->other && mpio_window_change_state(s->window, NOBODY, OPENING);
    if (s->first) stop_listening(s);
    if (s->first) return false;
    mpio_window_await_state(s->window, PASSED);
    return mpio_share_settle(s, ds, d);
}

bool mpio_share_settle(struct mpio_share *s, const struct dataset *ds,
                       struct driver_descriptor *d)
{
    if (s->window == NULL || s->socket < 0) return false;
    if (mpio_window_state(s->window) != PASSED) return false;
    bool taken = driver_share_take(ds, s->socket, d);
    stop_listening(s);
    return taken;
}

static void pass_around(const struct mpio_window *w, struct driver_descriptor *d)
{
    for (int rank = 0; rank < w->nprocs; rank++)
        if (rank != w->rank && *mpio_window_name(w, rank) > 0)
            (void)driver_share_pass(d, *mpio_window_name(w, rank));
}

void mpio_share_pass(struct mpio_share *s, struct driver_descriptor *d)
{
    struct mpio_window *w = s->window;
    if (w == NULL || s->other) return;
    if (!s->first && !mpio_window_change_state(w, NOBODY, OPENING)) return;
    if (d != NULL) pass_around(w, d);
    mpio_window_set_state(w, PASSED);
    s->first = false;
}

void mpio_share_end(struct mpio_share *s)
{
    stop_listening(s);
    s->window = NULL;
}
