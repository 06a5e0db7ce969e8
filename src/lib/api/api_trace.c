/* Names API calls for the trace. */
#include "api_trace.h"

#define KINDS(verb, all)                                                                 \
    {                                                                                    \
        verb "_var" all, verb "_var1" all, verb "_vara" all, verb "_vars" all,           \
            verb "_varm" all, verb "_varn" all, verb "_vard" all                         \
    }

const char *api_call_name(enum api_verb verb, unsigned kind, unsigned how)
{
    static const char *const names[][2][API_VARD + 1] = {
        [API_PUT_NOW] = {KINDS("ncmpi_put", ""), KINDS("ncmpi_put", "_all")},
        [API_GET_NOW] = {KINDS("ncmpi_get", ""), KINDS("ncmpi_get", "_all")},
        [API_IPUT] = {KINDS("ncmpi_iput", ""), KINDS("ncmpi_iput", "")},
        [API_IGET] = {KINDS("ncmpi_iget", ""), KINDS("ncmpi_iget", "")},
        [API_BPUT] = {KINDS("ncmpi_bput", ""), KINDS("ncmpi_bput", "")},
        [API_MPUT] = {KINDS("ncmpi_mput", ""), KINDS("ncmpi_mput", "_all")},
        [API_MGET] = {KINDS("ncmpi_mget", ""), KINDS("ncmpi_mget", "_all")},
    };
    return names[verb][(how & API_COLL) != 0][kind];
}
