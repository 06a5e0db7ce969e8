/* Parses the hints nc_quantize and nc_compress. */
#include "base_rules.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Modes, with the maximum number of digits or bits that any type allows. */
const struct base_rule_mode base_quantize_modes[] = {
    {"none", 0, 0}, {"bitgroom", 15, 0}, {"granularbr", 15, 0}, {"bitround", 52, 0}, {0}};

const struct base_rule_mode base_compress_modes[] = {
    {"none", 0, 0}, {"zstd", 19, 1}, {"lz4", 0, 0}, {0}};

/* Parses the mode and the number of a rule at *at. Returns false if they are invalid. */
static bool parse_mode(const struct base_rule_mode *modes, const char **at,
                       struct base_rule *rule)
{
    size_t length = strcspn(*at, ":@/");
    int mode = 0;
    while (modes[mode].word != NULL && (strlen(modes[mode].word) != length ||
                                        memcmp(*at, modes[mode].word, length) != 0))
        mode++;
    if (modes[mode].word == NULL) return false;
    *at += length;
    *rule = (struct base_rule){.mode = mode, .number = modes[mode].default_number};
    if (**at != ':') return modes[mode].most == 0 || modes[mode].default_number > 0;
    if (*++*at < '1' || **at > '9') return false;
    char *end;
    long number = strtol(*at, &end, 10);
    *at = end;
    rule->number = (int)number;
    return number <= modes[mode].most;
}

/* Parses the names after the @ at *at, none of which may be empty. Sets *named if `name`
 * is one of them. */
static bool parse_names(const char **at, const char *name, bool *named)
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

/* Parses a rule at *at. Sets *applies if the rule applies to the variable. */
static bool parse_rule(const struct base_rule_mode *modes, const char **at,
                       const char *name, struct base_rule *rule, bool *applies)
{
    if (!parse_mode(modes, at, rule)) return false;
    *applies = true;
    if (**at == '@') {
        if (!parse_names(at, name, &rule->named)) return false;
        *applies = rule->named;
    }
    if (**at == '\0') return true;
    return *(*at)++ == '/' && **at != '\0';
}

bool base_rules_check(const struct base_rule_mode *modes, const char *hint)
{
    struct base_rule rule;
    bool applies;
    while (*hint != '\0')
        if (!parse_rule(modes, &hint, "", &rule, &applies)) return false;
    return true;
}

bool base_rules_have_mode(const struct base_rule_mode *modes, const char *hint, int mode)
{
    struct base_rule rule;
    bool applies;
    while (*hint != '\0' && parse_rule(modes, &hint, "", &rule, &applies))
        if (rule.mode == mode) return true;
    return false;
}

void base_rules_find(const struct base_rule_mode *modes, const char *hint,
                     const char *name, struct base_rule *found)
{
    struct base_rule rule;
    bool applies;
    *found = (struct base_rule){0};
    while (*hint != '\0' && parse_rule(modes, &hint, name, &rule, &applies))
        if (applies && (rule.named || !found->named)) *found = rule;
}
