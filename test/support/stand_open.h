/* Defines open and open64 in a file that interposes the C library's file functions. Both
 * call open_next. Before it includes this header, the file must define EXPORT and
 *
 *   static int open_next(const char *name, const char *path, int flags, mode_t mode); */
#ifndef STAND_OPEN_H
#define STAND_OPEN_H

#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

static mode_t mode_argument(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_argument(flags, args);
    va_end(args);
    return open_next("open", path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = mode_argument(flags, args);
    va_end(args);
    return open_next("open64", path, flags, mode);
}

#endif
