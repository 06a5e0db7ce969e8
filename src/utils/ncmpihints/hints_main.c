/* ncmpihints lists the library's hints, checks hints files, and shows which hints apply
 * to a dataset. This file parses the command line. The tool is a serial program and does
 * not use MPI. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hints_tool.h"
#include "util_message.h"
#include "util_options.h"

static const struct util_option options[] = {
    {'l', "list", NULL, "list all hints and their meaning"},
    {'m', "markdown", "GROUP",
     "print the hints of main, burst, stage or unused as a table"},
    {'p', "path", "PATH", "show the hints for the dataset PATH, and their sources"},
    {'j', "json", NULL, "write JSON: for -l, for -p and when checking files"},
    {'t', "template", NULL, "write a template of a hints file"},
    {0},
};

static const struct util_tool tool = {
    .name = HINTS_TOOL,
    .synopsis = "[-j] -l | -m GROUP | -t | [-j] -p PATH [FILE] | [-j] FILE...",
    .about = "Checks hints files, which PNETCDF_HINTS_FILE refers to, and describes all "
             "hints.\n"
             "Without FILE, -p uses the one in PNETCDF_HINTS_FILE.",
    .options = options,
    .examples = "  ncmpihints -t >hints.json\n"
                "  ncmpihints hints.json\n"
                "  ncmpihints -p /scratch/run1/out.nc hints.json\n",
};

/* Exit statuses. */
enum { HINTS_GOOD, HINTS_IGNORED, HINTS_TROUBLE };

static const char template_text[] =
    "{\n"
    "    \"File\": [\n"
    "        {\n"
    "            \"Path\": \"/scratch/my-project\",\n"
    "            \"Type\": \"MPI\",\n"
    "            \"striping_unit\": \"4194304\",\n"
    "            \"striping_factor\": \"4\",\n"
    "            \"nc_header_align_size\": \"65536\"\n"
    "        },\n"
    "        {\n"
    "            \"Path\": \"checkpoint-*.nc\",\n"
    "            \"Type\": \"MPI\",\n"
    "            \"e10_cache\": \"enable\",\n"
    "            \"e10_cache_path\": \"/local/scratch\",\n"
    "            \"e10_cache_flush_flag\": \"flush_immediate\"\n"
    "        }\n"
    "    ]\n"
    "}\n";

static int wrong_usage(void)
{
    util_usage(&tool);
    return -1;
}

/* Performs the action that an option letter selects; letter 0 checks files. Returns 0, or
 * 1 if something in a file is ignored, or -1 on error. */
static int answer(int letter, const char *argument, int n, char **files,
                  struct util_out *out, struct util_json *j)
{
    const char *file = n > 0 ? files[0] : getenv("PNETCDF_HINTS_FILE");
    int status = 0, most = letter == 'p' ? 1 : 0;
    if (n > most && letter != 0) return wrong_usage();
    if (n == 0 && letter == 0) return wrong_usage();
    if (letter == 'l') hints_list(out, j);
    if (letter == 'm') return hints_print_table(argument, out);
    if (letter == 't') util_out_text(out, template_text);
    if (letter == 'p')
        return hints_of_path(file == NULL || *file == '\0' ? NULL : file, argument, out,
                             j);
    for (int i = 0; i < n && letter == 0; i++) {
        int checked = hints_check(files[i], out, j);
        if (checked < 0 || status == 0) status = checked;
    }
    return status;
}

/* Same as `answer`, but encloses the output in a JSON array. Discards an incomplete array
 * after an error. */
static int answer_json(int letter, const char *argument, int n, char **files,
                       struct util_out *out)
{
    struct util_json j;
    if (letter == 'm' || letter == 't') return wrong_usage();
    util_json_start(&j, out);
    util_json_open(&j, NULL, '[');
    int status = answer(letter, argument, n, files, out, &j);
    util_json_close(&j, ']');
    if (status < 0) out->used = 0;
    return status;
}

int main(int argc, char **argv)
{
    static struct util_out out;
    const char *argument = NULL, *of = NULL;
    int letter, asked = 0;
    bool json = false;
    while ((letter = util_next_option(&tool, argc, argv, &argument)) > 0) {
        json |= letter == 'j';
        if (letter == 'j') continue;
        if (asked != 0 && asked != letter) {
            util_usage(&tool);
            return HINTS_TROUBLE;
        }
        asked = letter;
        of = argument;
    }
    if (letter == UTIL_ANSWERED) return HINTS_GOOD;
    if (letter == UTIL_WRONG) return HINTS_TROUBLE;
    int first = util_first_operand();
    util_out_init(&out, STDOUT_FILENO);
    int status = json ? answer_json(asked, of, argc - first, argv + first, &out)
                      : answer(asked, of, argc - first, argv + first, &out, NULL);
    int error = util_out_flush(&out);
    if (error != 0) {
        util_message(HINTS_TOOL, NULL, -1, "standard output: %s", strerror(error));
        status = -1;
    }
    return status < 0 ? HINTS_TROUBLE : status == 0 ? HINTS_GOOD : HINTS_IGNORED;
}
