/* ncmpigen: from CDL to a classic netCDF file, or to a program that makes it. A serial
 * program without MPI. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "gen.h"
#include "util_message.h"
#include "util_options.h"
#include "util_type.h"

static const struct util_option options[] = {
    {'b', NULL, NULL, "make a file, NAME.nc of the dataset's name"},
    {'o', NULL, "FILE", "make this file"},
    {'c', NULL, NULL, "write a C program that makes the file"},
    {'f', NULL, NULL, "write a Fortran program that makes the file"},
    {'k', NULL, "FORMAT", "its format: 1, 2, 5 or a name (what the text needs)"},
    {'v', NULL, "FORMAT", "the same"},
    {'x', "no-fill", NULL, "what has no value is not filled"},
    {0},
};

static const struct util_tool tool = {
    .name = GEN_TOOL,
    .synopsis = "[-b] [-o FILE] [-c|-f] [-k FORMAT] [-x] [CDL]",
    .about = "Makes a classic netCDF file of a text in CDL, or a program that makes it.\n"
             "With no option that names an output the text is only checked.",
    .options = options,
};

struct order {
    bool binary;
    const char *output;
    const struct gen_sink *program;
};

static const char *apply(struct gen *g, struct order *o, int letter, const char *argument)
{
    switch (letter) {
    case 'b':
        o->binary = true;
        return NULL;
    case 'o':
        o->output = argument;
        return NULL;
    case 'c':
        o->program = &gen_c;
        return NULL;
    case 'f':
        o->program = &gen_fortran;
        return NULL;
    case 'k':
    case 'v':
        g->format = util_format_of(argument);
        return g->format == 0 ? "-k: takes 1, 2, 5, classic, 64-bit-offset or cdf5"
                              : NULL;
    default:
        g->no_fill = true;
        return NULL;
    }
}

static int parse(struct gen *g, struct order *o, int argc, char **argv)
{
    const char *argument, *wrong = NULL;
    int letter;
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0 && wrong == NULL)
        wrong = apply(g, o, letter, argument);
    if (letter != UTIL_END && wrong == NULL) return letter;
    int first = util_first_operand();
    if (wrong == NULL && argc - first > 1) wrong = "one text at a time";
    g->input = first < argc ? argv[first] : "-";
    if (wrong == NULL) return 0;
    util_message(GEN_TOOL, NULL, -1, "%s", wrong);
    util_usage(&tool);
    return UTIL_WRONG;
}

/* The name behind the word netcdf; the text's own where that is no plain name. */
static void name_output(struct gen *g, char path[NC_MAX_NAME + 4])
{
    char name[NC_MAX_NAME + 1];
    struct cdl_scan *s = &g->scan;
    cdl_scan_rewind(s);
    cdl_next(s);
    cdl_next(s);
    if (s->kind != CDL_NAME || cdl_name(s, name) != NC_NOERR || strchr(name, '/') != NULL)
        strcpy(name, "unnamed");
    snprintf(path, NC_MAX_NAME + 4, "%s.nc", name);
}

static int feed(struct gen *g)
{
    g->written = base_calloc((size_t)g->header.nvars, sizeof *g->written);
    if (g->written == NULL) return gen_complain(NC_ENOMEM);
    util_progress_start(&g->progress, GEN_TOOL, (int64_t)(g->scan.end - g->scan.text));
    int status = g->sink->begin(g);
    if (status == 0) status = gen_data(g);
    if (status == 0) status = g->sink->end(g);
    util_progress_end(&g->progress);
    base_free(g->written);
    return status;
}

/* A file that is not complete is removed. */
static int to_file(struct gen *g)
{
    g->fd = open(g->output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (g->fd < 0) {
        util_message(GEN_TOOL, g->output, -1, "%s", strerror(errno));
        return -1;
    }
    int status = feed(g);
    if (close(g->fd) != 0 && status == 0) {
        util_message(GEN_TOOL, g->output, -1, "%s", strerror(errno));
        status = -1;
    }
    if (status != 0) unlink(g->output);
    return status;
}

/* A program goes to the file that is named, or to standard output. */
static int to_program(struct gen *g, const char *path)
{
    static struct util_out out;
    int fd = STDOUT_FILENO;
    if (path != NULL) fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    const char *where = path == NULL ? "standard output" : path;
    if (fd < 0) {
        util_message(GEN_TOOL, where, -1, "%s", strerror(errno));
        return -1;
    }
    util_out_init(&out, fd);
    g->out = &out;
    int status = feed(g);
    int error = util_out_flush(&out);
    if (path != NULL && close(fd) != 0 && error == 0) error = errno;
    if (error != 0) {
        util_message(GEN_TOOL, where, -1, "%s", strerror(error));
        status = -1;
    }
    if (status != 0 && path != NULL) unlink(path);
    return status;
}

static int generate(struct gen *g, const struct order *o)
{
    char name[NC_MAX_NAME + 4];
    name_output(g, name);
    int err = cdl_header(&g->scan, g->format, &g->header);
    if (err != NC_NOERR) return gen_complain(err);
    g->output = o->output == NULL || o->program != NULL ? name : o->output;
    bool file = o->program == NULL && (o->binary || o->output != NULL);
    g->sink = o->program != NULL ? o->program : file ? &gen_file : &gen_check;
    int status = o->program != NULL ? to_program(g, o->output)
                 : file             ? to_file(g)
                                    : feed(g);
    cdf_free(&g->header);
    return status;
}

int main(int argc, char **argv)
{
    static struct gen g;
    struct order o = {0};
    struct gen_text t;
    int status = parse(&g, &o, argc, argv);
    if (status != 0) return status == UTIL_ANSWERED ? EXIT_SUCCESS : EXIT_FAILURE;
    if (gen_text_open(&t, g.input) != 0) return EXIT_FAILURE;
    const char *name = strcmp(g.input, "-") == 0 ? "standard input" : g.input;
    int err = cdl_scan_start(&g.scan, name, t.text, t.length);
    status = err == NC_NOERR ? generate(&g, &o) : gen_complain(err);
    cdl_scan_stop(&g.scan);
    gen_text_close(&t);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
