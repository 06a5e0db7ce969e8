m4_include(`tables.m4')m4_dnl
m4_divert(-1)
/* Tables for the C++ interface. src/tables/tables.m4 contains types in memory, and kinds
 * and modes of access. */

/* Exceptions and their codes.
 *     X_NAME  class
 *     X_CODE  code */
m4_define([exception_row], [m4_define([X_NAME], [$2])m4_define([X_CODE], [$3])$1])
m4_define([foreach_exception], [m4_dnl
exception_row([$1], [NcBadId],          [NC_EBADID])m4_dnl
exception_row([$1], [NcNFile],          [NC_ENFILE])m4_dnl
exception_row([$1], [NcExist],          [NC_EEXIST])m4_dnl
exception_row([$1], [NcInvalidArg],     [NC_EINVAL])m4_dnl
exception_row([$1], [NcInvalidWrite],   [NC_EPERM])m4_dnl
exception_row([$1], [NcNotInDefineMode], [NC_ENOTINDEFINE])m4_dnl
exception_row([$1], [NcInDefineMode],   [NC_EINDEFINE])m4_dnl
exception_row([$1], [NcInvalidCoords],  [NC_EINVALCOORDS])m4_dnl
exception_row([$1], [NcMaxDims],        [NC_EMAXDIMS])m4_dnl
exception_row([$1], [NcNameInUse],      [NC_ENAMEINUSE])m4_dnl
exception_row([$1], [NcNotAtt],         [NC_ENOTATT])m4_dnl
exception_row([$1], [NcMaxAtts],        [NC_EMAXATTS])m4_dnl
exception_row([$1], [NcBadType],        [NC_EBADTYPE])m4_dnl
exception_row([$1], [NcBadDim],         [NC_EBADDIM])m4_dnl
exception_row([$1], [NcUnlimPos],       [NC_EUNLIMPOS])m4_dnl
exception_row([$1], [NcMaxVars],        [NC_EMAXVARS])m4_dnl
exception_row([$1], [NcNotVar],         [NC_ENOTVAR])m4_dnl
exception_row([$1], [NcGlobal],         [NC_EGLOBAL])m4_dnl
exception_row([$1], [NcNotNCF],         [NC_ENOTNC])m4_dnl
exception_row([$1], [NcSts],            [NC_ESTS])m4_dnl
exception_row([$1], [NcMaxName],        [NC_EMAXNAME])m4_dnl
exception_row([$1], [NcUnlimit],        [NC_EUNLIMIT])m4_dnl
exception_row([$1], [NcNoRecVars],      [NC_ENORECVARS])m4_dnl
exception_row([$1], [NcmpiChar],        [NC_ECHAR])m4_dnl
exception_row([$1], [NcEdge],           [NC_EEDGE])m4_dnl
exception_row([$1], [NcStride],         [NC_ESTRIDE])m4_dnl
exception_row([$1], [NcBadName],        [NC_EBADNAME])m4_dnl
exception_row([$1], [NcRange],          [NC_ERANGE])m4_dnl
exception_row([$1], [NcNoMem],          [NC_ENOMEM])m4_dnl
exception_row([$1], [NcmpiVarSize],     [NC_EVARSIZE])m4_dnl
exception_row([$1], [NcmpiDimSize],     [NC_EDIMSIZE])m4_dnl
exception_row([$1], [NcTrunc],          [NC_ETRUNC])m4_dnl
exception_row([$1], [NcHdfErr],         [NC_EHDFERR])m4_dnl
exception_row([$1], [NcCantRead],       [NC_ECANTREAD])m4_dnl
exception_row([$1], [NcCantWrite],      [NC_ECANTWRITE])m4_dnl
exception_row([$1], [NcCantCreate],     [NC_ECANTCREATE])m4_dnl
exception_row([$1], [NcmpiFileMeta],    [NC_EFILEMETA])m4_dnl
exception_row([$1], [NcmpiDimMeta],     [NC_EDIMMETA])m4_dnl
exception_row([$1], [NcmpiAttMeta],     [NC_EATTMETA])m4_dnl
exception_row([$1], [NcmpiVarMeta],     [NC_EVARMETA])m4_dnl
exception_row([$1], [NcNoCompound],     [NC_ENOCOMPOUND])m4_dnl
exception_row([$1], [NcmpiAttExists],   [NC_EATTEXISTS])m4_dnl
exception_row([$1], [NcNotNc4],         [NC_ENOTNC4])m4_dnl
exception_row([$1], [NcStrictNc3],      [NC_ESTRICTNC3])m4_dnl
exception_row([$1], [NcBadGroupId],     [NC_EBADGRPID])m4_dnl
exception_row([$1], [NcBadTypeId],      [NC_EBADTYPID])m4_dnl
exception_row([$1], [NcBadFieldId],     [NC_EBADFIELD])m4_dnl
exception_row([$1], [NcElateDef],       [NC_ELATEDEF])m4_dnl
exception_row([$1], [NcEnoGrp],         [NC_ENOGRP])])

/* Exceptions for null objects, which exist only in this interface. */
m4_define([foreach_null_exception], [m4_dnl
exception_row([$1], [NcNullGrp],        [NC_EBADGRPID])m4_dnl
exception_row([$1], [NcNullType],       [NC_EBADTYPE])m4_dnl
exception_row([$1], [NcNullDim],        [NC_EBADDIM])m4_dnl
exception_row([$1], [NcUnknownName],    [NC_EBADNAME])])

/* External types.
 *     A_NAME   suffix of class and object
 *     A_CODE   suffix of constants
 *     A_WORD   name of the type
 *     A_SIZE   size of a value in bytes */
m4_define([external_row], [m4_define([A_NAME], [$2])m4_define([A_CODE], [$3])m4_dnl
m4_define([A_WORD], [$4])m4_define([A_SIZE], [$5])$1])
m4_define([foreach_external], [m4_dnl
external_row([$1], [Byte],   [BYTE],   [byte],   [1])m4_dnl
external_row([$1], [Char],   [CHAR],   [char],   [1])m4_dnl
external_row([$1], [Short],  [SHORT],  [short],  [2])m4_dnl
external_row([$1], [Int],    [INT],    [int],    [4])m4_dnl
external_row([$1], [Float],  [FLOAT],  [float],  [4])m4_dnl
external_row([$1], [Double], [DOUBLE], [double], [8])m4_dnl
external_row([$1], [Ubyte],  [UBYTE],  [ubyte],  [1])m4_dnl
external_row([$1], [Ushort], [USHORT], [ushort], [2])m4_dnl
external_row([$1], [Uint],   [UINT],   [uint],   [4])m4_dnl
external_row([$1], [Int64],  [INT64],  [int64],  [8])m4_dnl
external_row([$1], [Uint64], [UINT64], [uint64], [8])])

/* Types for single-value attributes, except for the byte types, which look like text. */
m4_define([foreach_single_type], [foreach_number_type([m4_dnl
m4_ifelse(T_NAME, [schar], [], T_NAME, [uchar], [], [$1])])])

/* Access to variables. V_DECL: declarations of the list parameters of a kind. V_LISTS:
 * these lists as arguments of Lists. V_PASS: these lists as arguments of the C
 * function. */
m4_define([V_VECTOR], [const std::vector<MPI_Offset> &])
m4_define([V_DECL], [m4_indir([V_DECL_]K_NAME)])
m4_define([V_DECL_var], [])
m4_define([V_DECL_var1], [V_VECTOR[]index,
    ])
m4_define([V_DECL_vara], [V_VECTOR[]startp,
    V_VECTOR[]countp,
    ])
m4_define([V_DECL_vars], [V_DECL_vara[]V_VECTOR[]stridep,
    ])
m4_define([V_DECL_varm], [V_DECL_vars[]V_VECTOR[]imapp,
    ])
m4_define([V_DECL_varn], [const int num, MPI_Offset *const *starts,
    MPI_Offset *const *counts, ])
m4_define([V_LISTS], [m4_indir([V_LISTS_]K_NAME)])
m4_define([V_LISTS_var1], [&index])
m4_define([V_LISTS_vara], [&startp, &countp])
m4_define([V_LISTS_vars], [&startp, &countp, &stridep])
m4_define([V_LISTS_varm], [&startp, &countp, &stridep, &imapp])
m4_define([V_PASS], [m4_indir([V_PASS_]K_NAME)])
m4_define([V_PASS_var], [])
m4_define([V_PASS_var1], [at.start(), ])
m4_define([V_PASS_vara], [at.start(), at.count(), ])
m4_define([V_PASS_vars], [V_PASS_vara[]at.stride(), ])
m4_define([V_PASS_varm], [V_PASS_vars[]at.imap(), ])
m4_define([V_PASS_varn], [num, starts, counts, ])

/* Values. V_CONST: "const" if the mode puts values. V_SINGLE: whether the argument is a
 * single value instead of a pointer. */
m4_define([V_CONST], [m4_ifelse(m4_index(M_NAME, [put]), [-1], [], [const ])])
m4_define([V_SINGLE], [m4_ifelse(K_NAME[]V_CONST, [var1const ],
    [m4_ifelse(F_C, [void], [no], F_C, [signed char], [no], F_C, [unsigned char], [no],
        F_C, [char], [text], [yes])], [no])])
m4_define([V_VALUE], [m4_ifelse(V_SINGLE, [text], [const std::string &dataumValue],
    V_SINGLE, [yes], [const F_C dataumValue],
    [V_CONST[]F_C *m4_ifelse(K_NAME, [var1], [dataumValue], [dataValues])])])
m4_define([V_VALUE_PASS], [m4_ifelse(V_SINGLE, [text], [dataumValue.c_str()],
    V_SINGLE, [yes], [&dataumValue], K_NAME, [var1], [dataumValue], [dataValues])])
m4_define([V_FLEX], [m4_ifelse(F_C, [void], [, MPI_Offset bufcount, MPI_Datatype buftype])])
m4_define([V_FLEX_PASS], [m4_ifelse(F_C, [void], [, bufcount, buftype])])
m4_define([V_LATER], [m4_ifelse(M_SHARING, [foreach_sharing], [no], [yes])])
m4_define([V_REQ], [m4_ifelse(V_LATER, [yes], [, int *req])])
m4_define([V_REQ_PASS], [m4_ifelse(V_LATER, [yes], [, req])])
m4_define([V_NAME], [M_NAME[]Var[]m4_ifelse(K_NAME, [varn], [n])[]C_SUFFIX])
m4_define([V_ARGS], [(V_DECL[]V_VALUE[]V_FLEX[]V_REQ) const])

/* The modes that the C++ interface supports. */
m4_define([foreach_cxx_mode],
    [foreach_mode([m4_ifelse(m4_index(M_NAME, [m]), [0], [], [$1])])])
m4_divert[]m4_dnl
