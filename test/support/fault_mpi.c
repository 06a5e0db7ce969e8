/* Interposes MPI functions by means of the profiling interface. */
#include "fault_mpi.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "fault.h"

/* ---- objects that the program has created ---- */

enum kind { COMM, WIN, GROUP, INFO, TYPE, HANDLER, HANDLE, KINDS };
static const char *const kind_names[KINDS] = {"communicator", "window",  "group", "info",
                                              "datatype",     "handler", "file"};

/* A handle is a number or a pointer, depending on the MPI library, so it is stored as
 * bytes. */
struct object {
    enum kind kind;
    bool lost;
    unsigned char handle[sizeof(void *)];
};

enum { MOST = 4096, KEYS = 16 };
static struct object objects[MOST];
static int nobjects;
static bool lost;
static bool lost_others; /* whether an object other than a window was lost */
static MPI_Comm_delete_attr_function *at_end[KEYS];
static int nat_end;

static void note(enum kind kind, const void *handle, size_t size, bool is_lost)
{
    if (nobjects == MOST) return;
    struct object *o = &objects[nobjects++];
    memset(o, 0, sizeof *o);
    o->kind = kind;
    o->lost = is_lost;
    memcpy(o->handle, handle, size);
}

static void forget(enum kind kind, const void *handle, size_t size)
{
    int i = nobjects - 1;
    while (i >= 0 &&
           (objects[i].kind != kind || memcmp(objects[i].handle, handle, size) != 0))
        i--;
    if (i < 0) return;
    nobjects--;
    memmove(&objects[i], &objects[i + 1], (size_t)(nobjects - i) * sizeof *objects);
}

bool fault_mpi_lost(void)
{
    return lost;
}

bool fault_mpi_lost_window(void)
{
    return lost && !lost_others;
}

int fault_mpi_left(char *text, size_t size)
{
    int n[KINDS] = {0}, all = 0;
    size_t at = 0;
    for (int i = 0; i < nobjects; i++)
        if (!objects[i].lost) n[objects[i].kind]++, all++;
    text[0] = '\0';
    for (int k = 0; k < KINDS; k++)
        if (n[k] > 0 && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%d %s", at > 0 ? ", " : "",
                                   n[k], kind_names[k]);
    return all;
}

void fault_mpi_end_all(void)
{
    for (int i = 0; i < nat_end; i++)
        at_end[i](MPI_COMM_SELF, MPI_KEYVAL_INVALID, NULL, NULL);
}

static void give_back_all(struct object *o)
{
    union {
        MPI_Comm comm;
        MPI_Win win;
        MPI_Group group;
        MPI_Info info;
        MPI_Datatype type;
        MPI_Errhandler handler;
        MPI_File file;
    } u;
    memcpy(&u, o->handle, sizeof u < sizeof o->handle ? sizeof u : sizeof o->handle);
    switch (o->kind) {
    case COMM:
        PMPI_Comm_free(&u.comm);
        break;
    case WIN:
        PMPI_Win_free(&u.win);
        break;
    case GROUP:
        PMPI_Group_free(&u.group);
        break;
    case INFO:
        PMPI_Info_free(&u.info);
        break;
    case TYPE:
        PMPI_Type_free(&u.type);
        break;
    case HANDLER:
        PMPI_Errhandler_free(&u.handler);
        break;
    case HANDLE:
        PMPI_File_close(&u.file);
        break;
    case KINDS:
        break;
    }
}

void fault_mpi_sweep_all(void)
{
    for (int i = 0; i < nobjects; i++)
        give_back_all(&objects[i]);
    nobjects = 0;
    lost = lost_others = false;
}

/* ---- injecting results ---- */

/* Nesting depth of interposed calls. Calls that MPI makes internally (depth > 0) must not
 * be made to fail. */
static int depth;

static bool fails(const char *name)
{
    return depth == 0 && fault_meets(name, "");
}

static int result(bool failed, int rc)
{
    if (!failed) return rc;
    return errno == ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

/* Finishes a call that creates an object. If the call must fail, fills the handle with
 * garbage, because the caller must not use it. */
static int made(bool failed, int rc, enum kind kind, void *handle, size_t size,
                const void *null)
{
    bool real = rc == MPI_SUCCESS && memcmp(handle, null, size) != 0;
    if (depth == 0 && real) note(kind, handle, size, failed);
    if (failed) memset(handle, 0x5a, size);
    bool refused = failed || rc != MPI_SUCCESS;
    lost = lost || refused;
    lost_others = lost_others || (refused && kind != WIN);
    return result(failed, rc);
}

static int made_comm(bool failed, int rc, MPI_Comm *comm)
{
    const MPI_Comm null = MPI_COMM_NULL;
    return made(failed, rc, COMM, comm, sizeof null, &null);
}

static int made_info(bool failed, int rc, MPI_Info *info)
{
    const MPI_Info null = MPI_INFO_NULL;
    return made(failed, rc, INFO, info, sizeof null, &null);
}

/* ---- interposed functions that create objects ---- */

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    bool failed = fails("MPI_Comm_dup");
    depth++;
    int rc = PMPI_Comm_dup(comm, copy);
    depth--;
    return made_comm(failed, rc, copy);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *part)
{
    bool failed = fails("MPI_Comm_split");
    depth++;
    int rc = PMPI_Comm_split(comm, colour, key, part);
    depth--;
    return made_comm(failed, rc, part);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part)
{
    bool failed = fails("MPI_Comm_split_type");
    depth++;
    int rc = PMPI_Comm_split_type(comm, type, key, info, part);
    depth--;
    return made_comm(failed, rc, part);
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
    const MPI_Group null = MPI_GROUP_NULL;
    if (fails("MPI_Comm_group")) return result(true, MPI_SUCCESS);
    return made(false, PMPI_Comm_group(comm, group), GROUP, group, sizeof null, &null);
}

int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handler)
{
    const MPI_Errhandler null = MPI_ERRHANDLER_NULL;
    if (fails("MPI_Comm_get_errhandler")) return result(true, MPI_SUCCESS);
    return made(false, PMPI_Comm_get_errhandler(comm, handler), HANDLER, handler,
                sizeof null, &null);
}

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                           MPI_Comm_delete_attr_function *end, int *key, void *extra)
{
    if (fails("MPI_Comm_create_keyval")) return result(true, MPI_SUCCESS);
    int rc = PMPI_Comm_create_keyval(copy, end, key, extra);
    if (depth == 0 && rc == MPI_SUCCESS && nat_end < KEYS) at_end[nat_end++] = end;
    return rc;
}

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                            void *base, MPI_Win *win)
{
    const MPI_Win null = MPI_WIN_NULL;
    bool failed = fails("MPI_Win_allocate_shared");
    depth++;
    int rc = PMPI_Win_allocate_shared(size, unit, info, comm, base, win);
    depth--;
    return made(failed, rc, WIN, win, sizeof null, &null);
}

int MPI_Info_create(MPI_Info *info)
{
    if (fails("MPI_Info_create")) return result(true, MPI_SUCCESS);
    return made_info(false, PMPI_Info_create(info), info);
}

int MPI_Info_dup(MPI_Info info, MPI_Info *copy)
{
    if (fails("MPI_Info_dup")) return result(true, MPI_SUCCESS);
    return made_info(false, PMPI_Info_dup(info, copy), copy);
}

int MPI_File_get_info(MPI_File f, MPI_Info *info)
{
    if (fails("MPI_File_get_info")) return result(true, MPI_SUCCESS);
    depth++;
    int rc = PMPI_File_get_info(f, info);
    depth--;
    return made_info(false, rc, info);
}

int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *f)
{
    const MPI_File null = MPI_FILE_NULL;
    bool failed = fails("MPI_File_open");
    depth++;
    int rc = PMPI_File_open(comm, path, mode, info, f);
    depth--;
    return made(failed, rc, HANDLE, f, sizeof null, &null);
}

int MPI_Type_create_hindexed(int n, const int *lengths, const MPI_Aint *displs,
                             MPI_Datatype old, MPI_Datatype *type)
{
    const MPI_Datatype null = MPI_DATATYPE_NULL;
    if (fails("MPI_Type_create_hindexed")) {
        memset(type, 0x5a, sizeof *type);
        return result(true, MPI_SUCCESS);
    }
    return made(false, PMPI_Type_create_hindexed(n, lengths, displs, old, type), TYPE,
                type, sizeof null, &null);
}

/* ---- functions that free objects ---- */

int MPI_Comm_free(MPI_Comm *comm)
{
    if (depth == 0) forget(COMM, comm, sizeof *comm);
    return PMPI_Comm_free(comm);
}

int MPI_Win_free(MPI_Win *win)
{
    if (depth == 0) forget(WIN, win, sizeof *win);
    depth++;
    int rc = PMPI_Win_free(win);
    depth--;
    return rc;
}

int MPI_Group_free(MPI_Group *group)
{
    if (depth == 0) forget(GROUP, group, sizeof *group);
    return PMPI_Group_free(group);
}

int MPI_Info_free(MPI_Info *info)
{
    if (depth == 0) forget(INFO, info, sizeof *info);
    return PMPI_Info_free(info);
}

int MPI_Type_free(MPI_Datatype *type)
{
    if (depth == 0) forget(TYPE, type, sizeof *type);
    return PMPI_Type_free(type);
}

int MPI_Errhandler_free(MPI_Errhandler *handler)
{
    if (depth == 0) forget(HANDLER, handler, sizeof *handler);
    return PMPI_Errhandler_free(handler);
}

int MPI_File_close(MPI_File *f)
{
    bool failed = fails("MPI_File_close");
    if (depth == 0) forget(HANDLE, f, sizeof *f);
    depth++;
    int rc = PMPI_File_close(f);
    depth--;
    return result(failed, rc);
}

/* ---- other functions ----
 *
 * A collective function is always called before it reports an injected fault, so that the
 * other processes do not wait forever. */

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    if (fails("MPI_Comm_set_errhandler")) return result(true, MPI_SUCCESS);
    return PMPI_Comm_set_errhandler(comm, handler);
}

int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handler)
{
    if (fails("MPI_Win_set_errhandler")) return result(true, MPI_SUCCESS);
    return PMPI_Win_set_errhandler(win, handler);
}

int MPI_Comm_set_attr(MPI_Comm comm, int key, void *value)
{
    if (fails("MPI_Comm_set_attr")) return result(true, MPI_SUCCESS);
    return PMPI_Comm_set_attr(comm, key, value);
}

int MPI_Win_lock_all(int assertion, MPI_Win win)
{
    int rc = PMPI_Win_lock_all(assertion, win); /* on failure, callers do not unlock */
    return result(fails("MPI_Win_lock_all"), rc);
}

int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base)
{
    if (fails("MPI_Win_shared_query")) return result(true, MPI_SUCCESS);
    return PMPI_Win_shared_query(win, rank, size, unit, base);
}

int MPI_Type_commit(MPI_Datatype *type)
{
    if (fails("MPI_Type_commit")) return result(true, MPI_SUCCESS);
    return PMPI_Type_commit(type);
}

int MPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    if (fails("MPI_Info_set")) return result(true, MPI_SUCCESS);
    return PMPI_Info_set(info, key, value);
}

int MPI_File_get_size(MPI_File f, MPI_Offset *size)
{
    if (fails("MPI_File_get_size")) return result(true, MPI_SUCCESS);
    return PMPI_File_get_size(f, size);
}

int MPI_File_set_size(MPI_File f, MPI_Offset size)
{
    bool failed = fails("MPI_File_set_size");
    depth++;
    int rc = PMPI_File_set_size(f, size);
    depth--;
    return result(failed, rc);
}

int MPI_File_sync(MPI_File f)
{
    bool failed = fails("MPI_File_sync");
    depth++;
    int rc = PMPI_File_sync(f);
    depth--;
    return result(failed, rc);
}

int MPI_File_set_view(MPI_File f, MPI_Offset at, MPI_Datatype unit, MPI_Datatype type,
                      const char *form, MPI_Info info)
{
    bool failed = fails("MPI_File_set_view");
    depth++;
    int rc = PMPI_File_set_view(f, at, unit, type, form, info);
    depth--;
    return result(failed, rc);
}

int MPI_File_read_at(MPI_File f, MPI_Offset at, void *to, int n, MPI_Datatype type,
                     MPI_Status *status)
{
    if (fails("MPI_File_read_at")) return result(true, MPI_SUCCESS);
    depth++;
    int rc = PMPI_File_read_at(f, at, to, n, type, status);
    depth--;
    return rc;
}

int MPI_File_write_at(MPI_File f, MPI_Offset at, const void *from, int n,
                      MPI_Datatype type, MPI_Status *status)
{
    if (fails("MPI_File_write_at")) return result(true, MPI_SUCCESS);
    depth++;
    int rc = PMPI_File_write_at(f, at, from, n, type, status);
    depth--;
    return rc;
}

int MPI_File_read_at_all(MPI_File f, MPI_Offset at, void *to, int n, MPI_Datatype type,
                         MPI_Status *status)
{
    bool failed = fails("MPI_File_read_at_all");
    depth++;
    int rc = PMPI_File_read_at_all(f, at, to, n, type, status);
    depth--;
    return result(failed, rc);
}

int MPI_File_write_at_all(MPI_File f, MPI_Offset at, const void *from, int n,
                          MPI_Datatype type, MPI_Status *status)
{
    bool failed = fails("MPI_File_write_at_all");
    depth++;
    int rc = PMPI_File_write_at_all(f, at, from, n, type, status);
    depth--;
    return result(failed, rc);
}
