/* The mirror: one staged file for all nodes, in a directory that they all can access.
 * Block i is always stored in slot i. Nodes decide which of them fetches a block as they
 * do without a mirror (stage_client.c), but they exchange no data: a node that has the
 * block reports it, and the asking process reads the mirror.
 *
 * A reader sees valid bytes because:
 * 1. A node reports a block only after its write has returned; no mirror is used on file
 *    systems where that is not enough.
 * 2. All nodes have seen the same file, which was old enough that another change would
 *    have changed its time. So all writers of a block write the same bytes.
 * 3. A node that finds that the file has changed never uses the mirror again.
 *
 * A node that cannot open the mirror has its own staged file, and exchanges blocks as
 * without a mirror. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "stage_nodes.h"

/* Writes the mirror's name into its first bytes, so that nodes can verify that they have
 * opened the same file. The first block overwrites it later. */
static bool write_name(int fd, const char *path)
{
    return base_write_at(fd, 0, path, (int64_t)strlen(path), path) == NC_NOERR;
}

static bool has_name(int fd, const char *path)
{
    char found[PATH_MAX];
    size_t n = strlen(path);
    return base_read_at(fd, 0, found, (int64_t)n, path) == NC_NOERR &&
           memcmp(found, path, n) == 0;
}

static bool is_coherent(const struct stage *s)
{
    return s->ds->hints.file_io == HINTS_FILE_IO_POSIX || base_fs_is_coherent(s->file);
}

static void make_mirror(struct stage *s, const struct stage_shared *plan, char *path,
                        size_t size)
{
    struct stage_shared mirror = {
        .mirror = 1, .nblocks = plan->nblocks, .block = plan->block};
    if (stage_space_create(s, &mirror, path, size) != NC_NOERR) {
        path[0] = '\0';
    } else if (!is_coherent(s) || !write_name(s->file, path)) {
        (void)unlink(path);
        path[0] = '\0';
    }
}

static void open_mirror(struct stage *s, char *path)
{
    if (path[0] == '\0' || stage_space_open(s, path) != NC_NOERR || !is_coherent(s) ||
        !has_name(s->file, path))
        path[0] = '\0';
}

/* Returns whether all nodes see the same file and its last change is old enough. */
static bool is_same_on_nodes_all(struct stage *s, const struct stage_shared *plan,
                                 int looked)
{
    int64_t stamp = looked == NC_NOERR ? (int64_t)(atomic_load(&plan->stamp) >> 1) : 0;
    int64_t own[2] = {stamp, -stamp}, all[2];
    return MPI_Allreduce(own, all, 2, MPI_INT64_T, MPI_MAX, s->firsts) == MPI_SUCCESS &&
           all[0] == -all[1] && all[0] != 0;
}

/* Adapts the plan to a mirror. Each home is assigned an equal share of the space. */
static void adopt_mirror(struct stage_shared *plan)
{
    plan->mirror = 1;
    if (plan->nslots < plan->nblocks)
        plan->home_capacity = plan->nslots > plan->nodes ? plan->nslots / plan->nodes : 1;
    plan->nslots = plan->nblocks;
}

void stage_shared_dir_make_all(struct stage *s, struct stage_shared *plan, int looked,
                               char *path, size_t size)
{
    const struct dataset *ds = s->ds;
    if (ds->hints.stage_scope != HINTS_STAGE_GLOBAL || s->nprocs == ds->nprocs) return;
    if (s->firsts != MPI_COMM_NULL) {
        bool same = is_same_on_nodes_all(s, plan, looked);
        if (same && plan->node == 0) make_mirror(s, plan, path, size);
        if (MPI_Bcast(path, (int)size, MPI_CHAR, 0, s->firsts) != MPI_SUCCESS || !same)
            path[0] = '\0';
        if (plan->node != 0) open_mirror(s, path);
    }
    if (path[0] != '\0') {
        adopt_mirror(plan);
        return;
    }
    if (s->file >= 0) (void)close(s->file);
    s->file = -1;
    if (s->first) s->ds->stats.stage_fallbacks++;
}

bool stage_shared_dir_try_finish(struct stage *s, struct stage_connections *lines,
                                 const struct stage_claim *c)
{
    if (!s->shared->mirror) return false;
    enum stage_result asked = stage_client_get(s, lines, c->block, 0, NULL, 0);
    bool limited = s->shared->home_capacity < INT64_MAX;
    if (asked == STAGE_GOT) {
        struct stage_claim found = *c;
        found.sum = lines->sum;
        stage_table_finish(s->table, &found, true);
        atomic_fetch_add(&s->counts.mirrored, s->shared->block);
        return true;
    }
    if (asked == STAGE_KEPT_HERE || (asked == STAGE_NO_ANSWER && !limited)) return false;
    stage_table_refuse(s->table, c);
    return true;
}
