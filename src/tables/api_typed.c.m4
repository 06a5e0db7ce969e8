m4_include(`tables.m4')m4_dnl
/* Generated from api_typed.c.m4: typed and flexible data functions for one mode. */
#include "pnetcdf.h"
#include "api.h"

/* The published interface determines which parameters are const.
 *
 * NOLINTBEGIN(readability-non-const-parameter) */
foreach_mode([m4_ifelse(M_NAME, MODE, [m4_indir(M_KINDS, [foreach_function([
HEAD
{
    return M_CALL;
}
])])])])
/* NOLINTEND(readability-non-const-parameter) */
