/* Handles a tool's command line. One table of options serves both parsing and --help. */
#ifndef UTIL_OPTIONS_H
#define UTIL_OPTIONS_H

struct util_option {
    int letter;           /* 'h' for -h; above 255 if there is no short form */
    const char *word;     /* "help" for --help; NULL if there is no long form */
    const char *argument; /* the argument's name in --help; NULL if none */
    const char *help;
};

struct util_tool {
    const char *name;
    const char *synopsis;              /* operands, as shown after the tool's name */
    const char *about;                 /* description of the tool: one or more lines */
    const struct util_option *options; /* the options, terminated by letter 0 */
    const char *examples; /* commands, one per line, indented by two spaces */
};

enum {
    UTIL_END = -1,        /* there are no more options */
    UTIL_WRONG = -2,      /* wrong usage; a message was printed */
    UTIL_ANSWERED = -3,   /* --help or --version was printed */
    UTIL_MAX_OPTIONS = 40 /* maximum number of options */
};

/* Returns the next option's letter, with its argument in *argument, or one of the above.
 * --help and --version (-V) are added to every table. */
int util_next_option(const struct util_tool *tool, int argc, char **argv,
                     const char **argument);

/* Returns the index of the first operand after util_next_option has returned UTIL_END. */
int util_first_operand(void);

/* Prints the usage on standard error. */
void util_usage(const struct util_tool *tool);

#endif
