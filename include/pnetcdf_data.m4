m4_divert(-1)
/* DECLARE(mode, verb): the prototypes of a mode; a comment for each kind, which says
 * what the call does in words of the verb. Comments are assembled with [/] as m4 would
 * take them as they stand. */
m4_define([WHAT_var], [the whole variable])
m4_define([WHAT_var1], [one element])
m4_define([WHAT_vara], [a block])
m4_define([WHAT_vars], [a block with gaps])
m4_define([WHAT_varm], [a block with gaps, in memory as imap tells])
m4_define([WHAT_varn], [a list of blocks])
m4_define([DECLARE], [foreach_mode([m4_ifelse(M_NAME, [$1], [m4_indir(M_KINDS, [
[/]** @name ncmpi_[]M_NAME[]_[]K_NAME
 * @{ *[/]
[/]** $2 m4_indir([WHAT_]K_NAME); see @ref M_NAME. *[/]
foreach_function([HEAD;
])m4_dnl
[/]** @} *[/]
])])])])
m4_divert[]m4_dnl
/** @defgroup data Reading and writing
 * The functions for data carry in their names what they do, to which part of a variable,
 * from or to which C type, and whether collectively:
 *
 *     ncmpi_put_vara_float_all
 *           |   |    |     +-- _all: collective, in collective data mode;
 *           |   |    |         without: independent, in independent data mode
 *           |   |    +-- _text (char), _schar, _uchar, _short, _ushort, _int, _uint,
 *           |   |        _long, _float, _double, _longlong, _ulonglong: the C type;
 *           |   |        without: *flexible*, bufcount and buftype tell
 *           |   +-- var, var1, vara, vars, varm, varn: which elements
 *           +-- put, get: now; iput, iget, bput: at the next wait;
 *               mput, mget: several variables by one call
 *
 * **Which elements.** start, count, stride and imap have one entry for each dimension of
 * the variable, slowest first, and count elements, not bytes. For a scalar they are not
 * looked at and may be NULL.
 * - *var*: the whole variable; of a record variable the records that exist.
 * - *var1*: the element at start.
 * - *vara*: the block of count[0] x count[1] x ... elements that begins at start.
 * - *vars*: as vara, taking each stride[i]-th element; stride NULL means 1.
 * - *varm*: as vars; in memory, neighbours along dimension i are imap[i] elements apart;
 *   imap NULL means that the buffer is contiguous.
 * - *varn*: num blocks of one variable, one behind the other in the buffer. starts[j] and
 *   counts[j] are as start and count of vara; counts NULL, or counts[j] NULL, means one
 *   element.
 *
 * A put may reach beyond the records that exist: the file grows. Every other reach
 * outside of the variable is an error.
 *
 * **The buffer.** In the typed functions it holds the elements one behind the other. In
 * the flexible ones it holds bufcount items of buftype, any MPI datatype over one basic
 * type; it may be freed as soon as the call returns. buftype MPI_DATATYPE_NULL means that
 * the buffer is contiguous and of the C type that corresponds to the variable's external
 * type; bufcount is ignored then. bufcount #NC_COUNT_IGNORE with a predefined buftype
 * means as many as count tells. The buffer of a put is as before when the call returns.
 *
 * **Conversion** is done between any two types of numbers. A value that does not fit
 * gives #NC_ERANGE; all the others are transferred. In its place the file gets the
 * variable's fill value, the buffer of a get the default fill value. Text and numbers do
 * not mix.
 *
 * **Errors**, in the order in which they are looked for: #NC_EBADID, #NC_EPERM,
 * #NC_EINDEFINE, #NC_EINDEP or #NC_ENOTINDEP (the other data mode), #NC_ENOTVAR,
 * #NC_ECHAR, #NC_EINVALCOORDS (a start NULL, too), #NC_ENEGATIVECNT and #NC_EEDGE (a
 * count NULL, too), #NC_ESTRIDE, #NC_EINVAL, #NC_ERANGE; for flexible functions also
 * #NC_EMULTITYPES, #NC_EUNSPTETYPE, #NC_EIOMISMATCH; from the file #NC_EREAD, #NC_EWRITE,
 * #NC_ENO_SPACE, #NC_EQUOTA.
 * In a collective call a process with an error of its own takes part with no element, and
 * gets its error back; the others complete.
 */

/** @defgroup put Writing now: put
 * @ingroup data
 * Arguments as in @ref data :
 * - ncid: the file
 * - varid: the variable
 * - start, count, stride, imap, or num, starts, counts: which elements
 * - op: the values to write
 * - bufcount, buftype: how many items of which type op holds
 * @{ */
DECLARE([put], [Writes])m4_dnl

/** @name ncmpi_put_vard
 * @{ */
/** Writes what an MPI datatype describes in the file.
 * @param ncid the file
 * @param varid the variable
 * @param filetype the elements to write, as displacements in bytes from the variable's
 *        beginning; made of the MPI type that corresponds to the external type. They may
 *        be elements of other variables of that type, too, which ncmpi_inq_varoffset()
 *        tells the places of. MPI_DATATYPE_NULL for none.
 * @param ip the values to write
 * @param bufcount how many items of buftype ip holds
 * @param buftype their MPI type
 * @return errors of @ref data , and #NC_ETYPE_MISMATCH if filetype is of another type than
 * the variable; #NC_EEDGE if it reaches anything but variables of that type and records
 * that are there, or in a put can be; #NC_EIOMISMATCH, #NC_EMULTITYPES, #NC_EFILEVIEW */
int ncmpi_put_vard(int ncid, int varid, MPI_Datatype filetype, const void *ip,
    MPI_Offset bufcount, MPI_Datatype buftype);
int ncmpi_put_vard_all(int ncid, int varid, MPI_Datatype filetype, const void *ip,
    MPI_Offset bufcount, MPI_Datatype buftype);
/** @} */

/** @} */

/** @defgroup get Reading now: get
 * @ingroup data
 * Arguments as in @ref data :
 * - ncid: the file
 * - varid: the variable
 * - start, count, stride, imap, or num, starts, counts: which elements
 * - ip: gets the values
 * - bufcount, buftype: how many items of which type ip has room for
 * @{ */
DECLARE([get], [Reads])m4_dnl

/** @name ncmpi_get_vard
 * @{ */
/** Reads what an MPI datatype describes in the file.
 * @param ncid the file
 * @param varid the variable
 * @param filetype the elements to read, as in ncmpi_put_vard()
 * @param ip gets the values
 * @param bufcount how many items of buftype ip has room for
 * @param buftype their MPI type
 * @return as ncmpi_put_vard() */
int ncmpi_get_vard(int ncid, int varid, MPI_Datatype filetype, void *ip,
    MPI_Offset bufcount, MPI_Datatype buftype);
int ncmpi_get_vard_all(int ncid, int varid, MPI_Datatype filetype, void *ip,
    MPI_Offset bufcount, MPI_Datatype buftype);
/** @} */

/** @} */

/** @defgroup nonblocking Nonblocking requests
 * iput, iget and bput post a request and return at once; ncmpi_wait_all() or ncmpi_wait()
 * carry all requests out together. Posting is independent, and works in define mode and
 * in either data mode. Requests may be waited for in any order and, put together, may
 * overlap: of two puts of a process to one place the one posted later wins. Between
 * processes there is no such order.
 *
 * The number of records grows when a put is waited for, not when it is posted.
 */

/** @defgroup iput Posting writes: iput
 * @ingroup nonblocking
 * op must stay as it is until the wait, but where it has at most 4 KiB of values, and all
 * such puts of the file that are pending at most 16 MiB: these are copied at once, if there
 * is memory. A program that cannot be sure uses @ref bput . Arguments as in @ref put , and
 * - req: gets the id of the request, #NC_REQ_NULL where no element was asked for; NULL
 *   where the id is not wanted, for a later wait with #NC_REQ_ALL
 *
 * Errors as in @ref data , but for those of data modes and of the file; #NC_EMAX_REQ,
 * #NC_ENOMEM. With #NC_ERANGE the request is posted all the same: what does
 * not fit becomes the fill value, as in @ref put , and the wait does not tell it again.
 * @{ */
DECLARE([iput], [Posts writing])m4_dnl
/** @} */

/** @defgroup iget Posting reads: iget
 * @ingroup nonblocking
 * The buffer has the values after the wait, and must not be touched before. Arguments as
 * in @ref get , and
 * - req: gets the id of the request, as in @ref iput
 *
 * Errors as in @ref iput , but #NC_ERANGE is the wait's to tell.
 * @{ */
DECLARE([iget], [Posts reading])m4_dnl
/** @} */

/** @defgroup bput Posting writes of a copy: bput
 * @ingroup nonblocking
 * As @ref iput , but the values are copied to the buffer attached with
 * ncmpi_buffer_attach(): op may be used again at once. With the burst buffer no buffer
 * need be attached. Errors as in @ref iput , and #NC_ENULLABUF, #NC_EINSUFFBUF.
 * @{ */
DECLARE([bput], [Posts writing a copy of])m4_dnl
/** @} */

/** @addtogroup nonblocking
 * @{ */

/** @name ncmpi_wait
 * @{ */
/** Carries out posted requests. ncmpi_wait_all() is collective, in collective data mode;
 * ncmpi_wait() independent, in independent data mode. Also requests posted in another
 * mode can be waited for.
 * @param ncid the file
 * @param count the number of requests, possibly 0; or #NC_REQ_ALL, #NC_GET_REQ_ALL or
 *        #NC_PUT_REQ_ALL for all, or all of their kind, that this process has pending:
 *        the lists are not looked at then
 * @param array_of_requests ids of requests, in any order; each that is
 *        known is set to #NC_REQ_NULL. An id that is #NC_REQ_NULL already is skipped.
 * @param array_of_statuses gets for each request its own error or #NC_NOERR; may be NULL
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EINDEP, #NC_ENOTINDEP, #NC_EINVAL_REQUEST, or the
 * first error of a request where array_of_statuses is NULL; errors of the file */
int ncmpi_wait(int ncid, int count, int array_of_requests[[]], int array_of_statuses[[]]);
int ncmpi_wait_all(int ncid, int count, int array_of_requests[[]],
    int array_of_statuses[[]]);
/** @} */

/** Drops posted requests; in any mode. Independent.
 * @param ncid the file
 * @param num the number of requests, or one of the constants as in ncmpi_wait()
 * @param reqs ids of requests; each that is known is set to #NC_REQ_NULL
 * @param statuses gets an error for each request; may be NULL
 * @return #NC_NOERR, #NC_EINVAL_REQUEST */
int ncmpi_cancel(int ncid, int num, int *reqs, int *statuses);

/** Counts the requests that this process has pending. Local.
 * @param ncid the file
 * @param nreqs gets the number
 * @return #NC_NOERR */
int ncmpi_inq_nreqs(int ncid, int *nreqs);

/** Attaches a buffer for @ref bput . The library allocates it. Independent.
 * @param ncid the file
 * @param bufsize its size in bytes: what all requests that are pending at a time take, in
 *        the external types
 * @return #NC_NOERR, #NC_ENULLBUF (not above 0), #NC_EPREVATTACHBUF, #NC_ENOMEM */
int ncmpi_buffer_attach(int ncid, MPI_Offset bufsize);

/** Frees the attached buffer. Independent.
 * @param ncid the file
 * @return #NC_NOERR, #NC_ENULLABUF, #NC_EPENDINGBPUT */
int ncmpi_buffer_detach(int ncid);

/** Tells how much of the attached buffer is taken. Local.
 * @param ncid the file
 * @param usage gets it, in bytes
 * @return #NC_NOERR, #NC_ENULLABUF */
int ncmpi_inq_buffer_usage(int ncid, MPI_Offset *usage);

/** Tells the size of the attached buffer. Local.
 * @param ncid the file
 * @param buf_size gets it, in bytes
 * @return #NC_NOERR, #NC_ENULLABUF */
int ncmpi_inq_buffer_size(int ncid, MPI_Offset *buf_size);

/** @} */

/** @defgroup mput Writing several variables: mput
 * @ingroup data
 * As num calls of @ref put , carried out together. Arguments as there, each a list with
 * one entry for each of the num variables, and the same variable may occur again:
 * - varids: the variables
 * - starts, counts, strides, imaps: which elements of each
 * - buf: the values of each
 * - bufcounts, datatypes: how many items of which type each buffer holds
 * @{ */
DECLARE([mput], [Writes, of each variable,])m4_dnl
/** @} */

/** @defgroup mget Reading several variables: mget
 * @ingroup data
 * As num calls of @ref get , carried out together; arguments as in @ref mput , with bufs
 * the buffers that get the values.
 * @{ */
DECLARE([mget], [Reads, of each variable,])m4_dnl
/** @} */
