/* A test program whose tests fail, crash or hang. harness.sh checks how run-mpi reports
 * them. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <unistd.h>

static void fails_on_the_last_process(void)
{
    CHECK_EQ(0, check.rank == check.nprocs - 1 ? 7 : 0);
}

static void dies(void)
{
    if (check.rank == check.nprocs - 1) raise(SIGKILL);
}

static void hangs(void)
{
    if (check.rank == check.nprocs - 1)
        for (;;)
            pause();
}

static void says_nothing(void)
{
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"fail", fails_on_the_last_process}, {"die", dies}, {"hang", hangs}};
    const char *way = getenv("NCMPI_TEST_MISBEHAVE");
    struct check_test tests[] = {
        {"before", says_nothing, 0}, {NULL, NULL, 0}, {NULL, NULL, 0}};
    for (size_t i = 0; way != NULL && i < sizeof ways / sizeof ways[0]; i++)
        if (strcmp(ways[i].name, way) == 0)
            tests[1] = (struct check_test){ways[i].name, ways[i].run, 0};
    return check_main(argc, argv, tests, "2 3");
}
