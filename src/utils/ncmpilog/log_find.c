/* Finds the logs: process 0 expands the operands, reports those that it cannot use, and
 * sends the sorted list to the others. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base_mem.h"
#include "burst_log.h"
#include "log.h"
#include "util_message.h"

static int add_path(struct log_list *list, const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    void *grown = base_realloc(list->paths, (size_t)(list->n + 1) * sizeof(char *));
    char *path = base_malloc(size);
    if (grown != NULL) list->paths = grown;
    if (grown == NULL || path == NULL) {
        base_free(path);
        return -1;
    }
    snprintf(path, size, "%s%s%s", dir, *dir == '\0' ? "" : "/", name);
    list->paths[list->n++] = path;
    return 0;
}

static bool is_log(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".meta") == 0;
}

/* Reports a file of values that cannot be replayed because its metadata log is
 * missing. */
static int report_lost_values(const char *dir, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (burst_orphans(path, false) != BURST_LEFT_VALUES) return 0;
    util_message(LOG_TOOL, path, -1,
                 "its metadata log is missing, so it cannot be replayed");
    return 1;
}

static int add_directory(struct log_list *list, const char *dir, int *status)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    int rc = 0;
    if (d == NULL) return -1;
    while (rc == 0 && (entry = readdir(d)) != NULL)
        if (is_log(entry->d_name))
            rc = add_path(list, dir, entry->d_name);
        else if (report_lost_values(dir, entry->d_name) && *status == 0)
            *status = 1;
    closedir(d);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_logs(char **operands, int n, struct log_list *list, int *status)
{
    for (int i = 0; i < n; i++) {
        struct stat st;
        int rc = stat(operands[i], &st);
        if (rc == 0)
            rc = S_ISDIR(st.st_mode) ? add_directory(list, operands[i], status)
                                     : add_path(list, "", operands[i]);
        if (rc == 0) continue;
        util_message(LOG_TOOL, operands[i], -1, "%s", strerror(errno));
        *status = 2;
    }
    if (list->n > 1) qsort(list->paths, (size_t)list->n, sizeof(char *), by_name);
}

/* Sends process 0's list to all processes. The others do not search the directories,
 * which may have changed in the meantime. */
static int share_all(struct log_list *list, int rank)
{
    int n = list->n, failed = 0;
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank != 0) list->paths = base_calloc((size_t)n + 1, sizeof(char *));
    if (list->paths != NULL) list->n = n;
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX] = "";
        if (rank == 0) snprintf(path, sizeof path, "%s", list->paths[i]);
        MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (rank != 0 && list->paths != NULL) list->paths[i] = base_strdup(path);
        if (list->paths == NULL || list->paths[i] == NULL) failed = 1;
    }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return failed;
}

int log_find_all(char **operands, int n, struct log_list *list, int *status)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *list = (struct log_list){0};
    if (rank == 0) find_logs(operands, n, list, status);
    MPI_Bcast(status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!share_all(list, rank)) return list->n;
    util_message(LOG_TOOL, NULL, -1, "%s", strerror(ENOMEM));
    log_free(list);
    *list = (struct log_list){0};
    *status = 2;
    return -1;
}

void log_free(struct log_list *list)
{
    for (int i = 0; i < list->n; i++)
        base_free(list->paths[i]);
    base_free(list->paths);
}
