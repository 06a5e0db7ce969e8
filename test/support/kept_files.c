/* See kept_files.h. */
#include "kept_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "old_notes.h"

enum { MOST = 64 };

static struct kept {
    char name[256];
    unsigned char *bytes;
    size_t length;
    struct timespec changed;
    unsigned char token[8]; /* token of logs; a close removes it, but a kill does not */
    ssize_t token_size;     /* -1 if the file has none */
} files[MOST];

static const char attribute[] = "user.ncmpi.logs";
static int nfiles;

/* Calls a function for each file in the directory. */
static void for_each_file(void (*each)(const char *name))
{
    struct dirent *e;
    struct stat st;
    DIR *d = opendir(check_path(""));
    CHECK(d != NULL);
    while (d != NULL && (e = readdir(d)) != NULL)
        if (stat(check_path(e->d_name), &st) == 0 && S_ISREG(st.st_mode)) each(e->d_name);
    if (d != NULL) closedir(d);
}

static void keep(const char *name)
{
    struct kept *k = &files[nfiles];
    struct stat st;
    if (!CHECK(nfiles < MOST)) return;
    snprintf(k->name, sizeof k->name, "%s", name);
    CHECK_EQ(0, stat(check_path(name), &st));
    k->changed = st.st_mtim;
    k->bytes = check_read_file(check_path(name), &k->length);
    k->token_size = getxattr(check_path(name), attribute, k->token, sizeof k->token);
    nfiles++;
}

static void remove_others(const char *name)
{
    for (int i = 0; i < nfiles; i++)
        if (strcmp(files[i].name, name) == 0) return;
    CHECK_EQ(0, unlink(check_path(name)));
}

static void put_back(struct kept *k)
{
    const struct timespec times[2] = {k->changed, k->changed};
    check_write_file(check_path(k->name), k->bytes, k->length);
    if (k->token_size > 0)
        CHECK_EQ(0, setxattr(check_path(k->name), attribute, k->token,
                             (size_t)k->token_size, 0));
    CHECK_EQ(0, utimensat(AT_FDCWD, check_path(k->name), times, 0));
    free(k->bytes);
}

void kept_files_keep(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    nfiles = 0;
    if (check.rank == 0) for_each_file(keep);
    MPI_Barrier(MPI_COMM_WORLD);
}

void kept_files_put_back(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check.rank == 0) for_each_file(remove_others);
    for (int i = 0; i < nfiles; i++)
        put_back(&files[i]);
    if (check.rank == 0) (void)old_notes(check_path(""));
    nfiles = 0;
    MPI_Barrier(MPI_COMM_WORLD);
}
