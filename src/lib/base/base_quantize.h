/* The hint nc_quantize: rules that say which variables are quantized, and how.
 *
 *     hint = rule { "/" rule }
 *     rule = ( "none" | mode ":" digits ) [ "@" name { "," name } ]
 *     mode = "bitgroom" | "granularbr" | "bitround"
 *
 * A rule without names is about all variables that no other rule names. A name has no
 * slash in it, so that rules end where they seem to. */
#ifndef BASE_QUANTIZE_H
#define BASE_QUANTIZE_H

#include <stdbool.h>

/* What a rule says. mode is 0 for none, else 1 to 3 in the order above, as in netCDF. */
struct base_quantize {
    int mode, digits;
    bool named; /* the rule names the variable */
};

/* Is it such a hint? The empty text is one, without rules. */
bool base_quantize_check(const char *hint);

/* What such a hint says of a variable: the last rule that names it, or else the last one
 * without names; no mode if there is neither. */
void base_quantize_find(const char *hint, const char *name, struct base_quantize *found);

#endif
