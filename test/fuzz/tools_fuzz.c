/* Fuzz target for the serial tools, for libFuzzer. For any input, the tools must not
 * crash or leak, and must return a documented exit status. The tools' main functions are
 * renamed (see local.mk). TOOLS_FUZZ=NAME selects one tool. */
#define _GNU_SOURCE
#include "cdf_fuzz.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base_mem.h"
#include "util_message.h"

const char fuzz_corpus[] = "corpus";

typedef int tool_main(int argc, char **argv);
tool_main dump_main, refs_main, offsets_main, validator_main, cdfdiff_main, gen_main;

/* Placeholders in the arguments: the first "@" is the input, and the second a copy of the
 * input. */
static const struct {
    const char *name;
    tool_main *run;
    int most; /* largest documented exit status */
    const char *arguments[6];
} commands[] = {
    {"ncmpidump", dump_main, 1, {"-t", "-b", "c", "@"}},
    {"ncmpirefs", refs_main, 1, {"-o", "-", "@"}},
    {"ncoffsets", offsets_main, 1, {"-j", "@"}},
    {"ncvalidator", validator_main, 2, {"@"}},
    {"cdfdiff", cdfdiff_main, 2, {"-b", "@", "@"}},
    {"ncmpigen", gen_main, 1, {"@"}},
    {"ncmpigen", gen_main, 1, {"-c", "@"}},
    {"ncmpigen", gen_main, 1, {"-f", "@"}},
};

static int memory_file(const uint8_t *data, size_t size, char path[40])
{
    int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, 40, "/proc/self/fd/%d", fd);
    return fd;
}

/* Discards the tools' output. */
static void silence(void)
{
    static int done;
    if (done++) return;
    int null = open("/dev/null", O_WRONLY);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0) abort();
    close(null);
    util_mute(true);
}

static void run(size_t i, const uint8_t *data, size_t size)
{
    char path[2][40];
    char *argv[8] = {(char *)(uintptr_t)commands[i].name};
    int fd[2] = {-1, -1}, argc = 1, files = 0;
    for (int k = 0; k < 6 && commands[i].arguments[k] != NULL; k++) {
        const char *text = commands[i].arguments[k];
        if (strcmp(text, "@") == 0) {
            fd[files] = memory_file(data, size, path[files]);
            text = path[files++];
        }
        argv[argc++] = (char *)(uintptr_t)text;
    }
    optind = 0; /* resets getopt's state */
    int status = commands[i].run(argc, argv);
    for (int k = 0; k < files; k++)
        close(fd[k]);
    if (status < 0 || status > commands[i].most || base_mem_in_use() != 0) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *only = getenv("TOOLS_FUZZ");
    silence();
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (only == NULL || strcmp(only, commands[i].name) == 0) run(i, data, size);
    return 0;
}
