m4_include(`tables.m4')m4_dnl
/* Generated from api_typed.c.m4: the data functions of one mode, typed and flexible. */
#include "pnetcdf.h"
#include "api.h"

/* What is const is the published interface's to say.
 * NOLINTBEGIN(readability-non-const-parameter) */
foreach_mode([m4_ifelse(M_NAME, MODE, [m4_indir(M_KINDS, [foreach_function([
HEAD
{
    return M_CALL;
}
])])])])
/* NOLINTEND(readability-non-const-parameter) */
