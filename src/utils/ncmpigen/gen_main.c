/* ncmpigen converts CDL to a classic netCDF file, or to a program that creates it. This
 * file parses the command line and opens input and output. The tool is a serial program
 * and does not use MPI. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_io.h"
#include "gen.h"
#include "util_message.h"
#include "util_options.h"
#include "util_type.h"

static const struct util_option options[] = {
    {'b', NULL, NULL, "create a file named after the dataset, NAME.nc"},
    {'o', NULL, "FILE", "create this file"},
    {'l', NULL, "LANGUAGE",
     "write a program that creates the file: c, f77 or f90 (b: create it)"},
    {'c', NULL, NULL, "same as -l c"},
    {'f', NULL, NULL, "same as -l f77"},
    {'k', NULL, "FORMAT", "format: 1, 2, 5 or a name (the first one that is sufficient)"},
    {'v', NULL, "FORMAT", "same as -k"},
    {'3', NULL, NULL, "same as -k classic"},
    {'6', NULL, NULL, "same as -k 64-bit-offset"},
    {'5', NULL, NULL, "same as -k cdf5"},
    {'x', "no-fill", NULL, "do not fill elements without a value"},
    {0},
};

static const struct util_tool tool = {
    .name = GEN_TOOL,
    .synopsis = "[-b] [-o FILE] [-l LANGUAGE] [-k FORMAT] [-x] [CDL]",
    .about =
        "Creates a classic netCDF file from CDL text, or a program that creates it.\n"
        "Without an option that specifies an output, the text is only checked.",
    .options = options,
    .examples = "  ncmpigen text.cdl\n"
                "  ncmpigen -k 5 -o text.nc text.cdl\n"
                "  ncmpigen -l f90 -o make.f90 text.cdl\n",
};

/* Language names that ncgen accepts. */
static const struct {
    const char *name;
    const struct gen_sink *sink;
} languages[] = {
    {"b", &gen_file},        {"c", &gen_c},         {"f77", &gen_f77},
    {"fortran77", &gen_f77}, {"f", &gen_f77},       {"f90", &gen_f90},
    {"fortran90", &gen_f90}, {"fortran", &gen_f77}, {"binary", &gen_file},
};

static const char *choose_language(struct gen *g, const char *name)
{
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++)
        if (strcasecmp(name, languages[i].name) == 0) {
            g->sink = languages[i].sink;
            return NULL;
        }
    return "-l: must be c, f77, f90 or b";
}

static const char *choose_format(struct gen *g, const char *name)
{
    g->format = util_format_of(name);
    if (g->format == UTIL_NC4 || g->format == UTIL_NC7)
        return "-k: netCDF-4 is not supported; convert a classic file with ncmpicopy -k "
               "nc4";
    return g->format == 0 ? "-k: must be 1, 2, 5, classic, 64-bit-offset or cdf5" : NULL;
}

static const char *apply(struct gen *g, int letter, const char *argument)
{
    switch (letter) {
    case 'b':
        return choose_language(g, "b");
    case 'o':
        g->output_path = argument;
        return NULL;
    case 'c':
        return choose_language(g, "c");
    case 'f':
        return choose_language(g, "f77");
    case 'l':
        return choose_language(g, argument);
    case 'k':
    case 'v':
        return choose_format(g, argument);
    case 'x':
        g->no_fill = true;
        return NULL;
    default:
        g->format = letter == '3' ? 1 : letter == '6' ? 2 : 5;
        return NULL;
    }
}

static int parse(struct gen *g, int argc, char **argv)
{
    const char *argument, *wrong = NULL;
    int letter;
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0 && wrong == NULL)
        wrong = apply(g, letter, argument);
    if (letter != UTIL_END && wrong == NULL) return letter;
    int first = util_first_operand();
    if (wrong == NULL && argc - first > 1) wrong = "only one CDL file can be given";
    if (first < argc) g->input = argv[first];
    if (g->sink == NULL) g->sink = g->output_path == NULL ? &gen_check : &gen_file;
    if (wrong == NULL) return 0;
    util_message(GEN_TOOL, NULL, -1, "%s", wrong);
    util_usage(&tool);
    return UTIL_WRONG;
}

/* Derives the file's name from the dataset's name (the word after `netcdf`) if that is a
 * valid file name. */
static void name_dataset(struct gen *g)
{
    const char *title = cdl_title(g->reader);
    bool plain = title[0] != '\0' && strchr(title, '/') == NULL;
    snprintf(g->name, sizeof g->name, "%s.nc", plain ? title : "unnamed");
    g->dataset =
        g->sink->makes == GEN_FILE && g->output_path != NULL ? g->output_path : g->name;
}

/* Returns the output path. A program is written to the file given on the command line, or
 * to standard output. */
static const char *path_of(const struct gen *g)
{
    return g->sink->makes == GEN_FILE ? g->dataset : g->output_path;
}

static int complain_of(const struct gen *g, int error)
{
    const char *path = path_of(g);
    util_message(GEN_TOOL, path == NULL ? "standard output" : path, -1, "%s",
                 strerror(error));
    return -1;
}

/* Opens the output and truncates it. Fails if the output is the file that is being
 * read. */
static int open_output(struct gen *g, const char *path)
{
    struct stat text, st;
    g->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (g->fd < 0 || fstat(g->fd, &st) != 0) return complain_of(g, errno);
    if (!S_ISREG(st.st_mode)) return 0;
    if (fstat(g->text, &text) == 0 && base_same_file(&text, &st)) {
        util_message(GEN_TOOL, path, -1, "the output file is the CDL input file");
        (void)close(g->fd);
        g->fd = -1; /* the caller must not remove the file */
        return -1;
    }
    return ftruncate(g->fd, 0) == 0 ? 0 : complain_of(g, errno);
}

int gen_open(struct gen *g)
{
    static struct util_out out;
    name_dataset(g);
    const char *path = path_of(g);
    if (g->sink->makes == GEN_NOTHING) return 0;
    if (path == NULL)
        g->fd = STDOUT_FILENO;
    else if (open_output(g, path) != 0)
        return -1;
    if (g->sink->makes == GEN_PROGRAM) {
        util_out_init(&out, g->fd);
        g->out = &out;
    }
    return 0;
}

/* Removes the output if it is incomplete. */
static int finish(struct gen *g, int status)
{
    struct stat st;
    const char *path = path_of(g);
    if (g->fd < 0) return status;
    bool plain = path != NULL && fstat(g->fd, &st) == 0 && S_ISREG(st.st_mode);
    int error = g->out == NULL ? 0 : util_out_flush(g->out);
    if (path != NULL && close(g->fd) != 0 && error == 0) error = errno;
    if (error != 0 && status == 0) status = complain_of(g, error);
    if (status != 0 && plain) unlink(path);
    return status;
}

static int generate(struct gen *g)
{
    struct cdl_source source = {.name = "standard input", .fd = STDIN_FILENO};
    bool named = strcmp(g->input, "-") != 0;
    struct stat st;
    if (named) {
        source.name = g->input;
        source.fd = open(g->input, O_RDONLY | O_CLOEXEC);
        if (source.fd < 0) {
            util_message(GEN_TOOL, g->input, -1, "%s", strerror(errno));
            return -1;
        }
    }
    g->text = source.fd;
    bool sized = fstat(source.fd, &st) == 0 && S_ISREG(st.st_mode);
    int status = finish(g, gen_read(g, &source, sized ? st.st_size : 0));
    if (named) close(source.fd);
    return status;
}

int main(int argc, char **argv)
{
    struct gen g = {.input = "-", .fd = -1};
    int status = parse(&g, argc, argv);
    if (status != 0) return status == UTIL_ANSWERED ? EXIT_SUCCESS : EXIT_FAILURE;
    return generate(&g) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
