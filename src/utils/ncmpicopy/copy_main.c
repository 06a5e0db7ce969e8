/* ncmpicopy copies a netCDF file, in parallel, to another format or shape.
 *
 * It opens the source, plans what to copy, creates the copy with the rights of the
 * source, defines the variables, copies and compares the values, closes the copy, and
 * reopens it as a check. A copy that is not complete is removed. */
#include "copy.h"
#include "base_io.h"
#include "copy_target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pnetcdf.h"
#include "util_message.h"
#include "util_options.h"
#include "util_whole.h"

static const struct util_option options[] = {
    {'k', "format", "FORMAT",
     "format of the copy: 1, 2, 5, nc4, nc7 or a name (that of FILE1)"},
    {'v', NULL, "VAR,...", "copy only these variables, and those they need"},
    {'d', NULL, "DIM=A:B:STEP", "copy only indices A to B - 1 of DIM; may be repeated"},
    {'d', NULL, "LEVEL", "deflate level of a netCDF-4 file: 0 (none) to 9"},
    {'r', "header-room", "BYTES", "reserve BYTES for the header to grow into"},
    {'u', "fixed", NULL, "make the unlimited dimension a fixed-size one"},
    {'U', "unlimited", "DIM", "make this dimension unlimited"},
    {'f', "force", NULL, "overwrite FILE2 if it exists"},
    {'n', "no-check", NULL, "do not read the copy again for comparison"},
    {0},
};

static const struct util_tool tool = {
    .name = COPY_TOOL,
    .synopsis =
        "[-k FORMAT] [-v VAR,...] [-d DIM=A:B:STEP] [-d LEVEL] [-r BYTES] [-u] [-U DIM] "
        "[-f] [-n] FILE1 FILE2",
    .about = "Copies a netCDF file, or parts of it, and checks the copy.",
    .options = options,
    .examples = "  ncmpicopy -k 5 -r 65536 old.nc new.nc\n"
                "  ncmpicopy -k cdf5 new4.nc classic.nc\n"
                "  mpiexec -n 4 ncmpicopy -v temp -d time=-10: run.nc part.nc\n",
};

int copy_complain(const char *path, const char *what, int err)
{
    if (what == NULL)
        util_message(COPY_TOOL, path, -1, "%s", ncmpi_strerror(err));
    else
        util_message(COPY_TOOL, path, -1, "'%s': %s", what, ncmpi_strerror(err));
    return -1;
}

/* ---- options ---- */

static const char *parse_room(struct copy_options *o, const char *text)
{
    char *end;
    errno = 0;
    o->room = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && o->room >= 0
               ? NULL
               : "-r: must be a number of bytes";
}

static const char *parse_slab(struct copy_options *o, const char *text)
{
    if (text[0] >= '0' && text[0] <= '9' && text[1] == '\0') {
        o->deflate = text[0] - '0';
        return NULL;
    }
    if (o->nslabs == COPY_MOST_SLABS) return "-d: given too many times";
    return util_slab_parse(&o->slab[o->nslabs++], text) == 0
               ? NULL
               : "-d: must be DIM=A:B, DIM=A:B:STEP, DIM=INDEX or a level from 0 to 9";
}

/* Applies an option. Returns NULL, or a message that describes what is wrong. */
static const char *apply(struct copy_options *o, int letter, const char *argument)
{
    switch (letter) {
    case 'k':
        o->format = util_format_of(argument);
        return o->format == 0
                   ? "-k: must be 1, 2, 5, classic, 64-bit-offset, cdf5, nc4 or nc7"
                   : NULL;
    case 'v':
        o->variables = argument;
        return NULL;
    case 'd':
        return parse_slab(o, argument);
    case 'r':
        return parse_room(o, argument);
    case 'u':
        o->fixed = true;
        return NULL;
    case 'U':
        o->unlimited = argument;
        return NULL;
    case 'f':
        o->force = true;
        return NULL;
    default:
        o->unchecked = true;
        return NULL;
    }
}

static int parse(struct copy_options *o, int argc, char **argv)
{
    const char *argument, *wrong = NULL;
    int letter;
    *o = (struct copy_options){.deflate = -1};
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0 && wrong == NULL)
        wrong = apply(o, letter, argument);
    if (letter != UTIL_END && wrong == NULL) return letter;
    int first = util_first_operand();
    if (wrong == NULL && first != argc - 2)
        wrong = "a source file and a target file are required";
    if (wrong != NULL) {
        util_message(COPY_TOOL, NULL, -1, "%s", wrong);
        util_usage(&tool);
        return UTIL_WRONG;
    }
    o->from = argv[first];
    o->to = argv[first + 1];
    return 0;
}

/* ---- files ---- */

/* Returns whether source and copy are the same file, possibly under different names.
 * Process 0 checks this. */
static bool same_file(const struct copy *c)
{
    int same = 0;
    struct stat a, b;
    if (c->rank == 0 && c->options.from != NULL)
        same = stat(c->options.from, &a) == 0 && stat(c->options.to, &b) == 0 &&
               base_same_file(&a, &b);
    MPI_Bcast(&same, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (same)
        util_message(COPY_TOOL, c->options.to, -1,
                     "the source and the copy are the same file");
    return same != 0;
}

static int source_format(int ncid, int *format)
{
    static const int formats[] = {
        [NC_FORMAT_CLASSIC] = 1,
        [NC_FORMAT_CDF2] = 2,
        [NC_FORMAT_CDF5] = 5,
        [NC_FORMAT_NETCDF4] = UTIL_NC4,
        [NC_FORMAT_NETCDF4_CLASSIC] = UTIL_NC7,
    };
    int err = ncmpi_inq_format(ncid, format);
    if (err == NC_NOERR) *format = formats[*format];
    return err;
}

/* Creates the copy. New files get mode `mode`. Returns an NC_ error. */
static int create_as(struct copy *c, int clobber, mode_t mode)
{
    static const int flags[] = {
        [1] = 0,
        [2] = NC_64BIT_OFFSET,
        [5] = NC_64BIT_DATA,
        [UTIL_NC4] = NC_NETCDF4,
        [UTIL_NC7] = NC_NETCDF4 | NC_CLASSIC_MODEL,
    };
    char level[] = "zstd:0"; /* the digit is replaced with the level */
    MPI_Info info = MPI_INFO_NULL;
    if (c->options.deflate >= 0) {
        level[sizeof level - 2] = (char)('0' + c->options.deflate);
        MPI_Info_create(&info);
        MPI_Info_set(info, "nc_compress", c->options.deflate == 0 ? "none" : level);
    }
    mode_t mask = umask(0777 & ~mode);
    int err = ncmpi_create(MPI_COMM_WORLD, c->options.to,
                           flags[c->options.format] | clobber, info, &c->out);
    (void)umask(mask);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    return err;
}

static int create(struct copy *c)
{
    int *format = &c->options.format;
    int err = *format == 0 ? source_format(c->in, format) : NC_NOERR;
    if (err != NC_NOERR) return copy_complain(c->options.from, NULL, err);
    if (c->options.deflate >= 0 && !copy_is_nc4(c)) {
        util_message(COPY_TOOL, c->options.to, -1,
                     "-d: only netCDF-4 files can be deflated; use -k nc4 or -k nc7");
        return -1;
    }
    struct copy_target t = {.from = -1, .to = -1};
    int status = c->rank == 0 ? copy_target_begin(c, &t) : 0;
    if (status != 0) util_message(COPY_TOOL, c->options.to, -1, "%s", strerror(errno));
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&t.fresh, 1, MPI_C_BOOL, 0, MPI_COMM_WORLD);
    MPI_Bcast(&t.mode, sizeof t.mode, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (status == 0) err = create_as(c, t.fresh ? NC_NOCLOBBER : NC_CLOBBER, t.mode);
    if (c->rank == 0) copy_target_end(c, &t, status == 0 && err == NC_NOERR);
    MPI_Bcast(&c->id, sizeof c->id, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (status != 0) return status;
    return err == NC_NOERR ? 0 : copy_complain(c->options.to, NULL, err);
}

/* Closes the copy. If any process has an error, the call fails on all processes. */
static int close_out(struct copy *c, int status)
{
    int err = ncmpi_close(c->out);
    if (err != NC_NOERR && status == 0) status = copy_complain(c->options.to, NULL, err);
    int bad = status != 0;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return bad ? -1 : 0;
}

/* Checks that the copy can be opened. */
static int reread(struct copy *c)
{
    int err =
        ncmpi_open(MPI_COMM_WORLD, c->options.to, NC_NOWRITE, MPI_INFO_NULL, &c->out);
    if (err != NC_NOERR) return copy_complain(c->options.to, NULL, err);
    return close_out(c, 0);
}

/* Removes an incomplete copy. */
static void remove_copy(const struct copy *c)
{
    if (c->rank != 0) return;
    int err = ncmpi_delete(c->options.to, MPI_INFO_NULL); /* also removes its subfiles */
    if (err == NC_NOERR)
        util_message(COPY_TOOL, c->options.to, -1, "incomplete; removed");
    else if (err != NC_ENOENT)
        util_message(COPY_TOOL, c->options.to, -1, "incomplete");
}

static int write_copy(struct copy *c)
{
    util_mute(c->rank != 0);
    int status = create(c);
    if (status != 0) return status;
    status = copy_define(c);
    util_mute(false);
    if (status == 0)
        status = close_out(c, copy_data(c));
    else
        ncmpi_abort(c->out);
    if (status == 0 && c->rank == 0) copy_target_finish(c);
    if (status == 0 && !c->options.unchecked) status = reread(c);
    if (status != 0) remove_copy(c);
    return status;
}

static int copy(struct copy *c)
{
    util_mute(c->rank != 0); /* print each error only once */
    if (same_file(c)) return -1;
    int err =
        ncmpi_open(MPI_COMM_WORLD, c->options.from, NC_NOWRITE, MPI_INFO_NULL, &c->in);
    if (err != NC_NOERR) return copy_complain(c->options.from, NULL, err);
    if (c->rank == 0) util_report_omitted(COPY_TOOL, c->options.from, c->in);
    int status = copy_plan(c);
    if (status == 0) status = write_copy(c);
    util_mute(false);
    copy_plan_free(c);
    ncmpi_close(c->in);
    return status;
}

int main(int argc, char **argv)
{
    static struct copy c;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c.nprocs);
    util_mute(c.rank != 0);
    int status = parse(&c.options, argc, argv);
    if (status == 0) status = copy(&c);
    MPI_Finalize();
    return status == 0 || status == UTIL_ANSWERED ? EXIT_SUCCESS : EXIT_FAILURE;
}
