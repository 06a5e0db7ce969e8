/* Parses the command line that cdfdiff and ncmpidiff share. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "util_message.h"
#include "util_options.h"

enum { NAN_DIFFERS = 256, MAP, DRAW };

static const struct util_option options[] = {
    {'h', "header", NULL, "compare only the header"},
    {'d', "data", NULL, "compare only the data"},
    {'v', NULL, "VAR,...", "compare only these variables"},
    {'t', NULL, "ABS[,REL]", "treat values that differ by at most this as equal"},
    {'T', NULL, "VAR=ABS[,REL]", "the same for one variable; may be repeated"},
    {NAN_DIFFERS, "nan-differs", NULL, "treat NaN as different from NaN"},
    {'1', "first", NULL, "stop at the first difference"},
    {'b', "verbose", NULL, "also list variables that are equal"},
    {'q', "quiet", NULL, "print nothing; only set the exit status"},
    {'j', "json", NULL, "write JSON"},
    {MAP, "map", NULL, "show where values differ: 1 to 9 for tenths, # for all"},
    {DRAW, "draw", "FILE", "plot this map to FILE.svg or FILE.png with gnuplot"},
    {0},
};

int diff_parse_tolerance(const char *text, struct diff_tolerance *t)
{
    char *end;
    errno = 0;
    t->absolute = strtod(text, &end);
    t->relative = 0;
    if (end == text || !(t->absolute >= 0)) return -1;
    if (*end == ',') {
        const char *second = end + 1;
        t->relative = strtod(second, &end);
        if (end == second || !(t->relative >= 0)) return -1;
    }
    return *end == '\0' ? 0 : -1;
}

static const char *own_tolerance(struct diff_options *o, const char *text)
{
    struct diff_tolerance t;
    const char *sign = strrchr(text, '=');
    if (sign == NULL || diff_parse_tolerance(sign + 1, &t) != 0)
        return "-T: must be VAR=ABS or VAR=ABS,REL";
    if (o->nown == DIFF_MOST_TOLERANCES) return "-T: given too many times";
    o->own[o->nown++] = text;
    return NULL;
}

/* Applies one option. Returns NULL, or a message about what is wrong. */
static const char *apply(struct diff_options *o, int letter, const char *argument)
{
    switch (letter) {
    case 'h':
        o->header_only = true;
        return NULL;
    case 'd':
        o->data_only = true;
        return NULL;
    case 'v':
        o->variables = argument;
        return NULL;
    case 't':
        return diff_parse_tolerance(argument, &o->tolerance) == 0
                   ? NULL
                   : "-t: must be ABS or ABS,REL, with numbers of at least 0";
    case 'T':
        return own_tolerance(o, argument);
    case NAN_DIFFERS:
        o->nan_differs = true;
        return NULL;
    case '1':
        o->first_only = true;
        return NULL;
    case 'b':
        o->verbose = true;
        return NULL;
    case 'q':
        o->quiet = true;
        return NULL;
    case MAP:
        o->map = true;
        return NULL;
    case DRAW:
        o->draw = argument;
        return NULL;
    default:
        o->json = true;
        return NULL;
    }
}

static const char *check(struct diff_options *o, int argc, char **argv)
{
    int first = util_first_operand();
    if (first != argc - 2) return "two files are required";
    o->path[0] = argv[first];
    o->path[1] = argv[first + 1];
    if (strcmp(o->path[0], o->path[1]) == 0) return "both names refer to the same file";
    if (o->header_only && o->data_only) return "-h and -d are mutually exclusive";
    if (o->header_only && (o->map || o->draw != NULL))
        return "-h cannot be combined with --map or --draw, which need data";
    return NULL;
}

int diff_parse(struct diff_options *o, const char *tool_name, int argc, char **argv)
{
    const struct util_tool tool = {
        .name = tool_name,
        .synopsis = "[-h|-d] [-v VAR,...] [-t ABS[,REL]] [-T VAR=ABS[,REL]] "
                    "[--nan-differs] [-1] [-b|-q] [-j] [--map] [--draw FILE] FILE1 FILE2",
        .about =
            "Compares two netCDF files, classic or netCDF-4: definitions and values of\n"
            "objects with the same name. Exit status: 0 if equal, 1 if different, 2 on "
            "errors.",
        .options = options,
        .examples = "  cdfdiff -t 0,1e-6 a.nc b.nc\n"
                    "  mpiexec -n 4 ncmpidiff -v temp a.nc b.nc\n"
                    "  cdfdiff --map --draw where.svg a.nc b.nc\n"
                    "  cdfdiff -q a.nc b.nc || echo different\n",
    };
    const char *argument, *wrong = NULL;
    int letter;
    *o = (struct diff_options){0};
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0 && wrong == NULL)
        wrong = apply(o, letter, argument);
    if (letter != UTIL_END && wrong == NULL) return letter;
    if (wrong == NULL) wrong = check(o, argc, argv);
    if (wrong == NULL) return 0;
    util_message(tool_name, NULL, -1, "%s", wrong);
    util_usage(&tool);
    return UTIL_WRONG;
}
