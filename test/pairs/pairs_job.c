/* Runs a process of a job. The process has at most one dataset open, and replies to each
 * order with the result of its call. A fault is armed just before the call: burst_calls.c
 * counts system calls on the dataset's directory, and kills or stops the process at one
 * of them. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "burst_calls.h"
#include "pairs.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

static int rank, nprocs, ncid = -1;

static const char *var_name(int var)
{
    static const char *const names[PAIRS_VARS] = {"r", "f", "q", "a0", "a1"};
    return names[var];
}

static MPI_Info make_info(const char *hints)
{
    MPI_Info info;
    char text[512], *save = NULL;
    MPI_Info_create(&info);
    snprintf(text, sizeof text, "%s", hints);
    for (char *hint = strtok_r(text, ";", &save); hint != NULL;
         hint = strtok_r(NULL, ";", &save)) {
        char *value = strchr(hint, '=');
        if (value == NULL) continue;
        *value = '\0';
        MPI_Info_set(info, hint, value + 1);
    }
    return info;
}

static char letter(uint64_t seed, int number, int i)
{
    return (char)('a' +
                  (unsigned)pairs_value(seed, number, 0, i % PAIRS_ROWS, i % PAIRS_X) %
                      26);
}

/* Returns `rc`, the first error so far, or `next` if there was none. */
static int first(int rc, int next)
{
    return rc != NC_NOERR ? rc : next;
}

static int define(const struct pairs_order *o)
{
    int t, y, x, v, rc = ncmpi_def_dim(ncid, "t", NC_UNLIMITED, &t);
    rc = first(rc, ncmpi_def_dim(ncid, "y", PAIRS_ROWS, &y));
    rc = first(rc, ncmpi_def_dim(ncid, "x", PAIRS_X, &x));
    rc = first(rc, ncmpi_put_att_int(ncid, NC_GLOBAL, "made", NC_INT, 1, &o->made));
    for (v = 0; v < PAIRS_ADDED && rc == NC_NOERR; v++) {
        int dims[2] = {pairs_is_record(v) ? t : y, x}, id;
        rc = ncmpi_def_var(ncid, var_name(v), v == 2 ? NC_SHORT : NC_INT, 2, dims, &id);
    }
    return rc;
}

static void look(struct pairs_reply *r)
{
    MPI_Offset n = 0;
    int id;
    r->made = -1;
    if (ncmpi_get_att_int(ncid, NC_GLOBAL, "made", &r->made) != NC_NOERR) r->made = -1;
    for (int v = 0; v < PAIRS_VARS; v++)
        if (ncmpi_inq_varid(ncid, var_name(v), &id) == NC_NOERR) r->present |= 1 << v;
    if (ncmpi_inq_dimlen(ncid, 0, &n) == NC_NOERR) r->records = (int)n;
}

static void do_create(const struct pairs_order *o, struct pairs_reply *r)
{
    MPI_Info info = make_info(o->hints);
    r->rc = ncmpi_create(MPI_COMM_WORLD, o->path,
                         NC_64BIT_DATA |
                             (o->step.kind == PAIRS_CREATE ? NC_CLOBBER : NC_NOCLOBBER),
                         info, &ncid);
    MPI_Info_free(&info);
    if (r->rc != NC_NOERR) return;
    r->phase = 1;
    r->rc = define(o);
    if (r->rc == NC_NOERR && o->step.way == 0) {
        r->rc = ncmpi_enddef(ncid);
        if (r->rc == NC_NOERR) r->phase = 2;
    }
    r->made = o->made;
    r->present = (1 << PAIRS_ADDED) - 1;
}

static void do_open(const struct pairs_order *o, struct pairs_reply *r)
{
    MPI_Info info = make_info(o->hints);
    r->rc = ncmpi_open(MPI_COMM_WORLD, o->path,
                       o->step.kind == PAIRS_OPEN ? NC_WRITE : NC_NOWRITE, info, &ncid);
    MPI_Info_free(&info);
    if (r->rc == NC_NOERR) look(r);
}

static int do_redef(const struct pairs_order *o)
{
    int dims[2], id, rc = ncmpi_redef(ncid), var = o->step.var;
    char *text = malloc((size_t)o->step.length), name[16];
    if (rc != NC_NOERR || text == NULL) {
        free(text);
        return first(rc, NC_ENOMEM);
    }
    for (int i = 0; i < o->step.length; i++)
        text[i] = letter(o->seed, o->put, i);
    snprintf(name, sizeof name, "n%d", var - PAIRS_ADDED);
    rc = ncmpi_inq_dimid(ncid, pairs_is_record(var) ? "t" : "y", &dims[0]);
    rc = first(rc, ncmpi_inq_dimid(ncid, "x", &dims[1]));
    if (rc == NC_NOERR) rc = ncmpi_def_var(ncid, var_name(var), NC_INT, 2, dims, &id);
    rc = first(rc, ncmpi_put_att_int(ncid, NC_GLOBAL, name, NC_INT, 1, &o->put));
    name[0] = 'a';
    rc = first(rc, ncmpi_put_att_text(ncid, NC_GLOBAL, name, o->step.length, text));
    free(text);
    return first(rc, ncmpi_enddef(ncid));
}

/* Puts this process's part of the order's region. */
static int do_put(const struct pairs_order *o)
{
    const struct pairs_step *p = &o->step;
    static int values[PAIRS_ROWS * PAIRS_X];
    const bool strided = p->way == PAIRS_STRIDED;
    MPI_Offset from = strided ? rank : (MPI_Offset)p->cols * rank / nprocs;
    MPI_Offset n = strided ? (p->cols - rank + nprocs - 1) / nprocs
                           : (MPI_Offset)p->cols * (rank + 1) / nprocs - from;
    MPI_Offset start[2] = {p->row, p->col + from}, count[2] = {p->rows, n};
    MPI_Offset stride[2] = {1, strided ? nprocs : 1};
    int id, request, status = NC_NOERR, rc = ncmpi_inq_varid(ncid, var_name(p->var), &id);
    if (rc != NC_NOERR) return rc;
    if (n <= 0) count[0] = count[1] = start[0] = start[1] = 0;
    for (int r = 0; r < p->rows; r++)
        for (MPI_Offset c = 0; c < n; c++)
            values[r * n + c] = pairs_value(o->seed, o->put, p->var, p->row + r,
                                            (int)(start[1] + c * stride[1]));
    if (p->way == PAIRS_ALONE) {
        rc = ncmpi_begin_indep_data(ncid);
        if (rc != NC_NOERR) return rc;
        rc = ncmpi_put_vars_int(ncid, id, start, count, stride, values);
        return first(rc, ncmpi_end_indep_data(ncid));
    }
    if (p->way != PAIRS_POSTED)
        return ncmpi_put_vars_int_all(ncid, id, start, count, stride, values);
    rc = ncmpi_iput_vars_int(ncid, id, start, count, stride, values, &request);
    if (rc != NC_NOERR) request = NC_REQ_NULL;
    rc = first(rc, ncmpi_wait_all(ncid, 1, &request, &status));
    return first(rc, status);
}

static void look_at_added(const struct pairs_order *o, struct pairs_reply *r)
{
    for (int k = 0; k < PAIRS_VARS - PAIRS_ADDED; k++) {
        const char name[3] = {'a', (char)('0' + k), '\0'},
                   by[3] = {'n', (char)('0' + k), '\0'};
        MPI_Offset n;
        int number;
        r->length[k] = -1;
        if (ncmpi_inq_attlen(ncid, NC_GLOBAL, name, &n) != NC_NOERR) continue;
        char *text = malloc((size_t)n + 1);
        r->length[k] = (int)n;
        r->right[k] = text != NULL &&
                      ncmpi_get_att_text(ncid, NC_GLOBAL, name, text) == NC_NOERR &&
                      ncmpi_get_att_int(ncid, NC_GLOBAL, by, &number) == NC_NOERR;
        for (int i = 0; i < n && r->right[k]; i++)
            r->right[k] = text[i] == letter(o->seed, number, i);
        free(text);
    }
}

static void do_get(const struct pairs_order *o, struct pairs_reply *r)
{
    look(r);
    look_at_added(o, r);
    r->rc = NC_NOERR;
    for (int v = 0; v < PAIRS_VARS; v++) {
        MPI_Offset start[2] = {0, 0}, count[2] = {PAIRS_ROWS, PAIRS_X};
        int id;
        if ((r->present >> v & 1) == 0) continue;
        if (pairs_is_record(v) && r->records < PAIRS_ROWS) count[0] = r->records;
        if (count[0] == 0) start[0] = start[1] = count[1] = 0;
        int rc = ncmpi_inq_varid(ncid, var_name(v), &id);
        rc = first(rc, ncmpi_get_vara_int_all(ncid, id, start, count,
                                              &r->values[pairs_at(v, 0, 0)]));
        r->rc = first(r->rc, rc);
    }
}

static int finish(int (*call)(int))
{
    int rc = call(ncid);
    ncid = -1;
    return rc;
}

static void carry_out(const struct pairs_order *o, struct pairs_reply *r)
{
    MPI_Info info;
    switch (o->step.kind) {
    case PAIRS_CREATE:
    case PAIRS_CREATE_NEW:
        do_create(o, r);
        break;
    case PAIRS_ENDDEF:
        r->rc = ncmpi_enddef(ncid);
        break;
    case PAIRS_OPEN:
    case PAIRS_READ:
        do_open(o, r);
        break;
    case PAIRS_REDEF:
        r->rc = do_redef(o);
        break;
    case PAIRS_PUT:
        r->rc = do_put(o);
        break;
    case PAIRS_GET:
        do_get(o, r);
        break;
    case PAIRS_SYNC:
        r->rc = ncmpi_sync(ncid);
        break;
    case PAIRS_CLOSE:
        r->rc = finish(ncmpi_close);
        break;
    case PAIRS_ABORT:
        r->rc = finish(ncmpi_abort);
        break;
    case PAIRS_WAIT:
        r->rc = ncmpix_wait_closed(o->path);
        break;
    case PAIRS_DELETE:
        info = make_info(o->hints);
        r->rc = rank == 0 ? ncmpi_delete(o->path, info) : NC_NOERR;
        MPI_Info_free(&info);
        break;
    default:
        r->rc = NC_EINVAL;
    }
}

/* Sends a reply. Includes the values only if `values` is set. */
static bool answer(int fd, const struct pairs_reply *r, bool values)
{
    size_t size = values ? sizeof *r : offsetof(struct pairs_reply, values);
    return send(fd, r, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static int connect_to(const char *path, int token)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct pairs_hello hello = {.token = token, .rank = rank, .pid = getpid()};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        send(fd, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
        return -1;
    return fd;
}

int pairs_job(const char *path, int token)
{
    static struct pairs_order order;
    static struct pairs_reply reply;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nprocs);
    int fd = connect_to(path, token);
    while (fd >= 0 && recv(fd, &order, sizeof order, 0) == sizeof order) {
        const bool strikes = order.step.fault != PAIRS_WHOLE && order.step.rank == rank;
        memset(&reply, 0, sizeof reply);
        reply.rank = rank;
        if (strikes) burst_calls_arm(order.step.point, order.step.fault == PAIRS_STOPPED);
        carry_out(&order, &reply);
        if (strikes) burst_calls_arm(0, false);
        if (reply.rc != NC_NOERR)
            snprintf(reply.text, sizeof reply.text, "%s", ncmpi_strerror(reply.rc));
        if (!answer(fd, &reply, order.step.kind == PAIRS_GET)) break;
    }
    _exit(0); /* MPI_Finalize would wait for processes that were killed */
}
