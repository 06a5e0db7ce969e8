/* The hint nc_quantize, taken apart. */
#include "base_quantize.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* By mode; the most digits, or bits, that any type has. */
static const struct {
    const char *word;
    long most;
} modes[] = {{"none", 0}, {"bitgroom:", 15}, {"granularbr:", 15}, {"bitround:", 52}};

/* Takes a rule's mode and digits from *at; false if there is no such thing. */
static bool take_mode(const char **at, struct base_quantize *rule)
{
    enum { MODES = sizeof modes / sizeof modes[0] };
    int mode = 0;
    while (mode < MODES && strncmp(*at, modes[mode].word, strlen(modes[mode].word)) != 0)
        mode++;
    if (mode == MODES) return false;
    *at += strlen(modes[mode].word);
    *rule = (struct base_quantize){.mode = mode};
    if (mode == 0) return true;
    if (**at < '1' || **at > '9') return false;
    char *end;
    long digits = strtol(*at, &end, 10);
    *at = end;
    rule->digits = (int)digits;
    return digits <= modes[mode].most;
}

/* Takes the names behind the @ at *at, of which none is empty; is this one among them? */
static bool take_names(const char **at, const char *name, bool *named)
{
    size_t length, sought = strlen(name);
    do {
        ++*at;
        length = strcspn(*at, ",/");
        if (length == 0) return false;
        if (length == sought && memcmp(*at, name, length) == 0) *named = true;
        *at += length;
    } while (**at == ',');
    return true;
}

/* Takes a rule from *at; *applies says whether it is about the variable. */
static bool take_rule(const char **at, const char *name, struct base_quantize *rule,
                      bool *applies)
{
    if (!take_mode(at, rule)) return false;
    *applies = true;
    if (**at == '@') {
        if (!take_names(at, name, &rule->named)) return false;
        *applies = rule->named;
    }
    if (**at == '\0') return true;
    return *(*at)++ == '/' && **at != '\0';
}

bool base_quantize_check(const char *hint)
{
    struct base_quantize rule;
    bool applies;
    while (*hint != '\0')
        if (!take_rule(&hint, "", &rule, &applies)) return false;
    return true;
}

void base_quantize_find(const char *hint, const char *name, struct base_quantize *found)
{
    struct base_quantize rule;
    bool applies;
    *found = (struct base_quantize){0};
    while (*hint != '\0' && take_rule(&hint, name, &rule, &applies))
        if (applies && (rule.named || !found->named)) *found = rule;
}
