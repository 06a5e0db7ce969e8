m4_divert(-1)
/* DECLARE(mode, verb) prints the prototypes for a mode, with a comment for each kind that
 * begins with the verb. Comments are assembled with [/], because m4 would not expand
 * macros in ordinary ones. */
m4_define([WHAT_var], [the whole variable])
m4_define([WHAT_var1], [one element])
m4_define([WHAT_vara], [a block])
m4_define([WHAT_vars], [a block with gaps])
m4_define([WHAT_varm], [a block with gaps, mapped to memory by imap])
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
 * The name of a function indicates the operation, the part of the variable that is
 * accessed, the C type in memory, and whether the function is collective:
 *
 *     ncmpi_put_vara_float_all
 *           |   |    |     +-- _all: collective, in collective data mode;
 *           |   |    |         without: independent, in independent data mode
 *           |   |    +-- _text (char), _schar, _uchar, _short, _ushort, _int, _uint,
 *           |   |        _long, _float, _double, _longlong, _ulonglong: the C type;
 *           |   |        without: *flexible*, given by bufcount and buftype
 *           |   +-- var, var1, vara, vars, varm, varn: selected elements
 *           +-- put, get: immediately; iput, iget, bput: at the next wait;
 *               mput, mget: several variables in one call
 *
 * **Selected elements.** start, count, stride and imap have one entry for each dimension
 * of the variable, slowest first, in elements, not bytes. They are ignored for a scalar,
 * and may then be NULL.
 * - *var*: the whole variable; for a record variable, all existing records.
 * - *var1*: the element at start.
 * - *vara*: the block of count[0] x count[1] x ... elements that begins at start.
 * - *vars*: like vara, but only every stride[i]-th element; stride NULL means 1.
 * - *varm*: like vars; in memory, neighbours along dimension i are imap[i] elements
 *   apart; imap NULL means that the buffer is contiguous.
 * - *varn*: num blocks of one variable, which are adjacent in the buffer. starts[j] and
 *   counts[j] are like start and count of vara. If counts or counts[j] is NULL, the block
 *   has one element.
 *
 * A put may extend beyond the existing records: the number of records then grows. Any
 * other access outside the variable is an error.
 *
 * **The buffer.** In typed functions, it contains the elements contiguously. In flexible
 * functions, it contains bufcount items of buftype, any MPI datatype with a single basic
 * type. The datatype may be freed as soon as the call returns. If buftype is
 * MPI_DATATYPE_NULL, the buffer is contiguous, has the C type that corresponds to the
 * variable's external type, and bufcount is ignored. If bufcount is #NC_COUNT_IGNORE and
 * buftype is predefined, count determines the number of elements. A put does not modify
 * its buffer.
 *
 * **Conversion** is possible between any two numeric types. A value out of range causes
 * #NC_ERANGE, but all other values are transferred. In the file, the variable's fill
 * value replaces it. In the buffer of a get, the default fill value replaces it. Text
 * cannot be converted to numbers, nor numbers to text.
 *
 * **Errors**, in the order in which they are checked: #NC_EBADID, #NC_EPERM,
 * #NC_EINDEFINE, #NC_EINDEP or #NC_ENOTINDEP (the other data mode), #NC_ENOTVAR,
 * #NC_ECHAR, #NC_EINVALCOORDS (also if start is NULL), #NC_ENEGATIVECNT and #NC_EEDGE
 * (also if count is NULL), #NC_ESTRIDE, #NC_EINVAL, #NC_ERANGE; for flexible functions
 * also #NC_EMULTITYPES, #NC_EUNSPTETYPE, #NC_EIOMISMATCH; and when accessing the file
 * #NC_EREAD, #NC_EWRITE, #NC_ENO_SPACE, #NC_EQUOTA. In a collective call, a process with
 * an error still takes part, but accesses no elements. Its call returns the error, and
 * the calls of the other processes complete. */

/** @defgroup put Blocking writes: put
 * @ingroup data
 * Arguments as in @ref data :
 * - ncid: the file
 * - varid: the variable
 * - start, count, stride, imap, or num, starts, counts: selected elements
 * - op: the values to write
 * - bufcount, buftype: number and type of the items in op
 * @{ */
DECLARE([put], [Writes])m4_dnl

/** @name ncmpi_put_vard
 * @{ */
/** Writes the elements of the file that an MPI datatype selects.
 * @param ncid the file
 * @param varid the variable
 * @param filetype the elements to write, as displacements in bytes from the start of the
 *        variable; built from the MPI type that corresponds to the external type. They
 *        may include elements of other variables of that type, whose offsets
 *        ncmpi_inq_varoffset() returns. MPI_DATATYPE_NULL selects none.
 * @param ip the values to write
 * @param bufcount number of items of buftype in ip
 * @param buftype MPI type of the items
 * @return Errors of @ref data , and #NC_ETYPE_MISMATCH if filetype and variable have
 *        different types; #NC_EEDGE if filetype selects anything except variables of that
 *        type and records that exist or, in a put, can be added; #NC_EIOMISMATCH,
 *        #NC_EMULTITYPES, #NC_EFILEVIEW */
int ncmpi_put_vard(int ncid, int varid, MPI_Datatype filetype, const void *ip,
    MPI_Offset bufcount, MPI_Datatype buftype);
int ncmpi_put_vard_all(int ncid, int varid, MPI_Datatype filetype, const void *ip,
    MPI_Offset bufcount, MPI_Datatype buftype);
/** @} */

/** @} */

/** @defgroup get Blocking reads: get
 * @ingroup data
 * Arguments as in @ref data :
 * - ncid: the file
 * - varid: the variable
 * - start, count, stride, imap, or num, starts, counts: selected elements
 * - ip: receives the values
 * - bufcount, buftype: number and type of the items that fit in ip
 * @{ */
DECLARE([get], [Reads])m4_dnl

/** @name ncmpi_get_vard
 * @{ */
/** Reads the elements of the file that an MPI datatype selects.
 * @param ncid the file
 * @param varid the variable
 * @param filetype the elements to read, as in ncmpi_put_vard()
 * @param ip receives the values
 * @param bufcount number of items of buftype that fit in ip
 * @param buftype MPI type of the items
 * @return Same as ncmpi_put_vard() */
int ncmpi_get_vard(int ncid, int varid, MPI_Datatype filetype, void *ip,
    MPI_Offset bufcount, MPI_Datatype buftype);
int ncmpi_get_vard_all(int ncid, int varid, MPI_Datatype filetype, void *ip,
    MPI_Offset bufcount, MPI_Datatype buftype);
/** @} */

/** @} */

/** @defgroup nonblocking Nonblocking requests
 * iput, iget and bput post a request and return immediately. ncmpi_wait_all() or
 * ncmpi_wait() performs all requests together. Posting is independent, and allowed in
 * define mode and in either data mode. Requests may be waited for in any order, and may
 * overlap: if a process puts the same element twice, the put that was posted later takes
 * precedence. The order between processes is undefined.
 *
 * The number of records grows when the program waits for a put, not when it posts the
 * put. */

/** @defgroup iput Nonblocking writes: iput
 * @ingroup nonblocking
 * The program must not change op until the wait. There is one exception: the library
 * copies puts of at most 4 KiB immediately, as long as all such pending puts of the file
 * total at most 16 MiB and memory is available. A program that cannot rely on this uses
 * @ref bput .
 * Arguments as in @ref put , and
 * - req: receives the id of the request, #NC_REQ_NULL if the request has no elements; may
 *   be NULL if the program waits with #NC_REQ_ALL
 *
 * Errors as in @ref data , except those for data modes and file access; #NC_EMAX_REQ,
 * #NC_ENOMEM. With #NC_ERANGE the request is still posted: values out of range become the
 * fill value, as in @ref put , and the wait does not report the error again.
 * @{ */
DECLARE([iput], [Posts a write of])m4_dnl
/** @} */

/** @defgroup iget Nonblocking reads: iget
 * @ingroup nonblocking
 * The buffer contains the values after the wait, and must not be used earlier. Arguments
 * as in @ref get , and
 * - req: receives the id of the request, as in @ref iput
 *
 * Errors as in @ref iput , except that the wait reports #NC_ERANGE.
 * @{ */
DECLARE([iget], [Posts a read of])m4_dnl
/** @} */

/** @defgroup bput Buffered nonblocking writes: bput
 * @ingroup nonblocking
 * Like @ref iput , but copies the values to the buffer attached by ncmpi_buffer_attach(),
 * so that op may be reused immediately. With the burst buffer no attached buffer is
 * needed. Errors as in @ref iput , and #NC_ENULLABUF, #NC_EINSUFFBUF.
 * @{ */
DECLARE([bput], [Posts a write of a copy of])m4_dnl
/** @} */

/** @addtogroup nonblocking
 * @{ */

/** @name ncmpi_wait
 * @{ */
/** Performs posted requests and waits for them. ncmpi_wait_all() is collective, in
 * collective data mode. ncmpi_wait() is independent, in independent data mode. The
 * requests may have been posted in another mode.
 * @param ncid the file
 * @param count number of requests, which may be 0; or #NC_REQ_ALL, #NC_GET_REQ_ALL or
 *        #NC_PUT_REQ_ALL for all pending requests, gets or puts of this process: the
 *        lists are then ignored
 * @param array_of_requests ids of requests, in any order. The ids of existing requests
 *        are set to #NC_REQ_NULL. Ids that are #NC_REQ_NULL already are skipped.
 * @param array_of_statuses receives each request's error, or #NC_NOERR; may be NULL
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EINDEP, #NC_ENOTINDEP, #NC_EINVAL_REQUEST, or the
 *        first request's error if array_of_statuses is NULL; file access errors */
int ncmpi_wait(int ncid, int count, int array_of_requests[[]], int array_of_statuses[[]]);
int ncmpi_wait_all(int ncid, int count, int array_of_requests[[]],
    int array_of_statuses[[]]);
/** @} */

/** Cancels posted requests, in any mode. Independent.
 * @param ncid the file
 * @param num number of requests, or a constant as in ncmpi_wait()
 * @param reqs ids of requests; the ids of existing requests are set to #NC_REQ_NULL
 * @param statuses receives each request's error; may be NULL
 * @return #NC_NOERR, #NC_EINVAL_REQUEST */
int ncmpi_cancel(int ncid, int num, int *reqs, int *statuses);

/** Gets the number of requests that this process has pending. Local.
 * @param ncid the file
 * @param nreqs receives the number
 * @return #NC_NOERR */
int ncmpi_inq_nreqs(int ncid, int *nreqs);

/** Attaches a buffer for @ref bput , which the library allocates. Independent.
 * @param ncid the file
 * @param bufsize size in bytes: large enough, in external types, for all requests that
 *        are pending at the same time
 * @return #NC_NOERR, #NC_ENULLBUF (not positive), #NC_EPREVATTACHBUF, #NC_ENOMEM */
int ncmpi_buffer_attach(int ncid, MPI_Offset bufsize);

/** Frees the attached buffer. Independent.
 * @param ncid the file
 * @return #NC_NOERR, #NC_ENULLABUF, #NC_EPENDINGBPUT */
int ncmpi_buffer_detach(int ncid);

/** Gets the number of bytes of the attached buffer that are in use. Local.
 * @param ncid the file
 * @param usage receives the number of bytes
 * @return #NC_NOERR, #NC_ENULLABUF */
int ncmpi_inq_buffer_usage(int ncid, MPI_Offset *usage);

/** Gets the size of the attached buffer. Local.
 * @param ncid the file
 * @param buf_size receives the size in bytes
 * @return #NC_NOERR, #NC_ENULLABUF */
int ncmpi_inq_buffer_size(int ncid, MPI_Offset *buf_size);

/** @} */

/** @defgroup mput Writing several variables: mput
 * @ingroup data
 * Performs num calls of @ref put together. Each argument is a list with one entry for
 * each of the num variables. A variable may occur several times:
 * - varids: the variables
 * - starts, counts, strides, imaps: selected elements of each variable
 * - buf: values of each variable
 * - bufcounts, datatypes: number and type of the items in each buffer
 * @{ */
DECLARE([mput], [Writes, for each variable,])m4_dnl
/** @} */

/** @defgroup mget Reading several variables: mget
 * @ingroup data
 * Performs num calls of @ref get together. Arguments as in @ref mput ; bufs are the
 * buffers that receive the values.
 * @{ */
DECLARE([mget], [Reads, for each variable,])m4_dnl
/** @} */
