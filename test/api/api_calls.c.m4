m4_include(`tables.m4')m4_dnl
m4_divert(-1)
/* Position arguments for each kind of access. WHERE_* are for single accesses, MANY_* for
 * mput and mget. */
m4_define([WHERE_var], [])
m4_define([WHERE_var1], [c->start, ])
m4_define([WHERE_vara], [c->start, c->count, ])
m4_define([WHERE_vars], [c->start, c->count, c->stride, ])
m4_define([WHERE_varm], [c->start, c->count, c->stride, c->imap, ])
m4_define([WHERE_varn], [c->num, c->starts, c->counts, ])
m4_define([MANY_var], [])
m4_define([MANY_var1], [c->starts, ])
m4_define([MANY_vara], [c->starts, c->counts, ])
m4_define([MANY_vars], [c->starts, c->counts, c->strides, ])
m4_define([MANY_varm], [c->starts, c->counts, c->strides, c->imaps, ])

/* Argument lists for put, iput, bput, mput and so on. */
m4_define([FLEXIBLE], [m4_ifelse(F_SUFFIX, [], [, c->bufcount, c->buftype])])
m4_define([MFLEXIBLE], [m4_ifelse(F_SUFFIX, [], [, c->bufcounts, c->buftypes])])
m4_define([ONE], [c->varid, m4_indir([WHERE_]K_NAME)c->buf[]FLEXIBLE])
m4_define([ARGS_put], [ONE])
m4_define([ARGS_get], [ONE])
m4_define([ARGS_iput], [ONE, c->req])
m4_define([ARGS_iget], [ONE, c->req])
m4_define([ARGS_bput], [ONE, c->req])
m4_define([ARGS_mput], [c->num, c->varids, m4_indir([MANY_]K_NAME)(F_C **)c->bufs[]MFLEXIBLE])
m4_define([ARGS_mget], [ARGS_mput])

m4_define([NAME], [ncmpi_[]M_NAME[]_[]K_NAME[]F_SUFFIX[]C_SUFFIX])
m4_define([TYPE_ROW], [m4_ifelse(F_SUFFIX, [], [NULL], [calls_types + TYPE[]F_SUFFIX])])
m4_divert[]m4_dnl
/* Generated from api_calls.c.m4. */
#include "api_calls.h"

enum {
foreach_type([    TYPE_[]T_NAME,
])m4_dnl
};

foreach_type([m4_dnl
static MPI_Datatype mpi_[]T_NAME[](void)
{
    return T_MPI;
}

static void set_[]T_NAME[](void *buf, size_t i, int value)
{
    ((T_C *)buf)[[i]] = (T_C)value;
}

static int get_[]T_NAME[](const void *buf, size_t i)
{
    return (int)((const T_C *)buf)[[i]];
}

])m4_dnl
const struct calls_type calls_types[[]] = {
foreach_type([    {"T_NAME", sizeof(T_C), mpi_[]T_NAME, set_[]T_NAME, get_[]T_NAME[]},
])m4_dnl
};
const int calls_type_count = sizeof calls_types / sizeof calls_types[[0]];

foreach_mode([m4_indir(M_KINDS, [foreach_function([m4_dnl
static int run_[]NAME[](const struct calls_args *c)
{
    return NAME[](c->ncid, m4_indir([ARGS_]M_NAME));
}

])])])m4_dnl
const struct calls_row calls_rows[[]] = {
foreach_mode([m4_indir(M_KINDS, [foreach_function([m4_dnl
    {"NAME", CALLS_[]M_NAME, CALLS_[]K_NAME, m4_ifelse(C_SUFFIX, [], [false], [true]),
     TYPE_ROW, run_[]NAME},
])])])m4_dnl
};
const int calls_row_count = sizeof calls_rows / sizeof calls_rows[[0]];

foreach_number_att_type([m4_dnl
static int put_att_[]T_NAME[](int ncid, int varid, const char *name, nc_type xtype,
                              MPI_Offset n, const void *values)
{
    return ncmpi_put_att_[]T_NAME[](ncid, varid, name, xtype, n, values);
}

static int get_att_[]T_NAME[](int ncid, int varid, const char *name, void *values)
{
    return ncmpi_get_att_[]T_NAME[](ncid, varid, name, values);
}

])m4_dnl
const struct calls_att calls_atts[[]] = {
foreach_number_att_type([    {"T_NAME", calls_types + TYPE_[]m4_ifelse(T_NAME, [ubyte], [uchar], T_NAME),
     put_att_[]T_NAME, get_att_[]T_NAME[]},
])m4_dnl
};
const int calls_att_count = sizeof calls_atts / sizeof calls_atts[[0]];
