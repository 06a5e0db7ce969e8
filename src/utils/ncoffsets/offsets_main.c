/* ncoffsets prints where the variables of a file are stored. This file parses the command
 * line. The tool is a serial program and does not use MPI. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "offsets.h"
#include "util_message.h"
#include "util_options.h"
#include "util_select.h"

enum { RECORD = 256, GAPS };

static const struct util_option options[] = {
    {'v', NULL, "VAR,...", "show only these variables"},
    {RECORD, "record", "N", "show record N of record variables (0)"},
    {'r', NULL, NULL, "show all records of record variables"},
    {GAPS, "gaps", NULL, "show only variables that are preceded by a gap"},
    {'x', NULL, NULL, "print 1 if any variable is preceded by a gap, otherwise 0"},
    {'j', "json", NULL, "write JSON"},
    {'s', NULL, NULL, "no effect: sizes are always shown"},
    {'g', NULL, NULL, "no effect: gaps are always shown"},
    {0},
};

static const struct util_tool tool = {
    .name = OFFSETS_TOOL,
    .synopsis = "[-v VAR,...] [-r | --record N] [--gaps] [-x] [-j] [-s] [-g] FILE",
    .about =
        "Shows the offsets and sizes of the header, the sections and the variables of a\n"
        "classic netCDF file, in bytes.",
    .options = options,
    .examples = "  ncoffsets run.nc\n"
                "  ncoffsets -v temp --record 2 run.nc\n"
                "  ncoffsets -j run.nc | jq .header_free\n",
};

static int refuse(const char *reason)
{
    util_message(OFFSETS_TOOL, NULL, -1, "%s", reason);
    util_usage(&tool);
    return UTIL_WRONG;
}

static int parse_record(struct offsets *o, const char *text)
{
    char *end;
    errno = 0;
    o->record = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || o->record < 0)
        return refuse("--record: must be the number of a record");
    return 0;
}

static int apply(struct offsets *o, int letter, const char *argument)
{
    switch (letter) {
    case 'v':
        o->variables = argument;
        return 0;
    case RECORD:
        return parse_record(o, argument);
    case 'r':
        o->all_records = true;
        return 0;
    case GAPS:
        o->gaps_only = true;
        return 0;
    case 's':
    case 'g':
        return 0;
    case 'x':
        o->yes_or_no = true;
        return 0;
    default:
        o->json = true;
        return 0;
    }
}

static int parse(struct offsets *o, int argc, char **argv, const char **path)
{
    const char *argument;
    int letter;
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0)
        if (apply(o, letter, argument) != 0) return UTIL_WRONG;
    if (letter != UTIL_END) return letter;
    int first = util_first_operand();
    if (first != argc - 1)
        return refuse(first == argc ? "no file given" : "only one file can be given");
    *path = argv[first];
    return 0;
}

/* Checks that the offset of the requested record does not overflow. */
static int check_record(const struct offsets *o)
{
    const struct cdf_header *h = &o->file.header;
    if (h->record_size == 0 || o->record == 0) return 0;
    if (o->record <= (INT64_MAX / 2 - h->begin_record) / h->record_size) return 0;
    util_message(OFFSETS_TOOL, o->file.path, -1, "record %lld would be beyond byte 2^62",
                 (long long)o->record);
    return -1;
}

static int show(struct offsets *o)
{
    const struct cdf_header *h = &o->file.header;
    o->wanted = base_calloc((size_t)h->nvars, sizeof *o->wanted);
    if (o->wanted == NULL) {
        util_message(OFFSETS_TOOL, NULL, -1, "%s", base_error_text(NC_ENOMEM));
        return -1;
    }
    if (o->variables == NULL) memset(o->wanted, 1, (size_t)h->nvars);
    if (o->variables != NULL &&
        util_select(OFFSETS_TOOL, o->file.path, h, o->variables, o->wanted) != 0)
        return -1;
    if (check_record(o) != 0) return -1;
    offsets_show(o);
    return 0;
}

int main(int argc, char **argv)
{
    static struct offsets o;
    const char *path = NULL;
    int status = parse(&o, argc, argv, &path);
    if (status != 0) return status == UTIL_ANSWERED ? EXIT_SUCCESS : EXIT_FAILURE;
    if (util_classic_open(&o.file, OFFSETS_TOOL, path) != 0) return EXIT_FAILURE;
    util_out_init(&o.out, STDOUT_FILENO);
    status = show(&o);
    int error = util_out_flush(&o.out);
    if (error != 0) {
        util_message(OFFSETS_TOOL, NULL, -1, "standard output: %s", strerror(error));
        status = -1;
    }
    base_free(o.wanted);
    util_classic_close(&o.file);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
