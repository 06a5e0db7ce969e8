/* Public constants. The build inserts this file into pnetcdf.h. Modules that must not use
 * MPI include it directly. */
#ifndef PNETCDF_CONSTANTS_H
#define PNETCDF_CONSTANTS_H /**< guards the constants below */

#include <stddef.h>

/* Names that netcdf.h also defines. Each definition is identical to netcdf.h's,
 * including spaces, so both headers can be included in either order. If netcdf.h comes
 * first, its definitions are used. */
#ifndef _NETCDF_
/* clang-format off */

/** @name External types
 * Types of values in the file. NC_UBYTE to NC_UINT64 need CDF-5. Types with
 * higher numbers belong to netCDF-4 and are not used.
 * @{ */
#define NC_NAT             0         /**< not a type */
#define NC_BYTE            1         /**< signed, 1 byte */
#define NC_CHAR            2         /**< text, 1 byte */
#define NC_SHORT           3         /**< signed, 2 bytes */
#define NC_INT             4         /**< signed, 4 bytes */
#define NC_LONG            NC_INT    /**< old name for NC_INT */
#define NC_FLOAT           5         /**< IEEE 754, 4 bytes */
#define NC_DOUBLE          6         /**< IEEE 754, 8 bytes */
#define NC_UBYTE           7         /**< unsigned, 1 byte */
#define NC_USHORT          8         /**< unsigned, 2 bytes */
#define NC_UINT            9         /**< unsigned, 4 bytes */
#define NC_INT64           10        /**< signed, 8 bytes */
#define NC_UINT64          11        /**< unsigned, 8 bytes */
#define NC_STRING          12        /**< netCDF-4: string */
#define NC_MAX_ATOMIC_TYPE NC_STRING /**< the highest atomic type */
#define NC_VLEN            13        /**< netCDF-4: variable-length arrays */
#define NC_OPAQUE          14        /**< netCDF-4: uninterpreted bytes */
#define NC_ENUM            15        /**< netCDF-4: enumeration */
#define NC_COMPOUND        16        /**< netCDF-4: structure */
#define NC_FIRSTUSERTYPEID 32        /**< netCDF-4: first id of a user-defined type */
/** @} */

/** @name Default fill values
 * In fill mode, elements that are never written have these values.
 * @{ */
#define NC_FILL_BYTE   ((signed char)-127)                           /**< for NC_BYTE */
#define NC_FILL_CHAR   ((char)0)                                     /**< for NC_CHAR */
#define NC_FILL_SHORT  ((short)-32767)                               /**< for NC_SHORT */
#define NC_FILL_INT    (-2147483647)                                 /**< for NC_INT */
#define NC_FILL_FLOAT  (9.9692099683868690e+36f)                     /**< for NC_FLOAT */
#define NC_FILL_DOUBLE (9.9692099683868690e+36)                      /**< for NC_DOUBLE */
#define NC_FILL_UBYTE  (255)                                         /**< for NC_UBYTE */
#define NC_FILL_USHORT (65535)                                       /**< for NC_USHORT */
#define NC_FILL_UINT   (4294967295U)                                 /**< for NC_UINT */
#define NC_FILL_INT64  ((long long)-9223372036854775806LL)           /**< for NC_INT64 */
/** for NC_UINT64 */
#define NC_FILL_UINT64 ((unsigned long long)18446744073709551614ULL)
#define NC_FILL_STRING ((char *)"") /**< for NC_STRING */
/** @} */

/** @name Ranges of the external types
 * @{ */
#define NC_MAX_BYTE   127                          /**< maximum of NC_BYTE */
#define NC_MIN_BYTE   (-NC_MAX_BYTE-1)             /**< minimum of NC_BYTE */
#define NC_MAX_CHAR   255                          /**< maximum of NC_CHAR */
#define NC_MAX_SHORT  32767                        /**< maximum of NC_SHORT */
#define NC_MIN_SHORT  (-NC_MAX_SHORT - 1)          /**< minimum of NC_SHORT */
#define NC_MAX_INT    2147483647                   /**< maximum of NC_INT */
#define NC_MIN_INT    (-NC_MAX_INT - 1)            /**< minimum of NC_INT */
#define NC_MAX_FLOAT  3.402823466e+38f             /**< maximum of NC_FLOAT */
#define NC_MIN_FLOAT  (-NC_MAX_FLOAT)              /**< minimum of NC_FLOAT */
#define NC_MAX_DOUBLE 1.7976931348623157e+308      /**< maximum of NC_DOUBLE */
#define NC_MIN_DOUBLE (-NC_MAX_DOUBLE)             /**< minimum of NC_DOUBLE */
#define NC_MAX_UBYTE  NC_MAX_CHAR                  /**< maximum of NC_UBYTE */
#define NC_MAX_USHORT 65535U                       /**< maximum of NC_USHORT */
#define NC_MAX_UINT   4294967295U                  /**< maximum of NC_UINT */
#define NC_MAX_INT64  (9223372036854775807LL)      /**< maximum of NC_INT64 */
#define NC_MIN_INT64  (-9223372036854775807LL-1)   /**< minimum of NC_INT64 */
#define NC_MAX_UINT64 (18446744073709551615ULL)    /**< maximum of NC_UINT64 */
/** @} */

/** @name Fill mode
 * For ncmpi_set_fill() and ncmpi_def_var_fill().
 * @{ */
#define NC_FILL   0     /**< write fill values first */
#define NC_NOFILL 0x100 /**< do not write fill values; the default */
/** @} */

/** @name Mode flags for ncmpi_create() and ncmpi_open()
 * Combine these flags with |. Flags marked as ignored are accepted for programs written
 * for netCDF.
 * @{ */
#define NC_NOWRITE       0x0000        /**< open: read only */
#define NC_WRITE         0x0001        /**< open: read and write */
#define NC_CLOBBER       0x0000        /**< create: empty an existing file */
#define NC_NOCLOBBER     0x0004        /**< create: fail if the file exists (NC_EEXIST) */
#define NC_DISKLESS      0x0008        /**< ignored */
#define NC_MMAP          0x0010        /**< ignored */
#define NC_64BIT_DATA    0x0020        /**< create: CDF-5 */
#define NC_CDF5          NC_64BIT_DATA /**< create: CDF-5 */
#define NC_UDF0          0x0040        /**< netCDF: user-defined format */
#define NC_UDF1          0x0080        /**< netCDF: user-defined format */
#define NC_CLASSIC_MODEL 0x0100        /**< netCDF-4 with the classic data model */
#define NC_64BIT_OFFSET  0x0200        /**< create: CDF-2 */
#define NC_LOCK          0x0400        /**< ignored */
#define NC_SHARE         0x0800        /**< write header changes immediately */
#define NC_NETCDF4       0x1000        /**< HDF5-based format */
#define NC_MPIIO         0x2000        /**< ignored: always parallel */
#define NC_MPIPOSIX      NC_MPIIO      /**< ignored */
#define NC_PNETCDF       (NC_MPIIO)    /**< ignored */
#define NC_PERSIST       0x4000        /**< ignored */
#define NC_INMEMORY      0x8000        /**< ignored */
#define NC_NOATTCREORD   0x20000       /**< ignored */
/** @} */

/** @name File formats
 * Values for ncmpi_inq_format() and ncmpi_set_default_format().
 * @{ */
#define NC_MAX_MAGIC_NUMBER_LEN   8                        /**< bytes in a magic number */
#define NC_FORMAT_CLASSIC         (1)                      /**< CDF-1 */
#define NC_FORMAT_64BIT_OFFSET    (2) /**< CDF-2 */
#define NC_FORMAT_64BIT           (NC_FORMAT_64BIT_OFFSET) /**< CDF-2, old name */
#define NC_FORMAT_NETCDF4         (3)                      /**< HDF5-based */
#define NC_FORMAT_NETCDF4_CLASSIC (4)                      /**< HDF5-based, classic model */
#define NC_FORMAT_64BIT_DATA      (5)                      /**< CDF-5 */
#define NC_FORMAT_CDF5            NC_FORMAT_64BIT_DATA     /**< CDF-5 */
/** all create-mode flags that select a format */
#define NC_FORMAT_ALL \
    (NC_64BIT_OFFSET|NC_64BIT_DATA|NC_CLASSIC_MODEL|NC_NETCDF4|NC_UDF0|NC_UDF1)
/** @} */

/** @name Storage formats
 * Values for nc_inq_format_extended(), which describe how netCDF stores a file.
 * @{ */
#define NC_FORMATX_NC3       (1)                  /**< CDF-1, 2, 5 */
#define NC_FORMATX_NC_HDF5   (2)                  /**< HDF5 */
#define NC_FORMATX_NC4       NC_FORMATX_NC_HDF5   /**< HDF5 */
#define NC_FORMATX_NC_HDF4   (3)                  /**< HDF4 */
#define NC_FORMATX_PNETCDF   (4)                  /**< CDF-1, 2, 5 by this library */
#define NC_FORMATX_DAP2      (5)                  /**< remote, DAP2 */
#define NC_FORMATX_DAP4      (6)                  /**< remote, DAP4 */
#define NC_FORMATX_UDF0      (8)                  /**< user-defined */
#define NC_FORMATX_UDF1      (9)                  /**< user-defined */
#define NC_FORMATX_NCZARR    (10)                 /**< Zarr */
#define NC_FORMATX_UNDEFINED (0)                  /**< none of these */
#define NC_FORMAT_NC3        NC_FORMATX_NC3       /**< old name */
#define NC_FORMAT_NC_HDF5    NC_FORMATX_NC_HDF5   /**< old name */
#define NC_FORMAT_NC4        NC_FORMATX_NC4       /**< old name */
#define NC_FORMAT_NC_HDF4    NC_FORMATX_NC_HDF4   /**< old name */
#define NC_FORMAT_PNETCDF    NC_FORMATX_PNETCDF   /**< old name */
#define NC_FORMAT_DAP2       NC_FORMATX_DAP2      /**< old name */
#define NC_FORMAT_DAP4       NC_FORMATX_DAP4      /**< old name */
#define NC_FORMAT_UNDEFINED  NC_FORMATX_UNDEFINED /**< old name */
/** @} */

/** @name Ids and limits
 * Apart from the format's own limits, only the length of names is limited.
 * @{ */
#define NC_SIZEHINT_DEFAULT 0              /**< netCDF: the library chooses */
#define NC_ALIGN_CHUNK      ((size_t)(-1)) /**< netCDF: align to the chunk size */
#define NC_UNLIMITED        0L             /**< length of an unlimited dimension */
#define NC_GLOBAL           -1             /**< variable id of global attributes */
#define NC_MAX_DIMS         NC_MAX_INT     /**< maximum dimensions per file */
#define NC_MAX_ATTRS        NC_MAX_INT     /**< maximum attributes per variable */
#define NC_MAX_VARS         NC_MAX_INT     /**< maximum variables per file */
#define NC_MAX_NAME         256            /**< maximum bytes in a name, without NUL */
#define NC_MAX_VAR_DIMS     NC_MAX_INT     /**< maximum dimensions per variable */
#define NC_MAX_HDF4_NAME    NC_MAX_NAME    /**< netCDF: bytes in an HDF4 name */
/** @} */

/** @name Storage of netCDF-4 variables
 * Not used by this library.
 * @{ */
#define NC_ENDIAN_NATIVE     0 /**< the machine's byte order */
#define NC_ENDIAN_LITTLE     1 /**< little-endian */
#define NC_ENDIAN_BIG        2 /**< big-endian */
#define NC_CHUNKED           0 /**< in chunks */
#define NC_CONTIGUOUS        1 /**< in one piece */
#define NC_COMPACT           2 /**< inside the header */
#define NC_UNKNOWN_STORAGE   3 /**< any other layout */
#define NC_VIRTUAL           4 /**< in other files */
#define NC_NOCHECKSUM        0 /**< without checksum */
#define NC_FLETCHER32        1 /**< with Fletcher's checksum */
#define NC_NOSHUFFLE         0 /**< bytes in order */
#define NC_SHUFFLE           1 /**< bytes grouped by significance */
#define NC_MIN_DEFLATE_LEVEL 0 /**< weakest compression */
#define NC_MAX_DEFLATE_LEVEL 9 /**< strongest compression */

#define NC_NOQUANTIZE              0    /**< all bits are preserved */
#define NC_QUANTIZE_BITGROOM       1    /**< Bit Groom */
#define NC_QUANTIZE_GRANULARBR     2    /**< Granular Bit Round */
#define NC_QUANTIZE_MAX_FLOAT_NSD  (7)  /**< maximum number of digits for a float */
#define NC_QUANTIZE_MAX_DOUBLE_NSD (15) /**< maximum number of digits for a double */
/** attribute that stores the number of digits for Bit Groom */
#define NC_QUANTIZE_BITGROOM_ATT_NAME "_QuantizeBitgroomNumberOfSignificantDigits"
/** attribute that stores the number of digits for Granular Bit Round */
#define NC_QUANTIZE_GRANULARBR_ATT_NAME \
    "_QuantizeGranularBitRoundNumberOfSignificantDigits"

#define NC_HAVE_NEW_CHUNKING_API 1 /**< netCDF: the new chunking functions exist */
/** @} */

/** @name Error codes shared with netCDF
 * @{ */
#define NC_NOERR          0       /**< no error */
#define NC2_ERR           (-1)    /**< any error, from netCDF 2 */
#define NC_EBADID         (-33)   /**< not the id of an open file */
#define NC_ENFILE         (-34)   /**< too many datasets, files or communicators */
#define NC_EEXIST         (-35)   /**< file exists, but NC_NOCLOBBER was passed */
#define NC_EINVAL         (-36)   /**< invalid argument */
#define NC_EPERM          (-37)   /**< file was opened read-only */
#define NC_ENOTINDEFINE   (-38)   /**< allowed only in define mode */
#define NC_EINDEFINE      (-39)   /**< not allowed in define mode */
#define NC_EINVALCOORDS   (-40)   /**< start is outside the variable */
#define NC_EMAXDIMS       (-41)   /**< too many dimensions */
#define NC_ENAMEINUSE     (-42)   /**< name is already in use */
#define NC_ENOTATT        (-43)   /**< no such attribute */
#define NC_EMAXATTS       (-44)   /**< too many attributes */
#define NC_EBADTYPE       (-45)   /**< invalid type, or not supported by this format */
#define NC_EBADDIM        (-46)   /**< invalid dimension id or name */
#define NC_EUNLIMPOS      (-47)   /**< unlimited dimension must be a variable's first */
#define NC_EMAXVARS       (-48)   /**< too many variables */
#define NC_ENOTVAR        (-49)   /**< no such variable */
#define NC_EGLOBAL        (-50)   /**< NC_GLOBAL is not allowed here */
#define NC_ENOTNC         (-51)   /**< not a netCDF file, or damaged */
#define NC_ESTS           (-52)   /**< string too short */
#define NC_EMAXNAME       (-53)   /**< name is longer than NC_MAX_NAME */
#define NC_EUNLIMIT       (-54)   /**< unlimited dimension already exists */
#define NC_ENORECVARS     (-55)   /**< no record variables */
#define NC_ECHAR          (-56)   /**< no conversion between text and numbers */
#define NC_EEDGE          (-57)   /**< start and count extend beyond the variable */
#define NC_ESTRIDE        (-58)   /**< stride is less than 1 */
#define NC_EBADNAME       (-59)   /**< name has characters that are not allowed */
#define NC_ERANGE         (-60)   /**< value is out of range for its new type */
#define NC_ENOMEM         (-61)   /**< out of memory */
#define NC_EVARSIZE       (-62)   /**< a variable is too large for this format */
#define NC_EDIMSIZE       (-63)   /**< invalid dimension length */
#define NC_ETRUNC         (-64)   /**< file is shorter than its header indicates */
#define NC_EAXISTYPE      (-65)   /**< netCDF: unknown axis type */
#define NC_EDAP           (-66)   /**< netCDF: DAP failed */
#define NC_ECURL          (-67)   /**< netCDF: libcurl failed */
#define NC_EIO            (-68)   /**< input or output failed */
#define NC_ENODATA        (-69)   /**< netCDF: variable has no data */
#define NC_EDAPSVC        (-70)   /**< netCDF: DAP service failed */
#define NC_EDAS           (-71)   /**< netCDF: bad DAP attributes */
#define NC_EDDS           (-72)   /**< netCDF: bad DAP structure */
#define NC_EDMR           NC_EDDS /**< netCDF: bad DAP4 structure */
#define NC_EDATADDS       (-73)   /**< netCDF: bad DAP data */
#define NC_EDATADAP       NC_EDATADDS         /**< netCDF: bad DAP4 data */
#define NC_EDAPURL        (-74)               /**< netCDF: malformed DAP URL */
#define NC_EURL           (NC_EDAPURL)        /**< netCDF: malformed URL */
#define NC_EDAPCONSTRAINT (-75)               /**< netCDF: malformed DAP constraint */
#define NC_ECONSTRAINT    (NC_EDAPCONSTRAINT) /**< netCDF: malformed constraint */
#define NC_ETRANSLATION   (-76)               /**< netCDF: untranslatable construct */
#define NC_EACCESS        (-77)               /**< access denied */
#define NC_EAUTH          (-78)               /**< netCDF: authorisation failed */
#define NC_ENOTFOUND      (-90)               /**< not found */
#define NC_ECANTREMOVE    (-91)               /**< cannot be removed */
#define NC_EINTERNAL      (-92)               /**< internal library error */
#define NC_EPNETCDF       (-93)               /**< netCDF: error in PnetCDF */
#define NC4_FIRST_ERROR   (-100)              /**< first netCDF-4 error code */
#define NC_EHDFERR        (-101)              /**< HDF5 failed */
#define NC_ECANTREAD      (-102)              /**< netCDF-4: cannot read */
#define NC_ECANTWRITE     (-103)              /**< netCDF-4: cannot write */
#define NC_ECANTCREATE    (-104)              /**< netCDF-4: cannot create */
#define NC_EFILEMETA      (-105)              /**< netCDF-4: bad file metadata */
#define NC_EDIMMETA       (-106)              /**< netCDF-4: bad dimension metadata */
#define NC_EATTMETA       (-107)              /**< netCDF-4: bad attribute metadata */
#define NC_EVARMETA       (-108)              /**< netCDF-4: bad variable metadata */
#define NC_ENOCOMPOUND    (-109)              /**< netCDF-4: not a compound type */
#define NC_EATTEXISTS     (-110)              /**< netCDF-4: attribute already exists */
#define NC_ENOTNC4        (-111)              /**< not a netCDF-4 file */
#define NC_ESTRICTNC3     (-112)              /**< not allowed in the classic model */
#define NC_ENOTNC3        (-113)              /**< not a classic file; possibly HDF5 */
#define NC_ENOPAR         (-114)              /**< netCDF-4: not opened in parallel */
#define NC_EPARINIT       (-115) /**< netCDF-4: parallel access could not start */
#define NC_EBADGRPID      (-116) /**< netCDF-4: no such group */
#define NC_EBADTYPID      (-117) /**< netCDF-4: no such type */
#define NC_ETYPDEFINED    (-118) /**< netCDF-4: type is in use */
#define NC_EBADFIELD      (-119) /**< netCDF-4: no such field */
#define NC_EBADCLASS      (-120) /**< netCDF-4: no such class */
#define NC_EMAPTYPE       (-121) /**< netCDF-4: type cannot be mapped */
#define NC_ELATEFILL      (-122) /**< too late for a fill value: data may already exist */
#define NC_ELATEDEF       (-123) /**< too late to change a definition */
#define NC_EDIMSCALE      (-124) /**< netCDF-4: error in a dimension scale */
#define NC_ENOGRP         (-125) /**< netCDF-4: no such group */
#define NC_ESTORAGE       (-126) /**< netCDF-4: both contiguous and chunked */
#define NC_EBADCHUNK      (-127) /**< netCDF-4: invalid chunk size */
#define NC_ENOTBUILT      (-128) /**< the library was built without this feature */
#define NC_EDISKLESS      (-129) /**< netCDF: error in a diskless file */
#define NC_ECANTEXTEND    (-130) /**< netCDF-4: cannot grow in independent mode */
#define NC_EMPI           (-131) /**< an MPI function failed */
#define NC_EFILTER        (-132) /**< netCDF-4: filter failed */
#define NC_ERCFILE        (-133) /**< netCDF: error in the rc file */
#define NC_ENULLPAD       (-134) /**< padding in the header is not NUL */
#define NC_EINMEMORY      (-135) /**< netCDF: error in an in-memory file */
#define NC_ENOFILTER      (-136) /**< netCDF-4: no such filter */
#define NC_ENCZARR        (-137) /**< netCDF: error in NCZarr */
#define NC_ES3            (-138) /**< netCDF: S3 failed */
#define NC_EEMPTY         (-139) /**< netCDF: object is empty */
#define NC_EOBJECT        (-140) /**< netCDF: object already exists */
#define NC_ENOOBJECT      (-141) /**< netCDF: no such object */
#define NC_EPLUGIN        (-142) /**< netCDF: plug-in failed */
#define NC4_LAST_ERROR    (-142) /**< last netCDF-4 error code */
#define NC_ISSYSERR(err)  ((err) > 0) /**< true if err is an errno value */
/** @} */

#define _FillValue      "_FillValue" /**< fill value attribute: old name */

/* clang-format on */
#endif /* _NETCDF_ */

/** @name Constants that netCDF does not define
 * @{ */
#define NC_FillValue      "_FillValue" /**< fill value attribute */
#define NC_REQ_NULL       (-1)         /**< no request */
#define NC_COUNT_IGNORE   (-1)         /**< bufcount: determined by count */
#define NC_REQ_ALL        (-1)         /**< wait, cancel: all pending requests */
#define NC_GET_REQ_ALL    (-2)         /**< wait, cancel: all pending gets */
#define NC_PUT_REQ_ALL    (-3)         /**< wait, cancel: all pending puts */
#define NC_MAX_NFILES     1024         /**< maximum number of files open at a time */
#define NC_FORMAT_UNKNOWN (-1)         /**< unknown format */
#define NC_FORMAT_CDF2    2            /**< CDF-2 */
#define NC_FORMAT_BP      6            /**< ADIOS BP */
#define NC_32BIT          0x1000000    /**< create: CDF-1 */
#define NC_BP             0x10000      /**< ADIOS BP */
/** @} */

/** @name Error codes that netCDF does not define
 * @{ */
#define NC_ESMALL             (-201) /**< MPI_Offset is too small for this format */
#define NC_ENOTINDEP          (-202) /**< allowed only in independent data mode */
#define NC_EINDEP             (-203) /**< not allowed in independent data mode */
#define NC_EFILE              (-204) /**< unknown file error */
#define NC_EREAD              (-205) /**< reading failed */
#define NC_EWRITE             (-206) /**< writing failed */
#define NC_EOFILE             (-207) /**< the file cannot be opened or created */
#define NC_EMULTITYPES        (-208) /**< buftype has more than one basic type */
#define NC_EIOMISMATCH        (-209) /**< buffer and request sizes differ */
#define NC_ENEGATIVECNT       (-210) /**< negative count */
#define NC_EUNSPTETYPE        (-211) /**< basic type of buftype is not supported */
#define NC_EINVAL_REQUEST     (-212) /**< no such request */
#define NC_EAINT_TOO_SMALL    (-213) /**< MPI_Aint is too small for this buffer */
#define NC_ENOTSUPPORT        (-214) /**< not supported */
#define NC_ENULLBUF           (-215) /**< size of the buffer to attach is not positive */
#define NC_EPREVATTACHBUF     (-216) /**< a buffer is already attached */
#define NC_ENULLABUF          (-217) /**< no buffer is attached */
#define NC_EPENDINGBPUT       (-218) /**< pending requests use the attached buffer */
#define NC_EINSUFFBUF         (-219) /**< the attached buffer is too small */
#define NC_ENOENT             (-220) /**< no such file */
#define NC_EINTOVERFLOW       (-221) /**< a number exceeds the range of an int */
#define NC_ENOTENABLED        (-222) /**< this feature is not enabled */
#define NC_EBAD_FILE          (-223) /**< not a valid file name */
#define NC_ENO_SPACE          (-224) /**< no space on the device */
#define NC_EQUOTA             (-225) /**< quota exceeded */
#define NC_ENULLSTART         (-226) /**< start is NULL */
#define NC_ENULLCOUNT         (-227) /**< count is NULL */
#define NC_EINVAL_CMODE       (-228) /**< create flags contradict each other */
#define NC_ETYPESIZE          (-229) /**< filetype contains a partial element */
#define NC_ETYPE_MISMATCH     (-230) /**< filetype is not of the variable's type */
#define NC_ETYPESIZE_MISMATCH (-231) /**< filetype and buffer sizes differ */
#define NC_ESTRICTCDF2        (-232) /**< requires CDF-5 */
#define NC_ENOTRECVAR         (-233) /**< not a record variable */
#define NC_ENOTFILL           (-234) /**< this variable's fill mode is off */
#define NC_EINVAL_OMODE       (-235) /**< open flags contradict each other */
#define NC_EPENDING           (-236) /**< requests were pending at close */
#define NC_EMAX_REQ           (-237) /**< too many requests */
#define NC_EBADLOG            (-238) /**< the burst-buffer log is damaged */
#define NC_EFLUSHED           (-239) /**< the request has already been written */
#define NC_EADIOS             (-240) /**< ADIOS failed */
#define NC_EFSTYPE            (-241) /**< unknown file-system type */
#define NC_EDRIVER            (-242) /**< unknown driver */
#define NC_EFILEVIEW          (-243) /**< invalid offsets in a file view */
/** @} */

/** @name Errors for differences between processes
 * Arguments of a collective call differ although they must be the same on all processes.
 * @{ */
#define NC_EMULTIDEFINE                (-250) /**< headers differ */
#define NC_EMULTIDEFINE_OMODE          (-251) /**< open modes differ */
#define NC_EMULTIDEFINE_DIM_NUM        (-252) /**< numbers of dimensions differ */
#define NC_EMULTIDEFINE_DIM_SIZE       (-253) /**< dimension lengths differ */
#define NC_EMULTIDEFINE_DIM_NAME       (-254) /**< dimension names differ */
#define NC_EMULTIDEFINE_VAR_NUM        (-255) /**< numbers of variables differ */
#define NC_EMULTIDEFINE_VAR_NAME       (-256) /**< variable names differ */
#define NC_EMULTIDEFINE_VAR_NDIMS      (-257) /**< variable ranks differ */
#define NC_EMULTIDEFINE_VAR_DIMIDS     (-258) /**< a variable's dimension ids differ */
#define NC_EMULTIDEFINE_VAR_TYPE       (-259) /**< variable types differ */
#define NC_EMULTIDEFINE_VAR_LEN        (-260) /**< variable sizes differ */
#define NC_EMULTIDEFINE_NUMRECS        (-261) /**< numbers of records differ */
#define NC_EMULTIDEFINE_VAR_BEGIN      (-262) /**< variable offsets differ */
#define NC_EMULTIDEFINE_ATTR_NUM       (-263) /**< numbers of attributes differ */
#define NC_EMULTIDEFINE_ATTR_SIZE      (-264) /**< attribute sizes differ */
#define NC_EMULTIDEFINE_ATTR_NAME      (-265) /**< attribute names differ */
#define NC_EMULTIDEFINE_ATTR_TYPE      (-266) /**< attribute types differ */
#define NC_EMULTIDEFINE_ATTR_LEN       (-267) /**< attribute lengths differ */
#define NC_EMULTIDEFINE_ATTR_VAL       (-268) /**< attribute values differ */
#define NC_EMULTIDEFINE_FNC_ARGS       (-269) /**< call arguments differ */
#define NC_EMULTIDEFINE_FILL_MODE      (-270) /**< fill modes differ */
#define NC_EMULTIDEFINE_VAR_FILL_MODE  (-271) /**< variable fill modes differ */
#define NC_EMULTIDEFINE_VAR_FILL_VALUE (-272) /**< variable fill values differ */
#define NC_EMULTIDEFINE_CMODE          (-273) /**< create modes differ */
#define NC_EMULTIDEFINE_HINTS          (-274) /**< hints differ */

#define NC_EMULTIDEFINE_FIRST NC_EMULTIDEFINE       /**< first of these codes */
#define NC_EMULTIDEFINE_LAST  NC_EMULTIDEFINE_HINTS /**< last of these codes */
/** @} */

/** @name Old names for these errors
 * @{ */
#define NC_ECMODE                   NC_EMULTIDEFINE_OMODE      /**< old name */
#define NC_EDIMS_NELEMS_MULTIDEFINE NC_EMULTIDEFINE_DIM_NUM    /**< old name */
#define NC_EDIMS_SIZE_MULTIDEFINE   NC_EMULTIDEFINE_DIM_SIZE   /**< old name */
#define NC_EDIMS_NAME_MULTIDEFINE   NC_EMULTIDEFINE_DIM_NAME   /**< old name */
#define NC_EVARS_NELEMS_MULTIDEFINE NC_EMULTIDEFINE_VAR_NUM    /**< old name */
#define NC_EVARS_NAME_MULTIDEFINE   NC_EMULTIDEFINE_VAR_NAME   /**< old name */
#define NC_EVARS_NDIMS_MULTIDEFINE  NC_EMULTIDEFINE_VAR_NDIMS  /**< old name */
#define NC_EVARS_DIMIDS_MULTIDEFINE NC_EMULTIDEFINE_VAR_DIMIDS /**< old name */
#define NC_EVARS_TYPE_MULTIDEFINE   NC_EMULTIDEFINE_VAR_TYPE   /**< old name */
#define NC_EVARS_LEN_MULTIDEFINE    NC_EMULTIDEFINE_VAR_LEN    /**< old name */
#define NC_ENUMRECS_MULTIDEFINE     NC_EMULTIDEFINE_NUMRECS    /**< old name */
#define NC_EVARS_BEGIN_MULTIDEFINE  NC_EMULTIDEFINE_VAR_BEGIN  /**< old name */
/** @} */

#endif
