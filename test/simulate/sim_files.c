/* Simulates descriptors and file locks. Used by sim_system.c and sim_sockets.c. */
#include "sim_files.h"

#include <errno.h>
#include <stdlib.h>

#include "sim_network.h"

struct descriptor {
    struct sim_open *open; /* NULL if the descriptor is free */
    const struct sim_process *process;
};
static struct descriptor *table;
static int ntable;

struct sim_open *sim_open_of(int fd)
{
    int i = fd - SIM_FIRST_FD;
    return i >= 0 && i < ntable ? table[i].open : NULL;
}

int sim_descriptor(struct sim_open *o)
{
    int i = 0;
    sim_stay_dead();
    while (i < ntable && table[i].open != NULL)
        i++;
    if (i == ntable) {
        ntable = 2 * ntable + 16;
        table = realloc(table, (size_t)ntable * sizeof *table);
        if (table == NULL) sim_fail(SIM_BROKEN, "no memory for descriptors");
        for (int k = i; k < ntable; k++)
            table[k] = (struct descriptor){NULL, NULL};
    }
    o->refs++;
    table[i] = (struct descriptor){o, sim_self()};
    return SIM_FIRST_FD + i;
}

/* ---- locks ---- */

static bool meet(const struct sim_lock *a, const struct sim_lock *b)
{
    return a->first <= b->last && b->first <= a->last;
}

const struct sim_lock *sim_lock_in_the_way(const struct sim_file *f,
                                           const struct sim_lock *wanted)
{
    const struct sim_lock *l = f->locks;
    while (l != NULL && (l->owner == wanted->owner || !meet(l, wanted) ||
                         (!l->exclusive && !wanted->exclusive)))
        l = l->next;
    return l;
}

static void add_lock(struct sim_file *f, struct sim_lock wanted)
{
    struct sim_lock *l = malloc(sizeof *l);
    if (l == NULL) sim_fail(SIM_BROKEN, "no memory for locks");
    *l = wanted;
    l->next = f->locks;
    f->locks = l;
}

/* Removes the owner's locks in a range. If a lock extends beyond the range, the part
 * outside remains locked. */
static void take_away(struct sim_file *f, const struct sim_lock *range)
{
    struct sim_lock *old = f->locks;
    f->locks = NULL;
    while (old != NULL) {
        struct sim_lock *l = old, before, after;
        old = l->next;
        before = after = *l;
        if (before.last >= range->first) before.last = range->first - 1;
        if (after.first <= range->last) after.first = range->last + 1;
        if (l->owner != range->owner || !meet(l, range)) {
            add_lock(f, *l);
        } else {
            if (before.first <= before.last) add_lock(f, before);
            if (after.first <= after.last) add_lock(f, after);
        }
        free(l);
    }
}

void sim_lock_drop(struct sim_file *f, const struct sim_lock *range)
{
    take_away(f, range);
    sim_wake(&f->locks, 1000);
}

/* Acquires a lock, replacing the owner's previous locks in the range. Returns false if
 * another owner has a conflicting lock. Does not let other processes run before the lock
 * is set. */
bool sim_lock_take(struct sim_file *f, const struct sim_lock *wanted)
{
    if (sim_lock_in_the_way(f, wanted) != NULL) return false;
    take_away(f, wanted);
    add_lock(f, *wanted);
    sim_wake(&f->locks, 1000);
    return true;
}

static void drop_all(struct sim_file *f, const void *owner)
{
    sim_lock_drop(f,
                  &(struct sim_lock){.owner = owner, .first = 0, .last = INT64_MAX - 1});
    sim_lock_drop(f, &(struct sim_lock){.owner = owner, .first = -2, .last = -2});
}

/* ---- close ---- */

void sim_open_drop(struct sim_open *o, bool lost)
{
    if (--o->refs > 0) return;
    if (o->file != NULL) drop_all(o->file, o);
    if (o->socket != NULL) sim_socket_close(o->socket, lost);
    free(o);
}

/* Frees the descriptor first, because releasing a lock may let another process run, and
 * that process may then open a file. */
void sim_descriptor_close(int fd)
{
    const struct descriptor d = table[fd - SIM_FIRST_FD];
    table[fd - SIM_FIRST_FD].open = NULL;
    if (d.open->file != NULL) drop_all(d.open->file, d.process); /* as POSIX requires */
    if (d.open->file != NULL && d.process != NULL)
        sim_node_closed(d.open->file, d.process->node, d.open->refs == 1);
    sim_open_drop(d.open, d.process != NULL && d.process->lost);
}

void sim_close_all(const struct sim_process *p)
{
    for (int i = 0; i < ntable; i++)
        if (table[i].open != NULL && table[i].process == p)
            sim_descriptor_close(SIM_FIRST_FD + i);
}
