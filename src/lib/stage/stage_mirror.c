/* One staged file of all nodes, in a directory that all of them see. A block has the
 * place of its number there. Who is to bring it the nodes find out as they do without a
 * mirror (stage_ask.c), but that no bytes travel: a node that has the block says so, and
 * who asked reads the mirror. It says so when the write has returned, and file systems on
 * which that is not enough have no mirror. All nodes have seen the same file, old enough
 * for another change to have another time, so that all who write a block write the same
 * bytes. A node that sees the file changed leaves the mirror for good.
 *
 * A node that cannot have the mirror stages for itself; the others do with it as nodes do
 * that have no mirror. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "stage_nodes.h"

/* Its first bytes are its own name, until all have opened it. */
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
    return s->ds->hints.file_io == BASE_FILE_IO_POSIX || base_fs_coherent(s->file);
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

static void open_made(struct stage *s, char *path)
{
    if (path[0] == '\0' || stage_space_open(s, path) != NC_NOERR || !is_coherent(s) ||
        !has_name(s->file, path))
        path[0] = '\0';
}

/* Do all nodes know the same file, and may what they read of it be kept together? */
static bool see_the_same_all(struct stage *s, const struct stage_shared *plan, int looked)
{
    int64_t stamp = looked == NC_NOERR ? (int64_t)(atomic_load(&plan->stamp) >> 1) : 0;
    int64_t own[2] = {stamp, -stamp}, all[2];
    return MPI_Allreduce(own, all, 2, MPI_INT64_T, MPI_MAX, s->firsts) == MPI_SUCCESS &&
           all[0] == -all[1] && all[0] != 0;
}

/* A share of the room for each home. */
static void adopt_mirror(struct stage_shared *plan)
{
    plan->mirror = 1;
    if (plan->nslots < plan->nblocks)
        plan->room = plan->nslots > plan->nodes ? plan->nslots / plan->nodes : 1;
    plan->nslots = plan->nblocks;
}

void stage_mirror_make_all(struct stage *s, struct stage_shared *plan, int looked,
                           char *path, size_t size)
{
    const struct dataset *ds = s->ds;
    if (ds->hints.stage_scope != BASE_STAGE_GLOBAL || s->nprocs == ds->nprocs) return;
    if (s->firsts != MPI_COMM_NULL) {
        bool same = see_the_same_all(s, plan, looked);
        if (same && plan->node == 0) make_mirror(s, plan, path, size);
        if (MPI_Bcast(path, (int)size, MPI_CHAR, 0, s->firsts) != MPI_SUCCESS || !same)
            path[0] = '\0';
        if (plan->node != 0) open_made(s, path);
    }
    if (path[0] != '\0') {
        adopt_mirror(plan);
        return;
    }
    if (s->file >= 0) (void)close(s->file);
    s->file = -1;
    if (s->first) s->ds->stats.stage_fallbacks++;
}

bool stage_mirror_settles(struct stage *s, struct stage_lines *lines,
                          const struct stage_claim *c)
{
    if (!s->shared->mirror) return false;
    enum stage_asked asked = stage_ask(s, lines, c->block, 0, NULL, 0);
    bool limited = s->shared->room < INT64_MAX;
    if (asked == STAGE_GOT) {
        struct stage_claim found = *c;
        found.sum = lines->sum;
        stage_table_finish(s->table, &found, true);
        atomic_fetch_add(&s->counts.mirrored, s->shared->block);
        return true;
    }
    if (asked == STAGE_OURS || (asked == STAGE_NOBODY && !limited)) return false;
    stage_table_bar(s->table, c);
    return true;
}
