/* Parses options with getopt_long, and prints --help. Both use the tool's table. */
#include "config.h"

#include "util_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util_message.h"

enum { HELP = 1000 };

/* Options common to all tools. If a tool uses -h for something else, as some tools of
 * PnetCDF do, only --help prints help. */
static const struct util_option common[] = {
    {HELP, "help", NULL, "show this help and exit"},
    {'V', "version", NULL, "show the version and exit"},
    {0},
};
static const struct util_option common_h[] = {
    {'h', "help", NULL, "show this help and exit"},
    {'V', "version", NULL, "show the version and exit"},
    {0},
};

static bool has_letter(const struct util_option *table, int letter)
{
    while (table->letter != 0 && table->letter != letter)
        table++;
    return table->letter != 0;
}

static const struct util_option *common_of(const struct util_tool *tool)
{
    return has_letter(tool->options, 'h') ? common : common_h;
}

/* Appends a table of options to both structures that getopt_long requires. */
static void describe(const struct util_option *table, char *letters, struct option *words)
{
    letters += strlen(letters);
    while (words->name != NULL)
        words++;
    for (; table->letter != 0; table++) {
        if (table->letter < 256) {
            *letters++ = (char)table->letter;
            if (table->argument != NULL) *letters++ = ':';
        }
        if (table->word != NULL)
            *words++ = (struct option){
                .name = table->word,
                .has_arg = table->argument != NULL ? required_argument : no_argument,
                .val = table->letter,
            };
    }
    *letters = '\0';
    *words = (struct option){0};
}

/* Writes "-h, --help ARGUMENT" and returns its length. */
static int print_option_names(char *left, size_t size, const struct util_option *o)
{
    int n = 0;
    if (o->letter < 256) n = snprintf(left, size, "-%c", o->letter);
    if (o->word != NULL)
        n += snprintf(left + n, size - (size_t)n, "%s--%s", n > 0 ? ", " : "", o->word);
    if (o->argument != NULL)
        n += snprintf(left + n, size - (size_t)n, " %s", o->argument);
    return n;
}

static int widest(const struct util_option *table)
{
    int most = 16;
    char left[64];
    for (; table->letter != 0; table++) {
        int n = print_option_names(left, sizeof left, table);
        if (n > most) most = n;
    }
    return most;
}

static void print_options(const struct util_option *table, int width)
{
    for (; table->letter != 0; table++) {
        char left[64];
        print_option_names(left, sizeof left, table);
        printf("  %-*s %s\n", width, left, table->help);
    }
}

/* Checks that everything printed has been written. */
static int check_output(const struct util_tool *tool)
{
    if (fflush(stdout) == 0) return UTIL_ANSWERED;
    util_message(tool->name, NULL, -1, "standard output: %s", strerror(errno));
    return UTIL_WRONG;
}

static int print_help(const struct util_tool *tool)
{
    if (util_muted()) return UTIL_ANSWERED;
    printf("Usage: %s %s\n%s\n\n", tool->name, tool->synopsis, tool->about);
    int width = widest(tool->options);
    print_options(tool->options, width);
    print_options(common_of(tool), width);
    printf("\nExamples:\n%s", tool->examples);
    return check_output(tool);
}

static int print_version(const struct util_tool *tool)
{
    if (util_muted()) return UTIL_ANSWERED;
    printf("%s (PnetCDF) %s\n", tool->name, LIBRARY_VERSIONS);
    return check_output(tool);
}

void util_usage(const struct util_tool *tool)
{
    if (util_muted()) return;
    fprintf(stderr,
            "Usage: %s %s\n"
            "Try '%s --help' for more information.\n",
            tool->name, tool->synopsis, tool->name);
}

static int wrong(const struct util_tool *tool, int code, char **argv)
{
    const char *what = code == ':' ? "the option needs an argument" : "unknown option";
    if (optopt > 0 && optopt < 256)
        util_message(tool->name, NULL, -1, "-%c: %s", optopt, what);
    else
        util_message(tool->name, NULL, -1, "%s: %s", argv[optind - 1], what);
    util_usage(tool);
    return UTIL_WRONG;
}

int util_next_option(const struct util_tool *tool, int argc, char **argv,
                     const char **argument)
{
    char letters[2 * UTIL_MAX_OPTIONS] = ":";
    struct option words[UTIL_MAX_OPTIONS] = {0};
    describe(tool->options, letters, words);
    describe(common_of(tool), letters, words);

    int code = getopt_long(argc, argv, letters, words, NULL);
    *argument = optarg;
    if (code == HELP || (code == 'h' && !has_letter(tool->options, 'h')))
        return print_help(tool);
    switch (code) {
    case -1:
        return UTIL_END;
    case ':':
    case '?':
        return wrong(tool, code, argv);
    case 'V':
        return print_version(tool);
    default:
        return code;
    }
}

int util_first_operand(void)
{
    return optind;
}
