/* Parses ranges of indices along a dimension, and applies them to dimensions of known
 * length. */
#include "util_slab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util_name.h"

/* Parses a number at *p if there is one. Returns false if it is malformed or out of
 * range. */
static bool number(const char **p, int64_t *value, bool *there)
{
    char *end;
    const char *digits = *p + (**p == '-');
    *there = *digits >= '0' && *digits <= '9';
    if (!*there) return digits == *p;
    errno = 0;
    *value = strtoll(*p, &end, 10);
    *p = end;
    return errno == 0;
}

int util_slab_parse(struct util_slab *s, const char *text)
{
    const char *p = strrchr(text, '=');
    bool has_stride = false;
    *s = (struct util_slab){.stride = 1};
    if (p == NULL || p == text || p - text > NC_MAX_NAME) return -1;
    memcpy(s->name, text, (size_t)(p - text));
    util_plain_name(s->name);

    p++;
    if (!number(&p, &s->start, &s->has_start)) return -1;
    s->single = *p != ':';
    if (s->single) return s->has_start && *p == '\0' ? 0 : -1;
    p++;
    if (!number(&p, &s->end, &s->has_end)) return -1;
    if (*p == ':') {
        p++;
        if (!number(&p, &s->stride, &has_stride)) return -1;
    }
    return *p == '\0' && s->stride >= 1 ? 0 : -1;
}

int util_slab_resolve(const struct util_slab *s, int64_t length, int64_t *start,
                      int64_t *count, int64_t *stride)
{
    int64_t from = s->has_start ? s->start : 0;
    if (from < 0) from += length;
    int64_t to = s->single ? from + 1 : s->has_end ? s->end : length;
    if (to < 0) to += length;
    if (from < 0 || from > length || to < 0 || to > length) return -1;
    if (s->single && from >= length) return -1;
    *start = from;
    *stride = s->stride;
    *count = to > from ? (to - from - 1) / s->stride + 1 : 0;
    return 0;
}
