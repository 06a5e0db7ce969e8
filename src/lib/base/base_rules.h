/* The hints nc_quantize and nc_compress: rules that say what is done with the values of
 * which variables.
 *
 *     hint = rule { "/" rule }
 *     rule = ( "none" | mode [ ":" number ] ) [ "@" name { "," name } ]
 *
 * A rule without names is about all variables that no other rule names. A name has no
 * slash in it, so that rules end where they seem to. */
#ifndef BASE_RULES_H
#define BASE_RULES_H

#include <stdbool.h>

/* A way to do it, and the largest number that it takes; 0: it takes none. `unsaid` holds
 * where nobody says a number; 0: somebody has to. The first in a list does nothing, a
 * NULL ends it. */
struct base_rule_mode {
    const char *word;
    int most, unsaid;
};
/* "bitgroom" (digits), "granularbr" (digits), "bitround" (bits), as in netCDF. */
extern const struct base_rule_mode base_quantize_modes[];
/* "zstd" (level), "lz4", by enum base_codec. */
extern const struct base_rule_mode base_compress_modes[];

/* What a rule says: the place of its mode in the list; 0: none. */
struct base_rule {
    int mode, number;
    bool named; /* the rule names the variable */
};

/* Is it such a hint? The empty text is one, without rules. */
bool base_rules_check(const struct base_rule_mode *modes, const char *hint);

/* Has it a rule of that mode? */
bool base_rules_have(const struct base_rule_mode *modes, const char *hint, int mode);

/* What such a hint says of a variable: the last rule that names it, or else the last one
 * without names; no mode if there is neither. */
void base_rules_find(const struct base_rule_mode *modes, const char *hint,
                     const char *name, struct base_rule *found);

#endif
