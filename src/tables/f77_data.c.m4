m4_include(`tables.m4')m4_include([f77_tables.m4])m4_dnl
/* Generated from f77_data.c.m4: typed and flexible data functions for one mode. */
#include "f77.h"
foreach_f77_mode([m4_ifelse(M_NAME, MODE, [foreach_f77_function([
int F77_NAME(nfmpi_[]F77_DATA_NAME, NFMPI_[]UPPER(F77_DATA_NAME))(
    const int *ncid, const int *varid,W_DECL
    M_CONST[]F_C *buf[]F_DECL[]M_DECL)
{
    struct m4_ifelse(K_NAME, [varn], [f77_list], [f77_slab]) at;
    W_MAKE;
    return m4_ifelse(K_NAME, [varn], [f77_list_end], [f77_slab_end])(&at, ncmpi_[]F77_DATA_CNAME[](*ncid, at.varid, W_PASS[]buf[]F_PASS[]M_PASS));
}
])])])m4_dnl
