/* Checks names, normalizes them (Unicode NFC), and stores them in the arena. */
#include "config.h"

#include "cdf_impl.h"

#include <stdlib.h>
#ifdef HAVE_UTF8PROC_H
#include <utf8proc.h>
#endif

#include "base_error.h"
#include "base_utf8.h"

/* A name in the arena. Its capacity is stored so that repeated renaming takes no more
 * memory than the longest name. */
struct stored_name {
    uint16_t room; /* size of text[], in bytes */
    char text[];
};

const char *cdf_name_store(struct base_arena *arena, const char *old, const char *text,
                           size_t length)
{
    const size_t head = offsetof(struct stored_name, text);
    struct stored_name *box = NULL;
    size_t room = 0;
    if (old != NULL) {
        box = (struct stored_name *)(void *)((uintptr_t)old - head);
        room = box->room;
    }
    if (box == NULL || room < length + 1) {
        room = room * 2 > length + 1 ? room * 2 : length + 1;
        if (room > NC_MAX_NAME + 1) room = NC_MAX_NAME + 1;
        box = base_arena_alloc_packed(arena, head + room, _Alignof(struct stored_name));
        if (box == NULL) return NULL;
        box->room = (uint16_t)room;
    }
    memcpy(box->text, text, length);
    box->text[length] = '\0';
    return box->text;
}

static bool is_first(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c >= 0x80;
}

/* Checks the characters. Sets *ascii to true if all are ASCII. */
static int check_characters(const char *name, bool *ascii)
{
    const unsigned char *p = (const unsigned char *)name;
    *ascii = true;
    if (!is_first(p[0]))
        return base_error_set(NC_EBADNAME,
                              "'%.80s' does not start with a letter, digit or '_'", name);
    while (*p != 0) {
        size_t n = base_utf8_length((const char *)p);
        if (*p >= 0x80) *ascii = false;
        if (n == 0)
            return base_error_set(NC_EBADNAME, "'%.80s' is not valid UTF-8", name);
        if (*p < 0x20 || *p == 0x7f)
            return base_error_set(NC_EBADNAME,
                                  "the name contains the control character 0x%02x", *p);
        if (*p == '/') return base_error_set(NC_EBADNAME, "'%.80s' contains a '/'", name);
        p += n;
    }
    if (p[-1] == ' ')
        return base_error_set(NC_EBADNAME, "'%.80s' ends with a space", name);
    return NC_NOERR;
}

static int too_long(const char *name)
{
    return base_error_set(NC_EMAXNAME, "'%.40s...' has more than %d bytes", name,
                          NC_MAX_NAME);
}

/* Normalizes a name with non-ASCII characters (Unicode NFC). */
static int compose_name(const char *name, char *norm)
{
#ifdef HAVE_UTF8PROC_H
    utf8proc_uint8_t *composed = NULL;
    utf8proc_ssize_t length =
        utf8proc_map((const utf8proc_uint8_t *)name, 0, &composed,
                     UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (length == UTF8PROC_ERROR_NOMEM) return base_error_set(NC_ENOMEM, "a name");
    if (length < 0)
        return base_error_set(NC_EBADNAME, "'%.80s': %s", name, utf8proc_errmsg(length));
    int err = length > NC_MAX_NAME ? too_long(name) : NC_NOERR;
    if (err == NC_NOERR) memcpy(norm, composed, (size_t)length + 1);
    free(composed);
    return err;
#else
    strcpy(norm, name);
    return NC_NOERR;
#endif
}

int cdf_check_name(const char *name, char *norm)
{
    if (name == NULL || name[0] == '\0')
        return base_error_set(NC_EBADNAME, "the name is empty");
    size_t length = strnlen(name, NC_MAX_NAME + 1);
    if (length > NC_MAX_NAME) return too_long(name);

    bool ascii;
    int err = check_characters(name, &ascii);
    if (err != NC_NOERR) return err;
    if (!ascii) return compose_name(name, norm);
    memcpy(norm, name, length + 1);
    return NC_NOERR;
}

int cdf_name_find(const struct base_names *names, base_names_text *text, const void *of,
                  const char *name)
{
    char norm[NC_MAX_NAME + 1];
    if (name == NULL) return -1;
    if (cdf_check_name(name, norm) == NC_NOERR) {
        int i = base_names_find(names, norm, text, of);
        if (i >= 0 || strcmp(name, norm) == 0) return i;
    }
    return base_names_find(names, name, text, of); /* a name in a file may be invalid */
}
