/* ncmpidump: a netCDF dataset as text (CDL). A serial program without MPI. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "dump.h"
#include "util_message.h"
#include "util_number.h"
#include "util_options.h"
#include "util_type.h"

static const struct util_option options[] = {
    {'c', NULL, NULL, "header, and data of the coordinate variables"},
    {'h', NULL, NULL, "header only"},
    {'v', NULL, "VAR,...", "header, and data of these variables"},
    {'b', NULL, "c|f", "brief comments: the indices of each row, as C or Fortran count"},
    {'f', NULL, "c|f", "full comments: the indices of each value"},
    {'l', NULL, "LENGTH", "longest line of numbers, from 10 (80)"},
    {'n', NULL, "NAME", "name of the dataset (the file's)"},
    {'p', NULL, "N[,N]", "digits of float and of double values, 1 to 20 (7,15)"},
    {'t', NULL, NULL, "times as dates: \"1970-01-01 12:30\""},
    {'i', NULL, NULL, "times as dates with a T: \"1970-01-01T12:30\""},
    {'s', NULL, NULL,
     "show as attributes how the file is stored: _Format, _ChunkSizes ..."},
    {'k', NULL, NULL, "show only which kind of file it is"},
    {'j', "json", NULL, "write JSON, as ncks --json does"},
    {0},
};

static const struct util_tool tool = {
    .name = DUMP_TOOL,
    .synopsis = "[-c|-h|-v VAR,...] [-b c|f] [-f c|f] [-l LENGTH] [-n NAME] [-p N[,N]] "
                "[-t|-i] [-s] [-k] [-j] FILE",
    .about =
        "Shows a netCDF file (CDF-1, CDF-2, CDF-5, netCDF-4) as text, in CDL or JSON.",
    .options = options,
    .examples = "  ncmpidump -h file.nc\n"
                "  ncmpidump -t -v temp run.nc\n"
                "  ncmpidump -h -j file.nc | jq .dimensions\n"
                "  ncmpidump -p 9,17 file.nc | ncmpigen -o copy.nc\n",
};

/* An argument that is not what the option takes. */
static int refuse(int letter, const char *argument)
{
    util_message(DUMP_TOOL, NULL, -1, "-%c: '%s' is not what it takes", letter, argument);
    util_usage(&tool);
    return -1;
}

/* A number from least to most at *text, which is set behind it. 0 if there is none. */
static int parse_number(const char **text, int least, int most)
{
    char *end;
    if (**text < '0' || **text > '9') return 0;
    long n = strtol(*text, &end, 10);
    *text = end;
    return n >= least && n <= most ? (int)n : 0;
}

static int parse_digits(struct dump_options *o, const char *text)
{
    const char *p = text;
    o->float_digits = parse_number(&p, 1, UTIL_DIGITS_MAX);
    o->double_digits = 0;
    if (o->float_digits != 0 && *p == ',') {
        p++;
        o->double_digits = parse_number(&p, 1, UTIL_DIGITS_MAX);
        if (o->double_digits == 0) return refuse('p', text);
    }
    return o->float_digits == 0 || *p != '\0' ? refuse('p', text) : 0;
}

static int parse_width(struct dump_options *o, const char *text)
{
    const char *p = text;
    o->width = parse_number(&p, 10, INT_MAX);
    return o->width == 0 || *p != '\0' ? refuse('l', text) : 0;
}

/* "c..." or "f...", whatever its case; the last one given holds for both options. */
static int parse_language(struct dump_options *o, int letter, const char *text)
{
    if (*text == '\0' || strchr("cCfF", *text) == NULL) return refuse(letter, text);
    o->language = *text == 'c' || *text == 'C' ? 'c' : 'f';
    return 0;
}

static int apply(struct dump_options *o, int letter, const char *argument)
{
    switch (letter) {
    case 'c':
        o->coordinates_only = true;
        return 0;
    case 'h':
        o->header_only = true;
        return 0;
    case 'v':
        o->variables = argument;
        return 0;
    case 'b':
        o->brief = true;
        return parse_language(o, letter, argument);
    case 'f':
        o->full = true;
        return parse_language(o, letter, argument);
    case 'l':
        return parse_width(o, argument);
    case 'n':
        o->name = argument;
        return 0;
    case 'p':
        return parse_digits(o, argument);
    case 't':
    case 'i':
        o->date_mark = letter == 't' ? ' ' : 'T';
        return 0;
    case 's':
        o->special = true;
        return 0;
    case 'j':
        o->json = true;
        return 0;
    default:
        o->kind = true;
        return 0;
    }
}

/* Sets *path. 0, or UTIL_WRONG or UTIL_ANSWERED. */
static int parse(struct dump_options *o, int argc, char **argv, const char **path)
{
    const char *argument;
    int letter;
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0)
        if (apply(o, letter, argument) != 0) return UTIL_WRONG;
    if (letter != UTIL_END) return letter;

    int first = util_first_operand();
    if (first != argc - 1) {
        util_message(DUMP_TOOL, NULL, -1, "%s",
                     first == argc ? "which file?" : "one file at a time");
        util_usage(&tool);
        return UTIL_WRONG;
    }
    *path = argv[first];
    return 0;
}

static int dump(struct dump *d)
{
    if (d->options.kind) {
        util_out_print(&d->out, "%s\n", util_format_name(util_format(&d->file)));
        return 0;
    }
    if (dump_select(d) != 0) return -1;
    if (d->options.json) return dump_json(d);
    dump_header(d);
    if (!d->options.header_only && dump_data(d) != 0) return -1;
    util_out_text(&d->out, "}\n");
    return 0;
}

int main(int argc, char **argv)
{
    static struct dump d = {.options = {.width = 80}};
    const char *path = NULL;
    int status = parse(&d.options, argc, argv, &path);
    if (status != 0) return status == UTIL_ANSWERED ? EXIT_SUCCESS : EXIT_FAILURE;
    if (util_open(&d.file, DUMP_TOOL, path) != 0) return EXIT_FAILURE;

    util_out_init(&d.out, STDOUT_FILENO);
    status = dump(&d);
    int error = util_out_flush(&d.out);
    if (error != 0) {
        util_message(DUMP_TOOL, NULL, -1, "standard output: %s", strerror(error));
        status = -1;
    }
    base_free(d.wanted);
    base_free(d.bounds_owner);
    util_classic_close(&d.file);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
