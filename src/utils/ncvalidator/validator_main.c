/* ncvalidator checks files against the classic formats. The tool is a serial program and
 * does not use MPI. Its exit status is the worst status of any file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util_message.h"
#include "util_options.h"
#include "validator.h"

enum { NO_NOTES = 256 };

static const struct util_option options[] = {
    {'q', "quiet", NULL, "print nothing; only set the exit status"},
    {NO_NOTES, "no-notes", NULL, "do not show notes about what the format permits"},
    {'j', "json", NULL, "write JSON"},
    {'f', "finish", NULL,
     "complete an interrupted redefinition first; twice: even if its process may be "
     "running"},
    {'r', "repair", "FILE", "write a copy with all safe repairs applied"},
    {'x', NULL, NULL, "first repair padding in the file itself"},
    {'t', NULL, NULL, "no effect; in PnetCDF it also lists valid items"},
    {0},
};

static const struct util_tool tool = {
    .name = VALIDATOR_TOOL,
    .synopsis = "[-q] [-j] [-f [-f]] [-x | -r FILE] [--no-notes] FILE...",
    .about = "Checks files against the classic netCDF formats (CDF-1, CDF-2, CDF-5) and\n"
             "lists all violations.",
    .options = options,
    .examples = "  ncvalidator run.nc\n"
                "  ncvalidator -r saved.nc broken.nc\n"
                "  ncvalidator -q *.nc || echo 'not all are valid'\n",
};

static int apply(struct validator *v, int letter, const char *argument)
{
    switch (letter) {
    case 'q':
        v->quiet = true;
        return 0;
    case NO_NOTES:
        v->no_notes = true;
        return 0;
    case 'x':
        v->pad = true;
        return 0;
    case 't':
        return 0;
    case 'j':
        v->json = true;
        return 0;
    case 'f':
        v->finish++;
        return 0;
    default:
        v->repair = argument;
        return 0;
    }
}

static int misuse(const char *reason)
{
    util_message(VALIDATOR_TOOL, NULL, -1, "%s", reason);
    util_usage(&tool);
    return UTIL_WRONG;
}

static int parse(struct validator *v, int argc, char **argv)
{
    const char *argument;
    int letter;
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0)
        apply(v, letter, argument);
    if (letter != UTIL_END) return letter;
    int files = argc - util_first_operand();
    if (files == 0) return misuse("no file given");
    if (files > 1 && v->repair != NULL) return misuse("-r: only one file can be given");
    if (v->pad && v->repair != NULL) return misuse("-x and -r are mutually exclusive");
    return 0;
}

static int finish(struct validator *v, int status)
{
    int error = util_out_flush(&v->out);
    if (error == 0) return status;
    util_message(VALIDATOR_TOOL, NULL, -1, "standard output: %s", strerror(error));
    return VALIDATOR_TROUBLE;
}

int main(int argc, char **argv)
{
    static struct validator v;
    int status = parse(&v, argc, argv);
    if (status == UTIL_ANSWERED) return VALIDATOR_GOOD;
    if (status != 0) return VALIDATOR_TROUBLE;

    util_out_init(&v.out, STDOUT_FILENO);
    util_json_start(&v.j, &v.out);
    if (v.json && !v.quiet) util_json_open(&v.j, NULL, '[');
    for (int i = util_first_operand(); i < argc; i++) {
        int result = validator_check(&v, argv[i]);
        if (result > status) status = result;
    }
    if (v.json && !v.quiet) util_json_close(&v.j, ']');
    return finish(&v, status);
}
