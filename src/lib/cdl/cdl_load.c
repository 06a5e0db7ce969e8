/* Files as text in memory. */
#include "cdl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"

static int file_error(const char *path, int error, int otherwise)
{
    int code = error == ENOENT ? NC_ENOENT : error == EACCES ? NC_EACCESS : otherwise;
    return base_error_set(code, "%s: %s", path, strerror(error));
}

/* Reads on until the file ends; the text grows by half. */
static int read_all(FILE *f, const char *path, char **text, size_t *length)
{
    size_t capacity = 0;
    do {
        capacity += capacity / 2 + 65536;
        char *grown = base_realloc(*text, capacity + 1);
        if (grown == NULL) return NC_ENOMEM;
        *text = grown;
        *length += fread(*text + *length, 1, capacity - *length, f);
        if (ferror(f)) return file_error(path, errno, NC_EREAD);
    } while (*length == capacity);
    (*text)[*length] = '\0';
    return NC_NOERR;
}

int cdl_load(const char *path, char **text, size_t *length)
{
    *text = NULL;
    *length = 0;
    FILE *f = fopen(path, "rb");
    if (f == NULL) return file_error(path, errno, NC_EFILE);
    int err = read_all(f, path, text, length);
    fclose(f);
    if (err == NC_NOERR) return NC_NOERR;
    base_free(*text);
    *text = NULL;
    return err;
}
