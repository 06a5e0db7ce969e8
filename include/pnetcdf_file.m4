/** @defgroup errors Library and errors
 * @{ */

/** Tells the version of this library. Local.
 * @return text such as "1.15.0 (ncmpi 1.0.0) of 28 Nov 2026"; not to be freed */
const char* ncmpi_inq_libvers(void);

/** Explains an error code. Local.
 * @param err code that a function returned; a positive one is taken for an errno
 * @return text for people, never NULL. What is known beyond the code itself about the
 * last error of this thread, a path or a name, is part of it. Not to be freed. */
const char* ncmpi_strerror(int err);

/** Names an error code. Local.
 * @param err code that a function returned
 * @return its constant, such as "NC_EBADID"; never NULL. Not to be freed. */
const char* ncmpi_strerrno(int err);

/** Tells how much memory the library holds. Local.
 * @param size bytes allocated now, by this process; 0 after the last close, though memory
 *        is still held for one that was deferred (hint nc_deferred_close)
 * @return #NC_NOERR, or #NC_ENOTENABLED where memory is not counted */
int ncmpi_inq_malloc_size(MPI_Offset *size);

/** Tells how much memory the library held at most. Local.
 * @param size highest number of bytes allocated at a time, by this process
 * @return #NC_NOERR, or #NC_ENOTENABLED where memory is not counted */
int ncmpi_inq_malloc_max_size(MPI_Offset *size);

/** Lists the memory that the library holds, for its developers. Local.
 * @return #NC_NOERR, or #NC_ENOTENABLED where allocations are not recorded */
int ncmpi_inq_malloc_list(void);

/** @} */

/** @defgroup files Files
 * Opening and closing, and the modes of a file.
 * @{ */

/** Creates a file and enters define mode. Collective.
 * @param comm processes that share the file; duplicated, so it may be freed at once
 * @param path name of the file. A leading kind of file system, as in "ufs:", is dropped
 *        before the name is used without MPI-IO.
 * @param cmode #NC_CLOBBER (0) or #NC_NOCLOBBER, combined with a format: #NC_64BIT_OFFSET
 *        (CDF-2), #NC_64BIT_DATA (CDF-5), #NC_NETCDF4 (HDF5, by netCDF-C, for several
 *        processes by a parallel one), or none for the default format; with #NC_NETCDF4
 *        also #NC_CLASSIC_MODEL: no types but those of CDF-2
 * @param info hints for MPI-IO and for this library, or MPI_INFO_NULL; duplicated
 * @param ncidp gets the id of the file
 * @return #NC_NOERR, #NC_EEXIST, #NC_ENOENT, #NC_EACCESS, #NC_EINVAL_CMODE,
 * #NC_ENOTBUILT (no netCDF-C that can do it, or ADIOS), #NC_EBAD_FILE, #NC_ENFILE, #NC_ENOMEM, or what else MPI-IO met;
 * #NC_EMULTIDEFINE_CMODE where process 0 gave another mode: the file is open, by that */
int ncmpi_create(MPI_Comm comm, const char *path, int cmode, MPI_Info info, int *ncidp);

/** Opens a file and enters collective data mode. Collective.
 * @param comm processes that share the file; duplicated, so it may be freed at once
 * @param path name of the file, as in ncmpi_create()
 * @param omode #NC_NOWRITE (0) or #NC_WRITE
 * @param info hints for MPI-IO and for this library, or MPI_INFO_NULL; duplicated
 * @param ncidp gets the id of the file
 * @return #NC_NOERR, #NC_ENOENT, #NC_EACCESS, #NC_ENOTNC (not a netCDF file, or a broken
 * header), #NC_ENOTBUILT (HDF5 without a netCDF-C that can do it, ADIOS),
 * #NC_EHDFERR (what else is wrong with an HDF5 file), #NC_EINVAL_OMODE, #NC_ENFILE,
 * #NC_ENOMEM, or what else MPI-IO met; #NC_EMULTIDEFINE_OMODE where process 0 gave
 * another mode: the file is open, by that */
int ncmpi_open(MPI_Comm comm, const char *path, int omode, MPI_Info info, int *ncidp);

/** Closes a file; in define mode, ncmpi_enddef() is done first. Collective.
 * @param ncid the file
 * @return #NC_NOERR; #NC_EPENDING where nonblocking requests were not waited for: the
 * file is closed all the same; #NC_EFILE where another program has moved the data
 * while values were put here; what ncmpi_enddef() returns; #NC_EWRITE */
int ncmpi_close(int ncid);

/** Closes a file and drops the changes of this define mode: a file just created is
 * removed, one in redefinition stays what it was before ncmpi_redef(). In data mode the
 * same as ncmpi_close(). Collective.
 * @param ncid the file
 * @return as ncmpi_close() */
int ncmpi_abort(int ncid);

/** Removes a file that nobody has open. Independent.
 * @param filename name of the file
 * @param info hints, or MPI_INFO_NULL
 * @return #NC_NOERR, #NC_ENOENT, #NC_EACCESS, or what else MPI-IO met */
int ncmpi_delete(const char *filename, MPI_Info info);

/** Goes from define mode to collective data mode: lays the variables out, moves data
 * that stood elsewhere, writes the header. Collective.
 * @param ncid the file
 * @return #NC_NOERR, #NC_ENOTINDEFINE, #NC_EVARSIZE, #NC_ENOMEM, #NC_EWRITE, #NC_EFILE
 * (another program has changed the header since the file was opened: nothing was
 * changed), or one of the codes from #NC_EMULTIDEFINE_FIRST on */
int ncmpi_enddef(int ncid);

/** As ncmpi_enddef(), with a say in the layout. The values hold for this call only. They
 * also hold after a redef in which nothing would have to move: a section then goes to
 * where a new file would have it, but never back. All are in bytes. 0 as an alignment is
 * the default: that of the hints, else 512 for v_align and 4 for r_align.
 * @param ncid the file
 * @param h_minfree room to leave behind the header, for what may be defined later
 * @param v_align alignment of the section of fixed-size variables
 * @param v_minfree room to leave behind the fixed-size variables
 * @param r_align alignment of the section of records
 * @return as ncmpi_enddef(); #NC_EINVAL where a value is negative */
int ncmpi__enddef(int ncid, MPI_Offset h_minfree, MPI_Offset v_align,
    MPI_Offset v_minfree, MPI_Offset r_align);

/** Goes from data mode to define mode. Collective.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EPERM */
int ncmpi_redef(int ncid);

/** Goes from collective to independent data mode. Collective. No effect in independent
 * mode.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EINDEFINE */
int ncmpi_begin_indep_data(int ncid);

/** Goes from independent to collective data mode, and agrees on the number of records.
 * Collective. No effect in collective mode.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EWRITE */
int ncmpi_end_indep_data(int ncid);

/** Brings all that was written to the storage, so that every process reads it, and
 * agrees on the number of records. Collective in collective data mode. In independent
 * data mode each process may call it, for its own data: its records count in the file
 * then, and those that others have synced before count for it.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EWRITE */
int ncmpi_sync(int ncid);

/** Agrees on the number of records, in memory and in the file. Collective, in either
 * data mode.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EINDEFINE, #NC_EWRITE */
int ncmpi_sync_numrecs(int ncid);

/** Drains what a driver has buffered, such as the log of the burst buffer, into the
 * file. Collective in collective data mode, independent in the other; in define mode
 * there is nothing to drain.
 * @param ncid the file
 * @return #NC_NOERR, #NC_EWRITE, #NC_ENO_SPACE */
int ncmpi_flush(int ncid);

/** Switches fill mode for all variables defined since define mode was entered, and for
 * later ones. Without this call it is #NC_NOFILL. Collective, in define mode.
 * @param ncid the file
 * @param fillmode #NC_FILL or #NC_NOFILL
 * @param old_modep gets the mode so far
 * @return #NC_NOERR, #NC_EPERM, #NC_ENOTINDEFINE, #NC_EINVAL */
int ncmpi_set_fill(int ncid, int fillmode, int *old_modep);

/** Sets the format of files created later by this process without a format of their own.
 * Local; call it alike on all.
 * @param format #NC_FORMAT_CLASSIC, #NC_FORMAT_CDF2 or #NC_FORMAT_CDF5
 * @param old_formatp gets the default so far
 * @return #NC_NOERR, #NC_EINVAL */
int ncmpi_set_default_format(int format, int *old_formatp);

/** Tells the format set by ncmpi_set_default_format(). Local.
 * @param formatp gets the format
 * @return #NC_NOERR, #NC_EINVAL */
int ncmpi_inq_default_format(int *formatp);

/** Tells the format of a file that need not be open. Independent.
 * @param filename name of the file
 * @param formatp gets #NC_FORMAT_CLASSIC, #NC_FORMAT_CDF2, #NC_FORMAT_CDF5,
 *        #NC_FORMAT_NETCDF4 (any HDF5 file), #NC_FORMAT_BP or #NC_FORMAT_UNKNOWN
 * @return #NC_NOERR, #NC_ENOENT, #NC_EACCESS, #NC_EREAD */
int ncmpi_inq_file_format(const char *filename, int *formatp);

/** @} */

/** @defgroup inquiry Inquiry about a file
 * All are local, and work in any mode.
 * @{ */

/** Counts what a file defines.
 * @param ncid the file
 * @param ndimsp gets the number of dimensions
 * @param nvarsp gets the number of variables
 * @param ngattsp gets the number of global attributes
 * @param unlimdimidp gets the id of the unlimited dimension, -1 without one
 * @return #NC_NOERR */
int ncmpi_inq(int ncid, int *ndimsp, int *nvarsp, int *ngattsp, int *unlimdimidp);

/** Counts dimensions.
 * @param ncid the file
 * @param ndimsp gets the number
 * @return #NC_NOERR */
int ncmpi_inq_ndims(int ncid, int *ndimsp);

/** Counts variables.
 * @param ncid the file
 * @param nvarsp gets the number
 * @return #NC_NOERR */
int ncmpi_inq_nvars(int ncid, int *nvarsp);

/** Counts record variables: those along the unlimited dimension.
 * @param ncid the file
 * @param nvarsp gets the number
 * @return #NC_NOERR */
int ncmpi_inq_num_rec_vars(int ncid, int *nvarsp);

/** Counts fixed-size variables.
 * @param ncid the file
 * @param nvarsp gets the number
 * @return #NC_NOERR */
int ncmpi_inq_num_fix_vars(int ncid, int *nvarsp);

/** Counts global attributes.
 * @param ncid the file
 * @param ngattsp gets the number
 * @return #NC_NOERR */
int ncmpi_inq_natts(int ncid, int *ngattsp);

/** Finds the unlimited dimension.
 * @param ncid the file
 * @param unlimdimidp gets its id, -1 without one
 * @return #NC_NOERR */
int ncmpi_inq_unlimdim(int ncid, int *unlimdimidp);

/** Tells the format.
 * @param ncid the file
 * @param formatp gets #NC_FORMAT_CLASSIC, #NC_FORMAT_CDF2 or #NC_FORMAT_CDF5
 * @return #NC_NOERR */
int ncmpi_inq_format(int ncid, int *formatp);

/** Tells the format as a flag of ncmpi_create().
 * @param ncid the file
 * @param NC_mode gets #NC_CLASSIC_MODEL (CDF-1), #NC_64BIT_OFFSET (CDF-2) or
 *        #NC_64BIT_DATA (CDF-5)
 * @return #NC_NOERR */
int ncmpi_inq_version(int ncid, int *NC_mode);

/** Tells the name under which the file was opened.
 * @param ncid the file
 * @param pathlen gets its length in bytes, without the NUL
 * @param path gets the name and a NUL
 * @return #NC_NOERR */
int ncmpi_inq_path(int ncid, int *pathlen, char *path);

/** Lists the files that this process has open.
 * @param num gets their number, at most #NC_MAX_NFILES
 * @param ncids gets their ids
 * @return #NC_NOERR, #NC_EINVAL where num is NULL */
int ncmpi_inq_files_opened(int *num, int *ncids);

/** Tells the hints in force, of MPI-IO and of this library.
 * @param ncid the file
 * @param info_used gets a new info object: free it with MPI_Info_free
 * @return #NC_NOERR, #NC_ENOMEM */
int ncmpi_inq_file_info(int ncid, MPI_Info *info_used);

/** Old name of ncmpi_inq_file_info().
 * @param ncid the file
 * @param info_used gets a new info object: free it with MPI_Info_free
 * @return #NC_NOERR, #NC_ENOMEM */
int ncmpi_get_file_info(int ncid, MPI_Info *info_used);

/** Tells how the file system spreads the file over its servers.
 * @param ncid the file
 * @param striping_size gets the bytes of one stripe, 0 where unknown
 * @param striping_count gets the number of servers, 0 where unknown
 * @return #NC_NOERR */
int ncmpi_inq_striping(int ncid, int *striping_size, int *striping_count);

/** Tells the size of the header as it stands, in define mode as it would be written.
 * @param ncid the file
 * @param size gets it, in bytes
 * @return #NC_NOERR */
int ncmpi_inq_header_size(int ncid, MPI_Offset *size);

/** Tells the room that the header has: up to where the first variable begins.
 * @param ncid the file
 * @param extent gets it, in bytes
 * @return #NC_NOERR */
int ncmpi_inq_header_extent(int ncid, MPI_Offset *extent);

/** Tells the size of one record of all record variables together.
 * @param ncid the file
 * @param recsize gets it, in bytes
 * @return #NC_NOERR */
int ncmpi_inq_recsize(int ncid, MPI_Offset *recsize);

/** Tells how much this process has put since the file was opened, whichever process wrote
 * it there; what it wrote of the header included.
 * @param ncid the file
 * @param size gets it, in bytes
 * @return #NC_NOERR */
int ncmpi_inq_put_size(int ncid, MPI_Offset *size);

/** Tells how much this process has got since the file was opened, whichever process read
 * it there; what it read of the header included.
 * @param ncid the file
 * @param size gets it, in bytes
 * @return #NC_NOERR */
int ncmpi_inq_get_size(int ncid, MPI_Offset *size);

/** @} */

/** @defgroup cdl Headers in CDL
 * Reading what a text file in CDL, as ncmpidump writes it, defines; no netCDF file is
 * made and no MPI is needed. All are local. Names, values and lists that these functions
 * hand out belong to the header and live until cdl_hdr_close(). Ids count from 0.
 * @{ */

/** Reads the definitions of a CDL file. What comes after `data:` is not looked at. Where
 * something is wrong, ncmpi_strerror() tells the line and the column.
 * @param filename name of the file
 * @param hid gets the id of the header
 * @return #NC_NOERR, #NC_ENOENT, #NC_EACCESS, #NC_EREAD, #NC_ENOTNC (not CDL),
 *   #NC_ENOTSUPPORT (groups, strings and the like), #NC_EBADTYPE, #NC_EBADDIM,
 *   #NC_ENOTVAR (no such type, dimension, variable), #NC_ERANGE, #NC_ECHAR (a value that
 *   does not fit its type), what the functions that define return, #NC_ENOMEM */
int cdl_hdr_open(const char *filename, int *hid);

/** Frees a header.
 * @param hid the header
 * @return #NC_NOERR, #NC_EBADID */
int cdl_hdr_close(int hid);

/** Tells the format that the file asks for by the global attribute `_Format`, which is
 * not one of those that are counted ("classic", "64-bit offset", "64-bit data" or
 * "cdf5"); else the first that has all the types and sizes, but not below N where a comment
 * says `// file format: CDF-N`.
 * @param hid the header
 * @param format gets #NC_FORMAT_CLASSIC, #NC_FORMAT_CDF2 or #NC_FORMAT_CDF5
 * @return #NC_NOERR, #NC_EBADID */
int cdl_hdr_inq_format(int hid, int *format);

/** Counts dimensions.
 * @param hid the header
 * @param ndims gets the number
 * @return #NC_NOERR, #NC_EBADID */
int cdl_hdr_inq_ndims(int hid, int *ndims);

/** Describes a dimension.
 * @param hid the header
 * @param dimid the dimension
 * @param name gets its name
 * @param size gets its length in elements, #NC_UNLIMITED for the unlimited one
 * @return #NC_NOERR, #NC_EBADID, #NC_EBADDIM */
int cdl_hdr_inq_dim(int hid, int dimid, char **name, MPI_Offset *size);

/** Counts variables.
 * @param hid the header
 * @param nvars gets the number
 * @return #NC_NOERR, #NC_EBADID */
int cdl_hdr_inq_nvars(int hid, int *nvars);

/** Describes a variable.
 * @param hid the header
 * @param varid the variable
 * @param name gets its name
 * @param xtype gets its external type
 * @param ndims gets the number of its dimensions
 * @param dimids gets the list of their ids, slowest first
 * @return #NC_NOERR, #NC_EBADID, #NC_ENOTVAR */
int cdl_hdr_inq_var(int hid, int varid, char **name, nc_type *xtype, int *ndims,
    int **dimids);

/** Counts attributes.
 * @param hid the header
 * @param varid the variable, or #NC_GLOBAL
 * @param nattrs gets the number
 * @return #NC_NOERR, #NC_EBADID, #NC_ENOTVAR */
int cdl_hdr_inq_nattrs(int hid, int varid, int *nattrs);

/** Describes an attribute.
 * @param hid the header
 * @param varid the variable, or #NC_GLOBAL
 * @param attrid the attribute
 * @param name gets its name
 * @param xtype gets its external type
 * @param nelems gets the number of its values
 * @param value gets its values, in the C type that corresponds to xtype
 * @return #NC_NOERR, #NC_EBADID, #NC_ENOTVAR, #NC_ENOTATT */
int cdl_hdr_inq_attr(int hid, int varid, int attrid, char **name, nc_type *xtype,
    MPI_Offset *nelems, void **value);

/** @} */
