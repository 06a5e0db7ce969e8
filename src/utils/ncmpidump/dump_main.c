/* ncmpidump prints a netCDF dataset as text (CDL) or JSON. This file parses the command
 * line and calls the other parts. The tool is a serial program and does not use MPI. */
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
    {'c', NULL, NULL, "show the header and the data of coordinate variables"},
    {'h', NULL, NULL, "show only the header"},
    {'v', NULL, "VAR,...", "show the header and the data of these variables"},
    {'b', NULL, "c|f", "brief comments: indices of each row, in C or Fortran order"},
    {'f', NULL, "c|f", "full comments: indices of each value"},
    {'l', NULL, "LENGTH", "maximum length of lines, at least 10 (80)"},
    {'n', NULL, "NAME", "name of the dataset (the file's name)"},
    {'p', NULL, "N[,N]", "digits of float and double values, 1 to 20 (7,15)"},
    {'t', NULL, NULL, "show times as dates: \"1970-01-01 12:30\""},
    {'i', NULL, NULL, "show times as ISO 8601 dates: \"1970-01-01T12:30\""},
    {'s', NULL, NULL,
     "show how the file is stored, as attributes: _Format, _ChunkSizes ..."},
    {'k', NULL, NULL, "show only the format of the file"},
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

/* Reports an invalid option argument. */
static int refuse(int letter, const char *argument)
{
    util_message(DUMP_TOOL, NULL, -1, "-%c: invalid argument '%s'", letter, argument);
    util_usage(&tool);
    return -1;
}

/* Parses a number between `least` and `most`, and advances *text past it. Returns 0 if
 * there is no such number. */
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

/* Parses "c..." or "f...", ignoring case. The last language given applies to both
 * options. */
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

/* Parses the command line and sets *path. Returns 0, UTIL_WRONG or UTIL_ANSWERED. */
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
                     first == argc ? "no file given" : "only one file can be given");
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
