/* Escapes names for CDL, and removes the escapes. */
#include "util_name.h"

#include <stdio.h>
#include <string.h>

static size_t escape(char *text, unsigned char c, int first)
{
    if (c < ' ' || c == 0x7f) return (size_t)sprintf(text, "\\%%%.2x", c);
    size_t n = 0;
    if (strchr(" !\"#$&'()*,:;<=>?[\\]^`{|}~", c) != NULL) text[n++] = '\\';
    if (first && c >= '0' && c <= '9') text[n++] = '\\';
    text[n++] = (char)c;
    return n;
}

size_t util_name(char *text, size_t size, const char *name)
{
    size_t length = 0;
    for (const char *c = name; *c != '\0' && length + 5 < size; c++)
        length += escape(text + length, (unsigned char)*c, c == name);
    text[length] = '\0';
    return length;
}

void util_plain_name(char *name)
{
    char *to = name;
    for (const char *from = name; *from != '\0'; from++) {
        if (*from == '\\' && from[1] != '\0') from++;
        *to++ = *from;
    }
    *to = '\0';
}
