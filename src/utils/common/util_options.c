/* Options by getopt_long, from the tool's table. */
#include "config.h"

#include "util_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util_message.h"

enum { HELP = 1000 };

/* What all tools have; those that have another -h, as PnetCDF's, have --help alone. */
static const struct util_option common[] = {
    {HELP, "help", NULL, "show this help and stop"},
    {'V', "version", NULL, "show the version and stop"},
    {0},
};
static const struct util_option common_h[] = {
    {'h', "help", NULL, "show this help and stop"},
    {'V', "version", NULL, "show the version and stop"},
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

/* The table in getopt's two forms, appended to what is there. */
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

/* "-h, --help ARGUMENT"; returns how long it is. */
static int put_left(char *left, size_t size, const struct util_option *o)
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
        int n = put_left(left, sizeof left, table);
        if (n > most) most = n;
    }
    return most;
}

static void print_options(const struct util_option *table, int width)
{
    for (; table->letter != 0; table++) {
        char left[64];
        put_left(left, sizeof left, table);
        printf("  %-*s %s\n", width, left, table->help);
    }
}

/* Everything printed must have come through. */
static int answered(const struct util_tool *tool)
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
    return answered(tool);
}

static int print_version(const struct util_tool *tool)
{
    if (util_muted()) return UTIL_ANSWERED;
    printf("%s (PnetCDF) %s\n", tool->name, LIBRARY_VERSIONS);
    return answered(tool);
}

void util_usage(const struct util_tool *tool)
{
    if (util_muted()) return;
    fprintf(stderr, "Usage: %s %s\n'%s --help' tells more.\n", tool->name, tool->synopsis,
            tool->name);
}

static int wrong(const struct util_tool *tool, int code, char **argv)
{
    const char *what = code == ':' ? "this option needs an argument" : "no such option";
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
