/* See cases.h. */
#include "cases.h"

#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

struct cases cases = {.voice = STDERR_FILENO};

static char place[600];  /* description of the current case; "" if none */
static char first[1300]; /* this process's first complaint; "" if none */
static uint32_t dice, density;

static uint32_t number(const char *text, int least)
{
    int n = text == NULL ? 0 : atoi(text);
    return (uint32_t)(n > least ? n : least);
}

/* Messages to print if the time limit, a signal or MPI ends the program. They are
 * formatted before each case, because a signal handler must not do so. They contain the
 * number of cases tried, so that a rerun can continue after the case that failed. */
static char no_end[700], died[700];

static void end_here(const char *text)
{
    if (place[0] == '\0') return;
    (void)!write(cases.voice, text, strlen(text));
    _exit(98);
}

static void too_long(int number)
{
    (void)number;
    end_here(no_end);
}

static void killed(int number)
{
    (void)number;
    end_here(died);
}

static void ended(void)
{
    end_here(died);
}

void cases_start(const char *variable, uint32_t seed)
{
    static bool watched;
    const char *asked = getenv(variable);
    cases.whole = asked != NULL && strcmp(asked, "all") == 0;
    density = number(asked, 1);
    dice = seed;
    if (!watched) (void)atexit(ended);
    watched = true;
    place[0] = '\0';
}

uint32_t cases_chance(uint32_t limit)
{
    dice = dice * UINT32_C(1664525) + UINT32_C(1013904223);
    return (dice >> 16) % limit;
}

bool cases_turn(uint32_t part)
{
    uint32_t of = part / density;
    return cases_chance(of > 0 ? of : 1) == 0 || cases.whole;
}

void cases_begin(const char *format, ...)
{
    /* These signals are caught only if all cases are tried. Otherwise they are left to
     * the sanitizers, which report errors better and also end the program. */
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
    va_list args;
    va_start(args, format);
    vsnprintf(place, sizeof place, format, args);
    va_end(args);
    snprintf(no_end, sizeof no_end, "# %s: no end, after %ld cases\n", place,
             cases.tried);
    snprintf(died, sizeof died, "# %s: died, after %ld cases\n", place, cases.tried);
    signal(SIGALRM, too_long);
    for (size_t i = 0; cases.whole && i < sizeof deadly / sizeof deadly[0]; i++)
        signal(deadly[i], killed);
    alarm(20 * number(getenv("NCMPI_TEST_TIME_SCALE"), 1));
    cases.tried++;
}

void cases_end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(0);
    place[0] = '\0';
}

void complain(enum verdict v, const char *format, ...)
{
    static const char *const words[VERDICTS] = {"lost", "lied", "wrong", "leaked"};
    va_list args;
    char text[600];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (first[0] == '\0')
        snprintf(first, sizeof first, "%s, %s on process %d: %s", place, words[v],
                 check.rank, text);
    if (cases.verdicts[v]++ < 40)
        dprintf(cases.voice, "# %s, %s on process %d: %s\n", place, words[v], check.rank,
                text);
}

int cases_most(int value)
{
    int most;
    MPI_Allreduce(&value, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

void cases_table(const char *of)
{
    long all[VERDICTS];
    MPI_Reduce(cases.verdicts, all, VERDICTS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (check.rank == 0)
        printf("# table: %s, %d processes: %ld cases, %ld lost, 0 hung, %ld lied, "
               "%ld wrong, %ld leaked\n",
               of, check.nprocs, cases.tried, all[LOST], all[LIED], all[WRONG],
               all[LEAKED]);
    /* Repeats the first complaint, because often only the end of a log is visible. */
    CHECK_STR("", first);
    for (int v = 0; v < VERDICTS; v++)
        CHECK_EQ(0, cases.verdicts[v]);
    first[0] = '\0';
    cases.tried = 0;
    memset(cases.verdicts, 0, sizeof cases.verdicts);
}
