/* The command line of a tool: one table of options for parsing and for --help. */
#ifndef UTIL_OPTIONS_H
#define UTIL_OPTIONS_H

struct util_option {
    int letter;           /* 'h' for -h; or above 255 for one that has a word only */
    const char *word;     /* "help" for --help, or NULL */
    const char *argument; /* the name of what it takes, or NULL */
    const char *help;
};

struct util_tool {
    const char *name;
    const char *synopsis;              /* what follows the name */
    const char *about;                 /* what the tool does, a line or more */
    const struct util_option *options; /* ends with letter 0 */
    const char *examples;              /* commands, a line each, indented by two */
};

enum {
    UTIL_END = -1,        /* no more options */
    UTIL_WRONG = -2,      /* wrong usage; it has been told */
    UTIL_ANSWERED = -3,   /* --help or --version: printed */
    UTIL_MAX_OPTIONS = 40 /* in a table */
};

/* The next option's letter, its argument in *argument; or one of the above. --help and
 * --version (-V) are options of every tool and not in the table. */
int util_next_option(const struct util_tool *tool, int argc, char **argv,
                     const char **argument);

/* Number of the first operand, once util_next_option returned UTIL_END. */
int util_first_operand(void);

/* Tells on standard error how the tool is called. */
void util_usage(const struct util_tool *tool);

#endif
