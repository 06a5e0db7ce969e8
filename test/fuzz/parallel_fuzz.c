/* Fuzz target for ncmpidiff, ncmpicopy and ncvalidator's repair, for libFuzzer. For any
 * input, the tools must not crash or leak and must return a documented exit status, and a
 * copy must equal its source. The tools' main functions are renamed, and MPI is
 * initialised once for all runs (see local.mk). PARALLEL_FUZZ=NAME selects one tool. */
#define _GNU_SOURCE
#include "cdf_fuzz.h"

#include <fcntl.h>
#include <getopt.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base_mem.h"

const char fuzz_corpus[] = "corpus";

typedef int tool_main(int argc, char **argv);
tool_main ncmpidiff_main, copy_main, validator_main;
int fuzz_mpi_init(int *argc, char ***argv);
int fuzz_mpi_finalize(void);

int fuzz_mpi_init(int *argc, char ***argv)
{
    static int done;
    return done++ ? MPI_SUCCESS : PMPI_Init(argc, argv);
}

int fuzz_mpi_finalize(void)
{
    return MPI_SUCCESS;
}

/* Placeholders in the arguments: "@" is the input, "=" a copy of the input, and ">" a
 * file that does not exist. */
static const struct {
    const char *name;
    tool_main *run;
    int most; /* largest documented exit status */
    const char *arguments[8];
} commands[] = {
    {"ncmpidiff", ncmpidiff_main, 2, {"-b", "@", "="}},
    {"ncmpidiff", ncmpidiff_main, 2, {"-1", "-j", "-t", "1,0.1", "@", "="}},
    {"ncmpicopy", copy_main, 1, {"@", ">"}},
    {"ncmpicopy", copy_main, 1, {"-k", "5", "-u", "-r", "99", "@", ">"}},
    {"ncmpicopy", copy_main, 1, {"-n", "-d", "x=::2", "@", ">"}},
    {"ncvalidator", validator_main, 2, {"-r", ">", "@"}},
};

static char made[64]; /* path that replaces ">" in the arguments */

static void silence(void)
{
    int null = open("/dev/null", O_WRONLY);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0) abort();
    close(null);
    snprintf(made, sizeof made, "/dev/shm/ncmpi-fuzz-%ld.nc", (long)getpid());
}

static int memory_file(const uint8_t *data, size_t size, char path[40])
{
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, 40, "/proc/self/fd/%d", fd);
    return fd;
}

static int call(tool_main *tool, const char *const *arguments, char paths[2][40])
{
    char *argv[10] = {(char *)(uintptr_t) "fuzz"};
    int argc = 1;
    for (int k = 0; k < 8 && arguments[k] != NULL; k++) {
        const char *text = arguments[k];
        if (strcmp(text, ">") == 0) text = made;
        if (strcmp(text, "@") == 0) text = paths[0];
        if (strcmp(text, "=") == 0) text = paths[1];
        argv[argc++] = (char *)(uintptr_t)text;
    }
    optind = 0; /* resets getopt's state */
    return tool(argc, argv);
}

static void run(size_t i, char paths[2][40])
{
    static const char *const compare[8] = {"-d", "@", ">"};
    int status = call(commands[i].run, commands[i].arguments, paths);
    bool whole = commands[i].run == copy_main && i != 4;
    if (status < 0 || status > commands[i].most) abort();
    if (whole && status == 0 && call(ncmpidiff_main, compare, paths) != 0) abort();
    if (whole && status != 0 && access(made, F_OK) == 0) abort();
    if (base_mem_in_use() != 0) abort();
    unlink(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *only = getenv("PARALLEL_FUZZ");
    char paths[2][40];
    if (made[0] == '\0') silence();
    int fd[2] = {memory_file(data, size, paths[0]), memory_file(data, size, paths[1])};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (only == NULL || strcmp(only, commands[i].name) == 0) run(i, paths);
    close(fd[0]);
    close(fd[1]);
    return 0;
}
