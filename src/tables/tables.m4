m4_changequote([,])m4_changecom([/*],[*/])m4_divert(-1)
/* The tables from which typed functions are generated: types, forms, kinds and modes of
 * access. Read with `m4 -P`. foreach_X([body]) expands the body once for each row, with
 * the columns of the row defined as macros. The tables contain only names and arguments,
 * and no logic. */

/* An empty pair of brackets. m4 would otherwise interpret it as quotes. */
m4_define([ARRAY], [[[]]])

/* Types in memory.
 *     T_NAME  suffix of a function's name
 *     T_C     C type
 *     T_MPI   MPI type */
m4_define([type_row],
[m4_define([T_NAME], [$2])m4_define([T_C], [$3])m4_define([T_MPI], [$4])$1])

m4_define([foreach_number_type], [m4_dnl
type_row([$1], [schar],     [signed char],        [MPI_SIGNED_CHAR])m4_dnl
type_row([$1], [uchar],     [unsigned char],      [MPI_UNSIGNED_CHAR])m4_dnl
type_row([$1], [short],     [short],              [MPI_SHORT])m4_dnl
type_row([$1], [ushort],    [unsigned short],     [MPI_UNSIGNED_SHORT])m4_dnl
type_row([$1], [int],       [int],                [MPI_INT])m4_dnl
type_row([$1], [uint],      [unsigned int],       [MPI_UNSIGNED])m4_dnl
type_row([$1], [long],      [long],               [MPI_LONG])m4_dnl
type_row([$1], [float],     [float],              [MPI_FLOAT])m4_dnl
type_row([$1], [double],    [double],             [MPI_DOUBLE])m4_dnl
type_row([$1], [longlong],  [long long],          [MPI_LONG_LONG_INT])m4_dnl
type_row([$1], [ulonglong], [unsigned long long], [MPI_UNSIGNED_LONG_LONG])m4_dnl
])

m4_define([foreach_type], [m4_dnl
type_row([$1], [text],      [char],               [MPI_CHAR])m4_dnl
foreach_number_type([$1])])

/* Attribute functions have a second name for unsigned char. */
m4_define([foreach_number_att_type], [foreach_number_type([$1])m4_dnl
type_row([$1], [ubyte],     [unsigned char],      [MPI_UNSIGNED_CHAR])])

/* Forms of a function: flexible, for a buffer that an MPI datatype describes, and typed.
 *     F_SUFFIX         suffix of the name
 *     F_C              C type of the buffer
 *     F_DECL, F_PASS   bufcount and buftype: as parameters, as members of struct api_access
 *     F_MDECL, F_MPASS the same for many accesses */
m4_define([form_row], [m4_define([F_SUFFIX], [$2])m4_define([F_C], [$3])m4_dnl
m4_define([F_DECL], [$4])m4_define([F_PASS], [$5])m4_dnl
m4_define([F_MDECL], [$6])m4_define([F_MPASS], [$7])$1])

m4_define([foreach_form], [m4_dnl
form_row([$1], [], [void],
    [,
    MPI_Offset bufcount, MPI_Datatype buftype], [bufcount, buftype],
    [,
    const MPI_Offset *bufcounts, const MPI_Datatype M_TYPES],
    [bufcounts, datatypes, MPI_DATATYPE_NULL])m4_dnl
foreach_type([form_row([$1], [_]T_NAME, T_C,
    [], [NC_COUNT_IGNORE, ]T_MPI, [], [NULL, NULL, ]T_MPI)])])

/* Kinds of access.
 *     K_NAME           var, var1, ...
 *     K_FLAG           flag in api.h
 *     K_MANY           infix of the API function's name for many hyperslabs
 *     K_DECL, K_PASS   the hyperslab: as parameters, as members of struct api_access
 *     K_SLABS          many hyperslabs, as an argument of the API function
 *     K_MDECL, K_MPASS the same for many accesses */
m4_define([kind_row], [m4_define([K_NAME], [$2])m4_dnl
m4_define([K_FLAG], [$3])m4_define([K_MANY], [$4])m4_dnl
m4_define([K_DECL], [$5])m4_define([K_PASS], [$6])m4_dnl
m4_define([K_MDECL], [$7])m4_define([K_MPASS], [$8])m4_define([K_SLABS], [$9])$1])

m4_define([foreach_slab_kind], [m4_dnl
kind_row([$1], [var], [API_VAR], [],
    [ ], [NULL, NULL, NULL, NULL],
    [ ], [NULL, NULL, NULL, NULL])m4_dnl
kind_row([$1], [var1], [API_VAR1], [],
    [
    const MPI_Offset *start, ],
    [start, NULL, NULL, NULL],
    [
    MPI_Offset* const *starts, ],
    [starts, NULL, NULL, NULL])m4_dnl
kind_row([$1], [vara], [API_VARA], [],
    [
    const MPI_Offset *start, const MPI_Offset *count, ],
    [start, count, NULL, NULL],
    [
    MPI_Offset* const *starts, MPI_Offset* const *counts, ],
    [starts, counts, NULL, NULL])m4_dnl
kind_row([$1], [vars], [API_VARS], [],
    [
    const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride,
    ],
    [start, count, stride, NULL],
    [
    MPI_Offset* const *starts, MPI_Offset* const *counts, MPI_Offset* const *strides,
    ],
    [starts, counts, strides, NULL])m4_dnl
kind_row([$1], [varm], [API_VARM], [],
    [
    const MPI_Offset *start, const MPI_Offset *count, const MPI_Offset *stride,
    const MPI_Offset *imap, ],
    [start, count, stride, imap],
    [
    MPI_Offset* const *starts, MPI_Offset* const *counts, MPI_Offset* const *strides,
    MPI_Offset* const *imaps, ],
    [starts, counts, strides, imaps])])

m4_define([foreach_kind], [foreach_slab_kind([$1])m4_dnl
kind_row([$1], [varn], [API_VARA], [_many],
    [ int num,
    MPI_Offset* const *starts, MPI_Offset* const *counts, ],
    [NULL, NULL, NULL, NULL], [], [],
    [&(struct api_slabs){num, starts, counts, false}, ])])

/* Independent and collective access.
 *     C_SUFFIX  suffix of the name
 *     C_FLAG    flag in api.h */
m4_define([sharing_row], [m4_define([C_SUFFIX], [$2])m4_define([C_FLAG], [$3])$1])
m4_define([only_independent], [sharing_row([$1], [], [])])
m4_define([foreach_sharing], [only_independent([$1])sharing_row([$1], [_all], [ | API_COLL])])

/* Modes.
 *     M_NAME     put, get, ...
 *     M_KINDS    name of the loop over its kinds
 *     M_SHARING  name of the loop over independent and collective
 *     M_BUF      name of the buffer
 *     M_DECL     parameters after ncid
 *     M_CALL     call of the function in api.h
 *     M_TYPES    declaration of a list of types */
m4_define([mode_row], [m4_define([M_NAME], [$2])m4_dnl
m4_define([M_KINDS], [[$3]])m4_define([M_SHARING], [[$4]])m4_define([M_BUF], [$5])m4_dnl
m4_define([M_DECL], [$6])m4_define([M_CALL], [$7])m4_define([M_TYPES], [$8])$1])

m4_define([foreach_mode], [m4_dnl
mode_row([$1], [put], [foreach_kind], [foreach_sharing], [op],
    [int varid,K_DECL[]const F_C *BUF[]F_DECL],
    [api_access[]K_MANY[]_now_either(ncid, &(struct api_access){varid, K_PASS,
        BUF, F_PASS, K_FLAG[]C_FLAG, NULL}, K_SLABS[]true)])m4_dnl
mode_row([$1], [get], [foreach_kind], [foreach_sharing], [ip],
    [int varid,K_DECL[]F_C *BUF[]F_DECL],
    [api_access[]K_MANY[]_now_either(ncid, &(struct api_access){varid, K_PASS,
        BUF, F_PASS, K_FLAG[]C_FLAG, NULL}, K_SLABS[]false)])m4_dnl
mode_row([$1], [iput], [foreach_kind], [only_independent], [op],
    [int varid,K_DECL[]const F_C *BUF[]F_DECL, int *req],
    [api_access[]K_MANY[]_later(ncid, &(struct api_access){varid, K_PASS,
        BUF, F_PASS, K_FLAG, NULL}, K_SLABS[]true, req)])m4_dnl
mode_row([$1], [iget], [foreach_kind], [only_independent], [ip],
    [int varid,K_DECL[]F_C *BUF[]F_DECL, int *req],
    [api_access[]K_MANY[]_later(ncid, &(struct api_access){varid, K_PASS,
        BUF, F_PASS, K_FLAG, NULL}, K_SLABS[]false, req)])m4_dnl
mode_row([$1], [bput], [foreach_kind], [only_independent], [op],
    [int varid,K_DECL[]const F_C *BUF[]F_DECL, int *req],
    [api_access[]K_MANY[]_later(ncid, &(struct api_access){varid, K_PASS,
        BUF, F_PASS, K_FLAG | API_BUFFERED, NULL}, K_SLABS[]true, req)])m4_dnl
mode_row([$1], [mput], [foreach_slab_kind], [foreach_sharing], [buf],
    [int num, int *varids,K_MDECL[]F_C* const *BUF[]F_MDECL],
    [api_several_either(ncid, num, &(struct api_several){varids, K_MPASS,
        (void *const *)BUF, F_MPASS, K_FLAG[]C_FLAG}, true)],
    [datatypes[]ARRAY])m4_dnl
mode_row([$1], [mget], [foreach_slab_kind], [foreach_sharing], [bufs],
    [int num, int *varids,K_MDECL[]F_C *BUF[]ARRAY[]F_MDECL],
    [api_several_either(ncid, num, &(struct api_several){varids, K_MPASS,
        (void *const *)BUF, F_MPASS, K_FLAG[]C_FLAG}, false)],
    [*datatypes])])

/* Buffers that have different names in the published interface. */
m4_define([BUF_put_var1_long], [ip])
m4_define([BUF_put_var1_ulonglong], [ip])
m4_define([BUF_iput_var1_long], [ip])
m4_define([BUF_bput_var1_long], [ip])
m4_define([BUF_iget_varn], [op])
m4_define([BUF], [m4_ifdef([BUF_]M_NAME[_]K_NAME[]F_SUFFIX,
    [m4_indir([BUF_]M_NAME[_]K_NAME[]F_SUFFIX)], [M_BUF])])

/* Declares the function that the current table rows define. */
m4_define([HEAD],
    [int ncmpi_[]M_NAME[]_[]K_NAME[]F_SUFFIX[]C_SUFFIX[](int ncid, M_DECL)])

/* Loops over all functions for a mode and kind. */
m4_define([foreach_function], [m4_indir(M_SHARING, [foreach_form([$1])])])

m4_divert[]m4_dnl
