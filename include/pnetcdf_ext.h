/** @file pnetcdf_ext.h
 * What this library has beyond the interface of PnetCDF. A program that is to be built
 * with another library, too, asks for PNETCDF_EXT, or leaves these calls out.
 */
#ifndef PNETCDF_EXT_H
#define PNETCDF_EXT_H

#include <pnetcdf.h>

/** Number of this interface: it grows when something is added. */
#define PNETCDF_EXT 2

/** @name Quantization, as in netCDF
 * The other modes, #NC_NOQUANTIZE, #NC_QUANTIZE_BITGROOM and #NC_QUANTIZE_GRANULARBR, and
 * the most digits are in pnetcdf.h.
 * @{ */
#define NC_QUANTIZE_BITROUND       3    /**< Bit Round */
#define NC_QUANTIZE_MAX_FLOAT_NSB  (23) /**< most bits of a float */
#define NC_QUANTIZE_MAX_DOUBLE_NSB (52) /**< most bits of a double */
/** attribute that notes Bit Round's bits */
#define NC_QUANTIZE_BITROUND_ATT_NAME "_QuantizeBitRoundNumberOfSignificantBits"
/** @} */

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/** @defgroup ext_flush Flushing while the program computes
 * @{ */

/** Says that the program goes off to compute: what this process has put, and waited for,
 * is brought from the log of the burst buffer to the file meanwhile, by threads, also
 * where the hint nc_burst_buf_flush would have that wait for the close. Returns at once;
 * where no thread may write (NFS and the like), the call does it itself. Without a burst
 * buffer, and in define mode, there is nothing to do. Independent, in either data mode:
 * no process waits for another. ncmpi_flush() is still what makes sure that all
 * processes' data are in the file, in order.
 * @param ncid the file
 * @return #NC_NOERR; #NC_ENOTSUPPORT with the hint romio_no_indep_rw, where no process
 * may write alone; where the call itself writes, #NC_EWRITE, #NC_ENO_SPACE ... */
int ncmpix_flush_start(int ncid);

/** Asks whether what the last ncmpix_flush_start() was about is in the file, as far as
 * this process alone is concerned. Does not wait. Independent, in either data mode.
 * @param ncid the file
 * @param done gets 1 if it is, or if there was nothing, else 0; as it was after an error
 * @return #NC_NOERR; what a thread met that could not write, #NC_EWRITE, #NC_ENO_SPACE
 * ...: nothing more goes to the file then until the next ncmpix_flush_start(),
 * ncmpi_flush() or ncmpi_close(), which try again; nothing is lost */
int ncmpix_flush_test(int ncid, int *done);

/** @} */

/** @defgroup ext_prefetch Staging before it is read
 * With the hint nc_stage, and a dataset that is opened for reading; otherwise these have
 * nothing to do.
 * @{ */

/** Says that a part of a variable will be read: it is staged near this process, in the
 * background. Where there can be no thread the call does it itself. That something cannot
 * be staged is no error: it is read from the file, and statistics tell. Independent, in
 * either data mode: no process waits for another.
 * @param ncid the file
 * @param varid the variable; #NC_GLOBAL: all of the file
 * @param start first element; NULL: all of the variable
 * @param count number of elements in each dimension
 * @return #NC_NOERR, #NC_EBADID, #NC_EINDEFINE, #NC_ENOTVAR, #NC_EINVALCOORDS, #NC_EEDGE,
 * #NC_ENULLCOUNT, #NC_ENEGATIVECNT, #NC_ENOMEM */
int ncmpix_prefetch(int ncid, int varid, const MPI_Offset *start,
                    const MPI_Offset *count);

/** The same, and waits until all parts that any process has named are staged where they
 * were named. Of what several processes of a node name each brings a share. Collective,
 * in collective data mode.
 * @param ncid the file
 * @param varid the variable, of each process's own; #NC_GLOBAL: all of the file
 * @param start first element; NULL: all of the variable
 * @param count number of elements in each dimension
 * @return as ncmpix_prefetch(); #NC_EINDEP; another process's error where this one has
 * none
 */
int ncmpix_prefetch_all(int ncid, int varid, const MPI_Offset *start,
                        const MPI_Offset *count);

/** Waits until what this process has named in ncmpix_prefetch(), or the hint
 * nc_stage_prefetch, is staged as far as it can be. Independent, in either data mode.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EBADID */
int ncmpix_prefetch_wait(int ncid);

/** @} */

/** @defgroup ext_quantize Quantization
 * @{ */

/** Says that the values of a variable are quantized when they are put, from the coming
 * ncmpi_enddef() on: digits that carry no information are dropped, so that the file
 * compresses better. The modes are those of nc_def_var_quantize(), and so are the
 * resulting values and the attribute, an NC_INT that ncmpi_enddef() adds to the variable.
 * A file that is opened again has its values quantized as the attribute says. The
 * caller's buffer is never changed; fill values, zeros, NaN and infinities are stored as
 * they are. Another call for the same variable replaces what was said, also by the hint
 * nc_quantize. Collective, in define mode.
 * @param ncid the file
 * @param varid the variable, of type NC_FLOAT or NC_DOUBLE, new in this define mode
 * @param mode #NC_QUANTIZE_BITGROOM, #NC_QUANTIZE_GRANULARBR, #NC_QUANTIZE_BITROUND; or
 * #NC_NOQUANTIZE, for a variable of any type
 * @param digits how many significant digits are kept: 1 to #NC_QUANTIZE_MAX_FLOAT_NSD or
 * #NC_QUANTIZE_MAX_DOUBLE_NSD decimal ones; for #NC_QUANTIZE_BITROUND 1 to
 * #NC_QUANTIZE_MAX_FLOAT_NSB or #NC_QUANTIZE_MAX_DOUBLE_NSB bits
 * @return #NC_NOERR, #NC_EBADID, #NC_ENOTINDEFINE, #NC_ENOTVAR, #NC_EGLOBAL;
 * #NC_ELATEDEF: the variable was there before; #NC_EINVAL: the mode, the type or the
 * digits; in safe mode #NC_EMULTIDEFINE_FNC_ARGS */
int ncmpix_def_var_quantize(int ncid, int varid, int mode, int digits);

/** Asks how the values of a variable are quantized. Independent, in any mode.
 * @param ncid the file
 * @param varid the variable
 * @param mode gets the mode, #NC_NOQUANTIZE if they are not; may be NULL
 * @param digits gets the digits or bits that are kept, 0 if they are not; may be NULL
 * @return #NC_NOERR, #NC_EBADID, #NC_ENOTVAR, #NC_EGLOBAL */
int ncmpix_inq_var_quantize(int ncid, int varid, int *mode, int *digits);

/** @} */

/** @defgroup ext_closing A close that returns
 * @{ */

/** Waits until a dataset is closed whose ncmpi_close() returned earlier (hints
 * nc_deferred_close, nc_blob_join): the file is complete then, for other programs, and
 * for processes that did not have it open, too. Collective over the processes that had it
 * open; all of them name the same file. Others need not call it, and return at once, as
 * does everybody where no such close is left. ncmpi_create() and ncmpi_open() wait by
 * themselves for a dataset that has such a hint, too, and for the same file; MPI_Finalize
 * for all.
 * @param path of the file, as it was given to create or open, or as it is now; NULL or
 * an empty string: of all such files
 * @return #NC_NOERR, also if there is no such file; what an ordinary ncmpi_close() would
 * have returned, #NC_EWRITE, #NC_ENO_SPACE ...: ncmpi_strerror() names the file; it is
 * told once, its values stay in the log, and the next open for writing tries again; or
 * in subfiles */
int ncmpix_wait_closed(const char *path);

/** @} */

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
