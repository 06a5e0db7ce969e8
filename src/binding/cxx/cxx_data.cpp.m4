m4_include(`cxx_tables.m4')m4_dnl
/* Generated from cxx_data.cpp.m4: data access methods for one mode. */
#include "cxx_parts.hpp"
m4_ifelse(MODE, [iput], [
extern "C" {
#include "api.h"
}
])m4_dnl

namespace PnetCDF
{
m4_ifelse(MODE, [iput], [static int put_later(int ncid, const api_access &a, int *req)
{
    return api_access_later(ncid, &a, true, req);
}

])m4_dnl
/* Expands to yes if a request puts a single value, which no longer exists when the
 * program waits for the request. */
m4_define([FLEETING], [m4_ifelse(M_NAME, [iput], [m4_ifelse(V_SINGLE, [no], [no], [yes])], [no])])m4_dnl
m4_define([CALL], [m4_ifelse(FLEETING, [yes],
    [put_later(groupId, {myId, at.start(), nullptr, nullptr, nullptr,
            V_VALUE_PASS, F_PASS, API_VAR1 | API_TEMPORARY, nullptr}, req)],
    [ncmpi_[]M_NAME[]_[]K_NAME[]F_SUFFIX[]C_SUFFIX[](groupId, myId,
            V_PASS[]V_VALUE_PASS[]V_FLEX_PASS[]V_REQ_PASS)])])m4_dnl
m4_define([HAS_LISTS], [m4_ifelse(K_NAME, [var], [no], K_NAME, [varn], [no], [yes])])m4_dnl
foreach_cxx_mode([m4_ifelse(M_NAME, MODE, [m4_indir(M_KINDS, [foreach_function([
void NcmpiVar::V_NAME[]V_ARGS
{
m4_ifelse(HAS_LISTS, [yes], [    const Lists at(groupId, myId, V_LISTS);
])m4_dnl
    int err;
    do {
        err = CALL;
    } while (left_define_mode(groupId, err));
    m4_ifelse(HAS_LISTS, [yes], [at.check(err, __FILE__, __LINE__)], [CXX_CHECK(err)]);
}
])])])])m4_dnl
} // namespace PnetCDF
