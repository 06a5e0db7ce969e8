/* ncmpitrace summarizes a trace. This file parses the command line. The tool is a serial
 * program and does not use MPI. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace.h"
#include "util_message.h"
#include "util_options.h"

static const struct util_option options[] = {
    {'d', "draw", "FILE", "also plot it to FILE.svg or FILE.png with gnuplot"},
    {'j', "json", NULL, "write JSON"},
    {0},
};

static const struct util_tool tool = {
    .name = TRACE_TOOL,
    .synopsis = "[-d FILE] [-j] TRACE...",
    .about =
        "Summarizes a trace, which the library writes if the hint nc_trace or the\n"
        "environment variable PNETCDF_TRACE is set: where time was spent, which "
        "processes\n"
        "waited for which, how large the file accesses were, and what can be improved.",
    .options = options,
    .examples = "  PNETCDF_TRACE=t.json mpiexec -n 4 ./model\n"
                "  ncmpitrace t.json\n"
                "  ncmpitrace -d t.svg t.json\n",
};

int main(int argc, char **argv)
{
    static struct trace t;
    static struct util_out out;
    const char *argument, *picture = NULL;
    bool json = false;
    int letter, status = 0;
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0) {
        if (letter == 'd') picture = argument;
        if (letter == 'j') json = true;
    }
    if (letter == UTIL_ANSWERED) return EXIT_SUCCESS;
    int first = util_first_operand();
    if (letter == UTIL_WRONG || first >= argc) {
        if (letter != UTIL_WRONG) util_usage(&tool);
        return EXIT_FAILURE;
    }
    for (int i = first; i < argc && status >= 0; i++) {
        int read = trace_read(&t, argv[i]);
        status = read < 0 ? read : status | read;
    }
    if (status >= 0) {
        trace_end(&t);
        util_out_init(&out, STDOUT_FILENO);
        if (json)
            trace_write_json(&t, &out);
        else
            trace_show(&t, &out);
        int error = util_out_flush(&out);
        if (error != 0)
            util_message(TRACE_TOOL, NULL, -1, "standard output: %s", strerror(error));
        if (error != 0) status = -1;
        if (picture != NULL && trace_draw(&t, picture) != 0) status = -1;
    }
    trace_free(&t);
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
