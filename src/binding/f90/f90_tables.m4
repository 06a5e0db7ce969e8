m4_changequote([,])m4_changecom([/*],[*/])m4_divert(-1)
/* The tables from which module pnetcdf is generated. Read with `m4 -P`. foreach_X([body])
 * expands the body once for each row, with the columns of that row defined as macros. */

/* Types of values.
 *     T_NAME  suffix of names, including those of nfmpi_
 *     T_TAG   number, see f90_values.h
 *     T_DECL  declaration
 *     T_LEN   length to pass
 *     T_NC    external type of attributes */
m4_define([type_row], [m4_define([T_NAME], [$2])m4_define([T_TAG], [$3])m4_dnl
m4_define([T_DECL], [$4])m4_define([T_LEN], [$5])m4_define([T_NC], [$6])$1])

m4_define([foreach_number_type], [m4_dnl
type_row([$1], [int1],   [1], [integer(kind=int1)],  [0], [nf_byte])m4_dnl
type_row([$1], [int2],   [2], [integer(kind=int2)],  [0], [nf_short])m4_dnl
type_row([$1], [int],    [3], [integer(kind=int4)],  [0], [nf_int])m4_dnl
type_row([$1], [int8],   [4], [integer(kind=int8)],  [0], [nf_int64])m4_dnl
type_row([$1], [real],   [5], [real(kind=real4)],    [0], [nf_float])m4_dnl
type_row([$1], [double], [6], [real(kind=real8)],    [0], [nf_double])])

m4_define([foreach_type], [m4_dnl
type_row([$1], [text],   [0], [character(len=*)], [len(values)], [nf_char])m4_dnl
foreach_number_type([$1])])

/* Operations on values.
 *     M_NAME    put, get ...
 *     M_TAG     number, see f90_access.h
 *     M_ALL     suffix of the name
 *     M_INTENT  intent of the values; a get does not change values that it does not read
 *     M_REQ     argument after the values
 *     M_PASS    this argument in a call; M_DECL: its declaration */
m4_define([mode_row], [m4_define([M_NAME], [$2])m4_define([M_TAG], [$3])m4_dnl
m4_define([M_ALL], [$4])m4_define([M_INTENT], [$5])m4_define([M_REQ], [$6])m4_define([M_PASS], [$7])m4_dnl
m4_define([M_DECL], [$8])$1])

m4_define([request_row], [mode_row([$1], [$2], [$3], [], [$4], [[req, ]], [[, req=req]], [
    integer, intent(out) :: req])])

m4_define([foreach_blocking_mode], [m4_dnl
mode_row([$1], [put], [0], [],     [intent(in)])m4_dnl
mode_row([$1], [get], [1], [],     [intent(inout)])m4_dnl
mode_row([$1], [put], [2], [_all], [intent(in)])m4_dnl
mode_row([$1], [get], [3], [_all], [intent(inout)])])

m4_define([foreach_mode], [foreach_blocking_mode([$1])m4_dnl
request_row([$1], [iput], [4], [intent(in), asynchronous])m4_dnl
request_row([$1], [iget], [5], [intent(inout), asynchronous])m4_dnl
request_row([$1], [bput], [6], [intent(in)])])

/* The names of a generic function and of its specific functions, for a form of access.
 *     GENERIC(form)   name of the generic for the current rows
 *     SPECIFIC(form)  name of the function for the current type */
m4_define([GENERIC], [nf90mpi_[]M_NAME[]_$1[]M_ALL[]])
m4_define([SPECIFIC], [f90_[]M_NAME[]_$1[]M_ALL[]_[]T_NAME[]])

/* The interface of a generic function: the specific functions in the given forms, for
 * every type. */
m4_define([INTERFACE], [m4_dnl
  interface GENERIC([$1])
foreach_type([FORM_LINES($@)])m4_dnl
  end interface
foreach_type([PRIVATE_LINES($@)])])
m4_define([FORM_LINES], [m4_ifelse([$1], [], [], [    module procedure SPECIFIC([$1])
FORM_LINES(m4_shift($@))])])
m4_define([PRIVATE_LINES], [m4_ifelse([$1], [], [], [  private :: SPECIFIC([$1])
PRIVATE_LINES(m4_shift($@))])])

m4_divert[]m4_dnl
