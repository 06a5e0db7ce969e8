/* replay [FILE...]: passes each file to the fuzz target without libFuzzer. By default,
 * passes all files of the target's corpus. Prints TAP. A failed check aborts the
 * program. */
#include "cdf_fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int replayed;

static void replay(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size = -1;
    if (f != NULL && fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    unsigned char *bytes = size < 0 ? NULL : malloc((size_t)size + 1);
    bool read = bytes != NULL && fseek(f, 0, SEEK_SET) == 0 &&
                fread(bytes, 1, (size_t)size, f) == (size_t)size;
    if (read) LLVMFuzzerTestOneInput(bytes, (size_t)size);
    printf("%s %d - %s\n", read ? "ok" : "not ok", ++replayed, path);
    fflush(stdout);
    free(bytes);
    if (f != NULL) fclose(f);
}

static void replay_corpus(const char *dir)
{
    struct dirent **entries;
    int n = scandir(dir, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') replay(path);
        free(entries[i]);
    }
    if (n >= 0) free(entries);
    if (replayed == 0) printf("not ok %d - there are inputs in %s\n", ++replayed, dir);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    if (argc == 1) {
        const char *srcdir = getenv("srcdir");
        char dir[3500];
        snprintf(dir, sizeof dir, "%s/test/fuzz/%s", srcdir == NULL ? "." : srcdir,
                 fuzz_corpus);
        replay_corpus(dir);
    }
    printf("1..%d\n", replayed);
    return 0;
}
