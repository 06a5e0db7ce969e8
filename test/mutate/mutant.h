/* Included by each source that dev/mutate instruments (mutate_source.py). All mutants are
 * compiled into the same objects; the environment variable NCMPI_MUTANT selects one of
 * them by number. If NCMPI_MUTANT_MAP names a file, the byte with the mutant's number is
 * set when execution reaches the place of a mutant, so that dev/mutate knows which tests
 * to run. All processes of a test share that file. */
#ifndef MUTANT_H
#define MUTANT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* some sources define it, before they include anything */
#endif

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* These are weak because each instrumented object defines them. */
__attribute__((weak)) long mutant_selected;
__attribute__((weak)) volatile unsigned char *mutant_map;
__attribute__((weak)) long mutant_mapped;

__attribute__((weak, constructor)) void mutant_begin(void)
{
    const char *number = getenv("NCMPI_MUTANT"), *path = getenv("NCMPI_MUTANT_MAP");
    struct stat st;
    if (number != NULL) mutant_selected = atol(number);
    if (path == NULL || mutant_map != NULL) return;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &st) == 0) {
        void *map =
            mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map != MAP_FAILED) {
            mutant_map = map;
            mutant_mapped = (long)st.st_size;
        }
    }
    if (fd >= 0) (void)close(fd);
}

static inline bool mutant(long number)
{
    if (number < mutant_mapped) mutant_map[number] = 1;
    return number == mutant_selected;
}

#endif
