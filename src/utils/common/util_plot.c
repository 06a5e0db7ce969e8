/* Runs gnuplot at the other end of a pipe. The caller writes the commands; closing waits
 * for gnuplot and checks its status. */
#define _GNU_SOURCE /* environ */
#include "util_plot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util_message.h"

static const char no_gnuplot[] =
    "gnuplot is not installed or failed (Debian: gnuplot-nox)";

void util_plot_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++)
        fputc(strchr("\"\\`@$", *text) != NULL || (unsigned char)*text < ' ' ? '?'
                                                                             : *text,
              out);
    fputc('"', out);
}

static bool ends_in(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

static int refuse(const struct util_plot *p, const char *why)
{
    util_message(p->tool, p->path, -1, "%s", why);
    return -1;
}

/* Starts gnuplot. Returns a stream to its standard input, or NULL on failure. */
static FILE *start_gnuplot(pid_t *child)
{
    char *const words[] = {(char *)"gnuplot", NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe(ends) != 0) return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(child, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    (void)close(ends[0]);
    FILE *out = failed ? NULL : fdopen(ends[1], "w");
    if (out == NULL) (void)close(ends[1]);
    return out;
}

/* Closes the pipe and waits for gnuplot. Returns whether gnuplot has drawn everything. */
static bool end_gnuplot(FILE *out, pid_t child)
{
    int status = -1;
    bool written = fclose(out) == 0;
    pid_t ended;
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    return written && ended == child && status == 0;
}

int util_plot_open(struct util_plot *p, const char *tool, const char *path,
                   int64_t height)
{
    const bool svg = ends_in(path, ".svg");
    p->tool = tool;
    p->path = path;
    if (!svg && !ends_in(path, ".png"))
        return refuse(p, "the name of a picture must end in .svg or .png");
    if (strpbrk(path, "\"\\`@$\n") != NULL)
        return refuse(p, "gnuplot does not accept this file name");
    (void)signal(SIGPIPE, SIG_IGN); /* if gnuplot ended early, its exit status shows it */
    p->out = start_gnuplot(&p->child);
    if (p->out == NULL) return refuse(p, no_gnuplot);
    fprintf(p->out,
            svg ? "set terminal svg size 1000,%lld font 'sans,12' background 'white'\n"
                : "set terminal pngcairo size 1000,%lld font 'sans,11'\n",
            (long long)(height < 4000 ? height : 4000));
    fprintf(p->out, "set output \"%s\"\n", path);
    return 0;
}

int util_plot_close(struct util_plot *p)
{
    fprintf(p->out, "set output\n");
    return end_gnuplot(p->out, p->child) ? 0 : refuse(p, no_gnuplot);
}
