/* The hints nc_quantize and nc_compress: rules for the values of variables.
 *
 *     hint = rule { "/" rule }
 *     rule = ( "none" | mode [ ":" number ] ) [ "@" name { "," name } ]
 *
 * A rule without names applies to all variables that no other rule names. Names contain
 * no slash, so a slash always separates rules. */
#ifndef BASE_RULES_H
#define BASE_RULES_H

#include <stdbool.h>

/* A mode, the maximum value of its number (0 if it takes no number), and the default
 * number (0 if a number is required). The first mode in a list has no effect. The list
 * ends with a NULL word. */
struct base_rule_mode {
    const char *word;
    int most, default_number;
};
/* Modes as in netCDF: "bitgroom" (digits), "granularbr" (digits), "bitround" (bits). */
extern const struct base_rule_mode base_quantize_modes[];
/* Modes, numbered as in enum base_codec: "zstd" (level), "lz4". */
extern const struct base_rule_mode base_compress_modes[];

/* A rule. `mode` is an index in the list of modes; 0 if there is no rule. */
struct base_rule {
    int mode, number;
    bool named; /* the rule names the variable */
};

/* Returns whether the hint is valid. An empty string is valid and contains no rules. */
bool base_rules_check(const struct base_rule_mode *modes, const char *hint);

/* Returns whether the hint contains a rule with this mode. */
bool base_rules_have_mode(const struct base_rule_mode *modes, const char *hint, int mode);

/* Finds the rule for a variable: the last one that names it, else the last one without
 * names. Sets mode to 0 if neither exists. */
void base_rules_find(const struct base_rule_mode *modes, const char *hint,
                     const char *name, struct base_rule *found);

#endif
