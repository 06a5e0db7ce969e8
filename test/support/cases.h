/* Tests of thousands of cases that end in a table: which of them are tried, what is wrong
 * with the one at hand, and that it ends. */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stdint.h>

/* What can be wrong with a case. */
enum verdict {
    LOST,   /* what was there before is not any more */
    LIED,   /* success was told, and it is not so */
    WRONG,  /* the answer is none that a user could go by */
    LEAKED, /* something was not given back */
    VERDICTS
};

extern struct cases {
    bool whole; /* all of them, not a part */
    long tried, verdicts[VERDICTS];
    int voice; /* where complaints go */
} cases;

/* Before the first one of a table. All are tried if the environment's `variable` is
 * "all"; else a part, the same in each run and on all processes, of its own for each
 * seed. Where that is a number, so many times the usual part. */
void cases_start(const char *variable, uint32_t seed);

/* A number below the limit, the same on all processes. */
uint32_t cases_chance(uint32_t limit);

/* Is it this one's turn? One of `part` is, if not all are tried. */
bool cases_turn(uint32_t part);

/* The case at hand, in words. If it has not ended in 20 seconds, or dies, the program
 * ends and says where; so it does when MPI ends it. Collective, with the end. */
void cases_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cases_end(void);

/* Notes what is wrong with it. */
void complain(enum verdict v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The greatest of all processes' values. */
int cases_most(int value);

/* Ends the table, with a line of what was found, and fails if anything was. */
void cases_table(const char *of);

#endif
