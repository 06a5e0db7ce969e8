/* Helpers for tests that try thousands of cases and print a table of the results. They
 * choose the cases to try, record failures of the current case, and end a case that
 * hangs. */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of failures. */
enum verdict {
    LOST,   /* something that existed before the case is missing */
    LIED,   /* a call reported success although it failed */
    WRONG,  /* a result is wrong or meaningless */
    LEAKED, /* a resource was not freed */
    VERDICTS
};

extern struct cases {
    bool whole; /* whether to try all cases instead of a selection */
    long tried, verdicts[VERDICTS];
    int voice; /* file descriptor to which failures are printed */
} cases;

/* Starts a table of results. All cases are tried if the environment variable with the
 * given name is "all". Otherwise only a selection is tried, which depends on the seed and
 * is the same in every run and on every process. If the variable is a number, the
 * selection is larger by that factor. */
void cases_start(const char *variable, uint32_t seed);

/* Returns a random number below the limit. The number is the same on all processes. */
uint32_t cases_chance(uint32_t limit);

/* Returns whether to try the next case. Unless all cases are tried, selects one in `part`
 * at random. */
bool cases_turn(uint32_t part);

/* cases_begin starts a case with the given description; cases_end ends it. If the case
 * takes more than 20 seconds, crashes, or is aborted by MPI, the program prints the
 * description and exits. Both functions are collective. */
void cases_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cases_end(void);

/* Records a failure of the current case. */
void complain(enum verdict v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns the maximum of `value` over all processes. Collective. */
int cases_most(int value);

/* Ends the table and prints a summary line. The test fails if any case failed. */
void cases_table(const char *of);

#endif
