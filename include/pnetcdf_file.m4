/** @defgroup errors Library and errors
 * @{ */

/** Returns the version of this library. Local.
 * @return A text such as "1.15.0 (ncmpi 1.0.0) of 28 Nov 2026". Do not free it. */
const char* ncmpi_inq_libvers(void);

/** Returns the message for an error code. Local.
 * @param err code that a function returned; a positive code is treated as an errno
 * @return A message, never NULL. Do not free it. If err is the last error of this thread,
 * the message begins with details, such as a path or a name. */
const char* ncmpi_strerror(int err);

/** Returns the name of an error code. Local.
 * @param err code that a function returned
 * @return Name of the constant, such as "NC_EBADID". Never NULL. Do not free it. */
const char* ncmpi_strerrno(int err);

/** Gets the amount of memory that the library has allocated. Local.
 * @param size receives the number of bytes that this process currently has allocated. 0
 *        after the last close, even if memory is still in use for a deferred close (hint
 *        nc_deferred_close).
 * @return #NC_NOERR, or #NC_ENOTENABLED if memory is not counted */
int ncmpi_inq_malloc_size(MPI_Offset *size);

/** Gets the maximum amount of memory that the library has allocated so far. Local.
 * @param size receives the maximum number of bytes allocated at any time by this process
 * @return #NC_NOERR, or #NC_ENOTENABLED if memory is not counted */
int ncmpi_inq_malloc_max_size(MPI_Offset *size);

/** Lists the library's allocations, for its developers. Local.
 * @return #NC_NOERR, or #NC_ENOTENABLED if allocations are not recorded */
int ncmpi_inq_malloc_list(void);

/** @} */

/** @defgroup files Files
 * Opening and closing files, and their modes.
 * @{ */

/** Creates a file and enters define mode. Collective.
 * @param comm processes that share the file. Duplicated, so it may be freed immediately.
 * @param path name of the file. A file-system prefix such as "ufs:" is removed if the
 *        file is used without MPI-IO.
 * @param cmode #NC_CLOBBER (0) or #NC_NOCLOBBER, combined with a format: #NC_64BIT_OFFSET
 *        (CDF-2), #NC_64BIT_DATA (CDF-5), #NC_NETCDF4 (HDF5, through netCDF-C, which must
 *        be a parallel build for several processes), or none for the default format.
 *        #NC_CLASSIC_MODEL, with #NC_NETCDF4, allows only the types of CDF-2.
 * @param info hints for MPI-IO and for this library, or MPI_INFO_NULL. Duplicated.
 * @param ncidp receives the id of the file
 * @return #NC_NOERR, #NC_EEXIST, #NC_ENOENT, #NC_EACCESS, #NC_EINVAL_CMODE, #NC_ENOTBUILT
 * (no suitable netCDF-C, or ADIOS), #NC_EBAD_FILE, #NC_ENFILE, #NC_ENOMEM, or another
 * MPI-IO error; #NC_EMULTIDEFINE_CMODE if process 0 passed another mode, which then
 * applies to the open file */
int ncmpi_create(MPI_Comm comm, const char *path, int cmode, MPI_Info info, int *ncidp);

/** Opens a file and enters collective data mode. Collective.
 * @param comm processes that share the file. Duplicated, so it may be freed immediately.
 * @param path name of the file, as in ncmpi_create()
 * @param omode #NC_NOWRITE (0) or #NC_WRITE
 * @param info hints for MPI-IO and for this library, or MPI_INFO_NULL. Duplicated.
 * @param ncidp receives the id of the file
 * @return #NC_NOERR, #NC_ENOENT, #NC_EACCESS, #NC_ENOTNC (not a netCDF file, or a damaged
 * header), #NC_ENOTBUILT (HDF5 without a suitable netCDF-C, ADIOS), #NC_EHDFERR (another
 * error in an HDF5 file), #NC_EINVAL_OMODE, #NC_ENFILE, #NC_ENOMEM, or another MPI-IO
 * error; #NC_EMULTIDEFINE_OMODE if process 0 passed another mode, which then applies to
 * the open file */
int ncmpi_open(MPI_Comm comm, const char *path, int omode, MPI_Info info, int *ncidp);

/** Closes a file. In define mode, calls ncmpi_enddef() first. Collective.
 * @param ncid the file
 * @return #NC_NOERR; #NC_EPENDING if nonblocking requests were not waited for (the file
 * is closed nevertheless); #NC_EFILE if another program moved the data while values
 * were put; errors of ncmpi_enddef(); #NC_EWRITE */
int ncmpi_close(int ncid);

/** Closes a file and discards the changes made in define mode. A newly created file is
 * removed. During a redefinition, the file remains as it was before ncmpi_redef(). In
 * data mode, the same as ncmpi_close(). Collective.
 * @param ncid the file
 * @return Same as ncmpi_close() */
int ncmpi_abort(int ncid);

/** Removes a file that is not open. Independent.
 * @param filename name of the file
 * @param info hints, or MPI_INFO_NULL
 * @return #NC_NOERR, #NC_ENOENT, #NC_EACCESS, or another MPI-IO error */
int ncmpi_delete(const char *filename, MPI_Info info);

/** Switches from define mode to collective data mode: assigns offsets to variables, moves
 * data to new offsets, and writes the header. Collective.
 * @param ncid the file
 * @return #NC_NOERR, #NC_ENOTINDEFINE, #NC_EVARSIZE, #NC_ENOMEM, #NC_EWRITE, #NC_EFILE
 * (another program has changed the header since the file was opened; this call has
 * changed nothing), or one of the codes #NC_EMULTIDEFINE_FIRST to #NC_EMULTIDEFINE_LAST
 *  */
int ncmpi_enddef(int ncid);

/** Like ncmpi_enddef(), but with free space and alignments in bytes, which apply only to
 * this call. After a redef they apply even if nothing would otherwise move: a section
 * then moves to the offset that it would have in a new file, but never towards the
 * beginning. If an alignment is 0, the corresponding hint applies, or the default, which
 * is 512 for v_align and 4 for r_align.
 * @param ncid the file
 * @param h_minfree free space after the header, for later definitions
 * @param v_align alignment of the fixed-size section
 * @param v_minfree free space after the fixed-size variables
 * @param r_align alignment of the record section
 * @return Same as ncmpi_enddef(); #NC_EINVAL if a value is negative */
int ncmpi__enddef(int ncid, MPI_Offset h_minfree, MPI_Offset v_align,
    MPI_Offset v_minfree, MPI_Offset r_align);

/** Switches from data mode to define mode. Collective.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EPERM */
int ncmpi_redef(int ncid);

/** Switches from collective to independent data mode. Collective. No effect in
 * independent mode.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EINDEFINE */
int ncmpi_begin_indep_data(int ncid);

/** Switches from independent to collective data mode, and makes the number of records the
 * same on all processes. Collective. No effect in collective mode.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EWRITE */
int ncmpi_end_indep_data(int ncid);

/** Flushes all written data to storage, so that every process can read them, and updates
 * the number of records. Collective in collective data mode. In independent data mode,
 * each process may call it for its own data: the file's record count then includes its
 * records, and the process learns of records that other processes have already synced.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EWRITE */
int ncmpi_sync(int ncid);

/** Makes the number of records the same on all processes and in the file. Collective, in
 * either data mode.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EWRITE */
int ncmpi_sync_numrecs(int ncid);

/** Drains data that a driver has buffered, such as the log of the burst buffer, to the
 * file. Collective in collective data mode, independent in independent data mode. Has no
 * effect in define mode.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EWRITE, #NC_ENO_SPACE */
int ncmpi_flush(int ncid);

/** Sets the fill mode of all variables defined since the file entered define mode, and of
 * later variables. The default is #NC_NOFILL. Collective, in define mode.
 * @param ncid the file
 * @param fillmode #NC_FILL or #NC_NOFILL
 * @param old_modep receives the previous mode
 * @return #NC_NOERR, #NC_EPERM, #NC_ENOTINDEFINE, #NC_EINVAL */
int ncmpi_set_fill(int ncid, int fillmode, int *old_modep);

/** Sets the default format for files that this process creates later without a format
 * flag. Local; call it on all processes with the same format.
 * @param format #NC_FORMAT_CLASSIC, #NC_FORMAT_CDF2, #NC_FORMAT_CDF5, #NC_FORMAT_NETCDF4
 *        or #NC_FORMAT_NETCDF4_CLASSIC
 * @param old_formatp receives the previous default
 * @return #NC_NOERR, #NC_EINVAL */
int ncmpi_set_default_format(int format, int *old_formatp);

/** Gets the format set by ncmpi_set_default_format(). Local.
 * @param formatp receives the format
 * @return #NC_NOERR, #NC_EINVAL */
int ncmpi_inq_default_format(int *formatp);

/** Gets the format of a file, which need not be open. Independent.
 * @param filename name of the file
 * @param formatp receives #NC_FORMAT_CLASSIC, #NC_FORMAT_CDF2, #NC_FORMAT_CDF5,
 *        #NC_FORMAT_NETCDF4 (any HDF5 file), #NC_FORMAT_BP or #NC_FORMAT_UNKNOWN
 * @return #NC_NOERR, #NC_ENOENT, #NC_EACCESS, #NC_EREAD */
int ncmpi_inq_file_format(const char *filename, int *formatp);

/** @} */

/** @defgroup inquiry Inquiry about a file
 * All functions are local, and can be called in any mode.
 * @{ */

/** Gets the numbers of dimensions, variables and global attributes.
 * @param ncid the file
 * @param ndimsp receives the number of dimensions
 * @param nvarsp receives the number of variables
 * @param ngattsp receives the number of global attributes
 * @param unlimdimidp receives the id of the unlimited dimension, -1 if there is none
 * @return #NC_NOERR */
int ncmpi_inq(int ncid, int *ndimsp, int *nvarsp, int *ngattsp, int *unlimdimidp);

/** Gets the number of dimensions.
 * @param ncid the file
 * @param ndimsp receives the number
 * @return #NC_NOERR */
int ncmpi_inq_ndims(int ncid, int *ndimsp);

/** Gets the number of variables.
 * @param ncid the file
 * @param nvarsp receives the number
 * @return #NC_NOERR */
int ncmpi_inq_nvars(int ncid, int *nvarsp);

/** Gets the number of record variables, whose first dimension is unlimited.
 * @param ncid the file
 * @param nvarsp receives the number
 * @return #NC_NOERR */
int ncmpi_inq_num_rec_vars(int ncid, int *nvarsp);

/** Gets the number of fixed-size variables.
 * @param ncid the file
 * @param nvarsp receives the number
 * @return #NC_NOERR */
int ncmpi_inq_num_fix_vars(int ncid, int *nvarsp);

/** Gets the number of global attributes.
 * @param ncid the file
 * @param ngattsp receives the number
 * @return #NC_NOERR */
int ncmpi_inq_natts(int ncid, int *ngattsp);

/** Finds the unlimited dimension.
 * @param ncid the file
 * @param unlimdimidp receives the id, -1 if there is none
 * @return #NC_NOERR */
int ncmpi_inq_unlimdim(int ncid, int *unlimdimidp);

/** Gets the format.
 * @param ncid the file
 * @param formatp receives #NC_FORMAT_CLASSIC, #NC_FORMAT_CDF2, #NC_FORMAT_CDF5,
 *        #NC_FORMAT_NETCDF4 or #NC_FORMAT_NETCDF4_CLASSIC
 * @return #NC_NOERR */
int ncmpi_inq_format(int ncid, int *formatp);

/** Gets the format as a flag for ncmpi_create().
 * @param ncid the file
 * @param NC_mode receives #NC_CLASSIC_MODEL (CDF-1), #NC_64BIT_OFFSET (CDF-2),
 *        #NC_64BIT_DATA (CDF-5), or #NC_NETCDF4, which is combined with #NC_CLASSIC_MODEL
 *        for the classic model
 * @return #NC_NOERR */
int ncmpi_inq_version(int ncid, int *NC_mode);

/** Gets the name that was passed when the file was opened.
 * @param ncid the file
 * @param pathlen receives the length of the name in bytes, without the NUL
 * @param path receives the name and a NUL
 * @return #NC_NOERR */
int ncmpi_inq_path(int ncid, int *pathlen, char *path);

/** Lists the files that this process has open.
 * @param num receives the number of files, at most #NC_MAX_NFILES
 * @param ncids receives the ids
 * @return #NC_NOERR, #NC_EINVAL if num is NULL */
int ncmpi_inq_files_opened(int *num, int *ncids);

/** Gets the hints in effect for MPI-IO and for this library.
 * @param ncid the file
 * @param info_used receives a new info object; free it with MPI_Info_free
 * @return #NC_NOERR, #NC_ENOMEM */
int ncmpi_inq_file_info(int ncid, MPI_Info *info_used);

/** Old name for ncmpi_inq_file_info().
 * @param ncid the file
 * @param info_used receives a new info object; free it with MPI_Info_free
 * @return #NC_NOERR, #NC_ENOMEM */
int ncmpi_get_file_info(int ncid, MPI_Info *info_used);

/** Gets the striping of the file across the file system's servers.
 * @param ncid the file
 * @param striping_size receives the size of a stripe in bytes, 0 if unknown
 * @param striping_count receives the number of servers, 0 if unknown
 * @return #NC_NOERR */
int ncmpi_inq_striping(int ncid, int *striping_size, int *striping_count);

/** Gets the size of the header. In define mode, this is the size of the header as defined
 * so far.
 * @param ncid the file
 * @param size receives the size in bytes
 * @return #NC_NOERR */
int ncmpi_inq_header_size(int ncid, MPI_Offset *size);

/** Gets the space available to the header, which extends to the first variable.
 * @param ncid the file
 * @param extent receives the space in bytes
 * @return #NC_NOERR */
int ncmpi_inq_header_extent(int ncid, MPI_Offset *extent);

/** Gets the total size of one record of all record variables.
 * @param ncid the file
 * @param recsize receives the size in bytes
 * @return #NC_NOERR */
int ncmpi_inq_recsize(int ncid, MPI_Offset *recsize);

/** Gets the number of bytes that this process has put since the file was opened, no
 * matter which process wrote them. Includes header bytes that this process wrote, and
 * data that it moved.
 * @param ncid the file
 * @param size receives the number of bytes
 * @return #NC_NOERR */
int ncmpi_inq_put_size(int ncid, MPI_Offset *size);

/** Gets the number of bytes that this process has got since the file was opened, no
 * matter which process read them. Includes header bytes that this process read, and data
 * that it moved.
 * @param ncid the file
 * @param size receives the number of bytes
 * @return #NC_NOERR */
int ncmpi_inq_get_size(int ncid, MPI_Offset *size);

/** @} */

/** @defgroup cdl Headers in CDL
 * Functions that read the definitions in a CDL text file, such as ncmpidump writes. They
 * create no netCDF file, and do not need MPI. All functions are local. Names, values and
 * lists that these functions return belong to the header and are valid until
 * cdl_hdr_close(). Ids start at 0.
 * @{ */

/** Reads the definitions in a CDL file and ignores everything after `data:`. After an
 * error, the message from ncmpi_strerror() includes the line and the column.
 * @param filename name of the file
 * @param hid receives the id of the header
 * @return #NC_NOERR, #NC_ENOENT, #NC_EACCESS, #NC_EREAD, #NC_ENOTNC (not CDL),
 *   #NC_ENOTSUPPORT (groups, strings and similar), #NC_EBADTYPE, #NC_EBADDIM, #NC_ENOTVAR
 *   (no such type, dimension, variable), #NC_ERANGE, #NC_ECHAR (a value that does not fit
 *   its type), errors from defining objects, #NC_ENOMEM */
int cdl_hdr_open(const char *filename, int *hid);

/** Frees a header.
 * @param hid the header
 * @return #NC_NOERR, #NC_EBADID */
int cdl_hdr_close(int hid);

/** Gets the format that the global attribute `_Format` specifies ("classic", "64-bit
 * offset", "64-bit data" or "cdf5"). This attribute does not count as an attribute of the
 * header. Without it, the format is the smallest one that supports all types and sizes,
 * but at least CDF-N if the text contains a comment `// file format: CDF-N`.
 * @param hid the header
 * @param format receives #NC_FORMAT_CLASSIC, #NC_FORMAT_CDF2 or #NC_FORMAT_CDF5
 * @return #NC_NOERR, #NC_EBADID */
int cdl_hdr_inq_format(int hid, int *format);

/** Gets the number of dimensions.
 * @param hid the header
 * @param ndims receives the number
 * @return #NC_NOERR, #NC_EBADID */
int cdl_hdr_inq_ndims(int hid, int *ndims);

/** Describes a dimension.
 * @param hid the header
 * @param dimid the dimension
 * @param name receives the name
 * @param size receives the length in elements; #NC_UNLIMITED for the unlimited dimension
 * @return #NC_NOERR, #NC_EBADID, #NC_EBADDIM */
int cdl_hdr_inq_dim(int hid, int dimid, char **name, MPI_Offset *size);

/** Gets the number of variables.
 * @param hid the header
 * @param nvars receives the number
 * @return #NC_NOERR, #NC_EBADID */
int cdl_hdr_inq_nvars(int hid, int *nvars);

/** Describes a variable.
 * @param hid the header
 * @param varid the variable
 * @param name receives the name
 * @param xtype receives the external type
 * @param ndims receives the number of dimensions
 * @param dimids receives a list of the dimension ids, slowest first
 * @return #NC_NOERR, #NC_EBADID, #NC_ENOTVAR */
int cdl_hdr_inq_var(int hid, int varid, char **name, nc_type *xtype, int *ndims,
    int **dimids);

/** Gets the number of attributes.
 * @param hid the header
 * @param varid the variable, or #NC_GLOBAL
 * @param nattrs receives the number
 * @return #NC_NOERR, #NC_EBADID, #NC_ENOTVAR */
int cdl_hdr_inq_nattrs(int hid, int varid, int *nattrs);

/** Describes an attribute.
 * @param hid the header
 * @param varid the variable, or #NC_GLOBAL
 * @param attrid the attribute
 * @param name receives the name
 * @param xtype receives the external type
 * @param nelems receives the number of values
 * @param value receives the values, in the C type that corresponds to xtype
 * @return #NC_NOERR, #NC_EBADID, #NC_ENOTVAR, #NC_ENOTATT */
int cdl_hdr_inq_attr(int hid, int varid, int attrid, char **name, nc_type *xtype,
    MPI_Offset *nelems, void **value);

/** @} */
