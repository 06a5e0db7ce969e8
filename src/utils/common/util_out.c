/* Writes output through a buffer. After the first error it discards all further output;
 * util_out_flush returns that error. */
#include "util_out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base_mem.h"

void util_out_init(struct util_out *out, int fd)
{
    out->fd = fd;
    out->text = NULL;
    out->length = 0;
    out->error = 0;
    out->used = 0;
}

bool util_out_colours(const struct util_out *out)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    return (none == NULL || *none == '\0') && term != NULL && strcmp(term, "dumb") != 0 &&
           isatty(out->fd);
}

void util_out_init_memory(struct util_out *out)
{
    util_out_init(out, -1);
}

static void append_text(struct util_out *out)
{
    char *grown = base_realloc(out->text, out->length + out->used + 1);
    if (grown == NULL) {
        out->error = ENOMEM;
        return;
    }
    out->text = grown;
    memcpy(grown + out->length, out->bytes, out->used);
    out->length += out->used;
    grown[out->length] = '\0';
}

int util_out_flush(struct util_out *out)
{
    if (out->fd < 0) {
        if (out->error == 0) append_text(out);
        out->used = 0;
        return out->error;
    }
    size_t done = 0;
    while (out->error == 0 && done < out->used) {
        ssize_t n = write(out->fd, out->bytes + done, out->used - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            out->error = errno;
    }
    out->used = 0;
    return out->error;
}

void util_out_bytes(struct util_out *out, const void *bytes, size_t length)
{
    const char *from = bytes;
    while (length > 0) {
        size_t n = length < UTIL_OUT_PIECE ? length : UTIL_OUT_PIECE;
        memcpy(util_out_room(out), from, n);
        util_out_advance(out, n);
        from += n;
        length -= n;
    }
}

void util_out_text(struct util_out *out, const char *text)
{
    util_out_bytes(out, text, strlen(text));
}

void util_out_print(struct util_out *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(util_out_room(out), UTIL_OUT_PIECE, format, args);
    va_end(args);
    if (n > 0) util_out_advance(out, n < UTIL_OUT_PIECE ? (size_t)n : UTIL_OUT_PIECE - 1);
}
