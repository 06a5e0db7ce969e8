/* Converts strings between Fortran and C. */
#include "base_mem.h"
#include "f77.h"

#include <string.h>

/* Returns the length of a Fortran string without trailing blanks. If it contains a NUL,
 * it ends there. */
static size_t trimmed(const char *text, F77_STRLEN len)
{
    size_t n = (size_t)len;
    const char *end = memchr(text, '\0', n);
    if (end) n = (size_t)(end - text);
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return n;
}

void f77_text_in(char *string, size_t size, const char *text, F77_STRLEN len)
{
    size_t n = trimmed(text, len);
    if (n > size - 1) n = size - 1;
    memcpy(string, text, n);
    string[n] = '\0';
}

void f77_name_in(char name[F77_NAME_ROOM], const char *text, F77_STRLEN len)
{
    f77_text_in(name, F77_NAME_ROOM, text, len);
}

char *f77_path_in(const char *text, F77_STRLEN len)
{
    size_t n = trimmed(text, len);
    char *path = base_malloc(n + 1);
    if (path) {
        memcpy(path, text, n);
        path[n] = '\0';
    }
    return path;
}

void f77_text_out(char *text, F77_STRLEN len, const char *string)
{
    size_t room = (size_t)len, n = strlen(string);
    if (n > room) n = room;
    memcpy(text, string, n);
    memset(text + n, ' ', room - n);
}
