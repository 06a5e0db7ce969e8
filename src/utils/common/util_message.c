/* Prints error lines. They clear the progress line first, and contain no control
 * characters. */
#include "util_message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util_progress.h"

static bool is_mute;

void util_mute(bool mute)
{
    is_mute = mute;
}

bool util_muted(void)
{
    return is_mute;
}

static char tame(char c)
{
    const bool control = (unsigned char)c < ' ' || c == 0x7f;
    if (control) return '?';
    return c;
}

void util_escape_controls(char *text)
{
    for (; *text != '\0'; text++)
        *text = tame(*text);
}

static void print_tame(const char *text)
{
    for (; *text != '\0'; text++)
        fputc(tame(*text), stderr);
}

/* Returns whether a message already begins with the file's path, as many messages of the
 * library do. */
static bool begins_with_path(const char *message, const char *path)
{
    size_t n = strlen(path);
    return strncmp(message, path, n) == 0 && strncmp(message + n, ": ", 2) == 0;
}

void util_message(const char *tool, const char *file, int64_t offset, const char *format,
                  ...)
{
    char reason[2048];
    va_list args;
    if (is_mute) return;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);

    util_progress_clear();
    fprintf(stderr, "%s: ", tool);
    if (file != NULL && !begins_with_path(reason, file)) {
        print_tame(file);
        fputs(": ", stderr);
    }
    if (offset >= 0) fprintf(stderr, "offset %lld: ", (long long)offset);
    print_tame(reason);
    fputc('\n', stderr);
}

int util_file_is_short(const char *tool, const char *file, int64_t end,
                       const char *variable, int64_t lacking, int64_t most)
{
    bool good = lacking <= most;
    util_message(tool, file, end, "variable '%s': the file ends before its last values%s",
                 variable, good ? "; missing values read as zeros" : "");
    return good ? 0 : -1;
}
