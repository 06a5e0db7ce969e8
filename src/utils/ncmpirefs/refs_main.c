/* ncmpirefs writes references to the bytes of a dataset, through which xarray and Zarr
 * read it in place. This file parses the command line and writes the file. The tool is a
 * serial program and does not use MPI. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "refs.h"
#include "util_blob.h"
#include "util_message.h"
#include "util_options.h"
#include "util_rights.h"

enum { CHUNK = 256, COPY, SKIP, URL };

static const struct util_option options[] = {
    {'o', "output", "OUT", "write to OUT, or '-' for standard output (FILE.json)"},
    {'f', "force", NULL, "overwrite OUT if it exists"},
    {URL, "url", "PREFIX", "prefix of the files' addresses: PREFIX/NAME (this machine)"},
    {CHUNK, "chunk", "BYTES",
     "maximum chunk size, with an optional suffix k, m or g (16m)"},
    {COPY, "copy", "BYTES", "copy at most BYTES of each variable's values into OUT (1m)"},
    {SKIP, "skip", NULL, "omit variables that exceed this, instead of failing"},
    {0},
};

static const struct util_tool tool = {
    .name = REFS_TOOL,
    .synopsis =
        "[-o OUT] [-f] [--url PREFIX] [--chunk BYTES] [--copy BYTES] [--skip] FILE",
    .about = "Writes a Kerchunk reference file (JSON), through which xarray, Zarr and "
             "fsspec can\n"
             "read a classic netCDF file, or one in subfiles, in place.",
    .options = options,
    .examples = "  ncmpirefs run.nc\n"
                "  ncmpirefs --url https://data.example.org/runs -o run.json run.nc\n"
                "  ncmpirefs -o - run.nc | jq '.refs | length'\n",
};

int refs_complain(const struct refs *r, const struct cdf_var *v, const char *what)
{
    util_message(REFS_TOOL, r->path, -1, "variable '%s': %s", v->name, what);
    return -1;
}

static int complain(const char *path, const char *what)
{
    util_message(REFS_TOOL, path, -1, "%s", what);
    return -1;
}

/* ---- options ---- */

static int refuse(const char *reason)
{
    complain(NULL, reason);
    util_usage(&tool);
    return UTIL_WRONG;
}

static int parse_bytes(int64_t *bytes, const char *text)
{
    static const char units[] = "kmg";
    char *end;
    errno = 0;
    *bytes = strtoll(text, &end, 10);
    const char *unit = *end == '\0' ? NULL : strchr(units, *end);
    int shift = unit == NULL ? 0 : 10 * (int)(unit - units + 1);
    if (unit != NULL) end++;
    if (errno != 0 || end == text || *end != '\0' || *bytes < 0 ||
        *bytes > INT64_MAX >> shift)
        return refuse(
            "--chunk and --copy: must be a number of bytes, such as 65536 or 16m");
    *bytes <<= shift;
    return 0;
}

static int apply(struct refs *r, int letter, const char *argument)
{
    switch (letter) {
    case 'o':
        r->to = argument;
        return 0;
    case 'f':
        r->force = true;
        return 0;
    case URL:
        r->url = argument;
        return 0;
    case CHUNK:
        return parse_bytes(&r->chunk_bytes, argument);
    case COPY:
        return parse_bytes(&r->copy_bytes, argument);
    default:
        r->skip = true;
        return 0;
    }
}

static int parse(struct refs *r, int argc, char **argv)
{
    const char *argument;
    int letter;
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0)
        if (apply(r, letter, argument) != 0) return UTIL_WRONG;
    if (letter != UTIL_END) return letter < 0 ? letter : UTIL_WRONG;
    int first = util_first_operand();
    if (first != argc - 1)
        return refuse(first == argc ? "no file given" : "only one file can be given");
    r->path = argv[first];
    return 0;
}

/* ---- addresses ---- */

/* Some characters have a special meaning in a URL and must be escaped. */
static void put_name(char *to, const char *name, bool web)
{
    for (; *name != '\0'; name++)
        if (web && strchr(" \"#%<>?[\\]^`{|}", *name) != NULL)
            to += sprintf(to, "%%%02X", (unsigned char)*name);
        else
            *to++ = *name;
    *to = '\0';
}

static char *address_of(const struct refs *r, const char *path)
{
    char text[4 * PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (r->url == NULL) return refs_quoted(path);
    size_t n = strlen(r->url);
    if (n > PATH_MAX) return NULL;
    strcpy(text, r->url);
    if (n > 0 && text[n - 1] != '/') text[n++] = '/';
    put_name(text + n, slash == NULL ? path : slash + 1, strncmp(text, "http", 4) == 0);
    return refs_quoted(text);
}

static int make_addresses(struct refs *r)
{
    char known[PATH_MAX];
    const char *path = realpath(r->path, known);
    r->nurls = 1 + util_blob_count(&r->file);
    r->urls = base_calloc((size_t)r->nurls, sizeof *r->urls);
    for (int i = 0; r->urls != NULL && i < r->nurls; i++) {
        if (i > 0) path = util_blob_path(&r->file, i - 1);
        r->urls[i] = address_of(r, path == NULL ? r->path : path);
        if (r->urls[i] == NULL) return complain(path, strerror(ENAMETOOLONG));
    }
    return r->urls == NULL ? complain(NULL, base_error_text(NC_ENOMEM)) : 0;
}

/* ---- references ---- */

static int plan(struct refs *r)
{
    const struct cdf_header *h = &r->file.header;
    int left_out = 0;
    r->vars = base_calloc((size_t)h->nvars + 1, sizeof *r->vars);
    if (r->vars == NULL) return complain(NULL, base_error_text(NC_ENOMEM));
    for (int i = 0; i < h->nvars; i++) {
        r->vars[i].left_out = refs_cut(r, i) != 0 || refs_look(r, &r->vars[i]) != 0;
        left_out += r->vars[i].left_out;
    }
    if (left_out == 0 || r->skip) return make_addresses(r);
    return complain(r->path, "nothing was written; omit such variables with --skip, or "
                             "join subfiles with ncmpijoin");
}

static int write_refs(struct refs *r)
{
    int status;
    util_json_start(&r->j, &r->out);
    util_json_open(&r->j, NULL, '{');
    util_json_int(&r->j, "version", 1);
    util_json_open(&r->j, "refs", '{');
    status = refs_group(r);
    for (int i = 0; i < r->file.header.nvars && status == 0; i++) {
        if (r->vars[i].left_out) continue;
        status = refs_array(r, &r->vars[i]);
        if (status == 0) status = refs_chunks(r, &r->vars[i]);
    }
    util_json_close(&r->j, '}');
    util_json_close(&r->j, '}');
    int error = util_out_flush(&r->out);
    if (error == 0 || status != 0) return status;
    return complain(r->to, strerror(error));
}

/* ---- the file ---- */

static int check_target(const struct refs *r)
{
    const char *why = util_blob_refuses(&r->file, r->to, r->force);
    return why == NULL ? 0 : complain(r->to, why);
}

/* Writes the references under a temporary name. The file gets the permissions of the
 * dataset, because the references may contain some of the dataset's values. */
static int write_file(struct refs *r, int fd, const char *path)
{
    util_out_init(&r->out, fd);
    if (util_give_rights(r->file.fd, fd, path, true) != 0)
        return complain(path, strerror(errno));
    if (write_refs(r) != 0) return -1;
    if (base_sync_data(fd, path) != NC_NOERR)
        return complain(NULL, base_error_detail(NC_EWRITE));
    return check_target(r);
}

static int make_file(struct refs *r)
{
    char path[PATH_MAX];
    if (check_target(r) != 0) return -1;
    if (snprintf(path, sizeof path, "%s.XXXXXX", r->to) >= (int)sizeof path)
        return complain(r->to, strerror(ENAMETOOLONG));
    int fd = mkstemp(path);
    if (fd < 0) return complain(r->to, strerror(errno));
    int status = write_file(r, fd, path);
    if (close(fd) != 0 && status == 0) status = complain(path, strerror(errno));
    if (status == 0 && rename(path, r->to) != 0)
        status = complain(r->to, strerror(errno));
    if (status != 0) (void)unlink(path);
    return status;
}

static int make(struct refs *r)
{
    if (r->to == NULL &&
        snprintf(r->name, sizeof r->name, "%s.json", r->path) >= (int)sizeof r->name)
        return complain(r->path, strerror(ENAMETOOLONG));
    if (r->to == NULL) r->to = r->name;
    if (plan(r) != 0) return -1;
    if (strcmp(r->to, "-") != 0) return make_file(r);
    r->to = "standard output";
    util_out_init(&r->out, STDOUT_FILENO);
    return write_refs(r);
}

int main(int argc, char **argv)
{
    struct refs r = {.chunk_bytes = 16 << 20, .copy_bytes = 1 << 20};
    int status = parse(&r, argc, argv);
    if (status != 0) return status == UTIL_ANSWERED ? EXIT_SUCCESS : EXIT_FAILURE;
    if (util_classic_open(&r.file, REFS_TOOL, r.path) != 0) return EXIT_FAILURE;
    status = make(&r);
    for (int i = 0; r.vars != NULL && i < r.file.header.nvars; i++)
        base_free(r.vars[i].shape);
    for (int i = 0; r.urls != NULL && i < r.nurls; i++)
        base_free(r.urls[i]);
    base_free(r.vars);
    base_free(r.urls);
    util_classic_close(&r.file);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
