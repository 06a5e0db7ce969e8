/* The header of a classic netCDF dataset (CDF-1, CDF-2, CDF-5): its model in memory, the
 * codec that converts the model to and from bytes, and the data layout. Uses neither MPI
 * nor files: the codec takes bytes and a length.
 *
 * The format is defined by "The NetCDF Classic Format Specification" (CDF-1, CDF-2) and
 * its extension to CDF-5, in which counts and sizes are 8 bytes wide.
 *
 * Functions return NC_NOERR or an NC_ code. If the code alone does not explain the error,
 * they also record a message with base_error_set. */
#ifndef CDF_H
#define CDF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_arena.h"
#include "base_names.h"

/* Attribute functions accept NC_GLOBAL as varid for the dataset's global attributes. */

struct cdf_dim {
    const char *name; /* NUL-terminated, in the arena like all names */
    int64_t length;   /* NC_UNLIMITED (0) for the unlimited dimension */
};

struct cdf_att {
    const char *name;
    int type; /* NC_BYTE ... NC_UINT64 */
    int64_t nelems;
    void *values;    /* big-endian, as in the file, without padding */
    size_t capacity; /* size of the memory at `values`, in bytes */
};

struct cdf_atts {
    int count;
    int capacity; /* entries of list[]; those at or above `count` may own reusable
                   * memory */
    struct cdf_att *list;
    struct base_names names; /* used only for long lists */
};

struct cdf_var {
    const char *name;
    int type;
    int ndims;
    const int *dimids;    /* ndims entries */
    const int64_t *shape; /* ndims entries; shape[0] is 0 for a record variable */
    bool is_record;
    bool fill;                      /* true for NC_FILL, false for NC_NOFILL */
    unsigned char quantize, digits; /* quantization mode and digits for puts, see
                                     * conv_quantize.h; 0, 0 if none */
    int64_t nelems; /* number of elements in one record, or in a fixed-size variable */
    int64_t size;   /* bytes in one record, or in the fixed-size section, including
                     * padding; computed, never read from a file */
    int64_t begin;  /* file offset of the first byte; -1 if not yet assigned */
    struct cdf_atts atts;
};

struct cdf_header {
    int format;         /* 1, 2 or 5 */
    bool classic_model; /* netCDF-4 file (format 5) that allows only the types of CDF-1 */
    int64_t numrecs;
    int unlimited; /* dimension id, or -1 */
    int ndims, nvars;
    struct cdf_dim *dims;
    struct cdf_var *vars;
    struct cdf_atts gatts;

    /* The layout, computed by cdf_decode or cdf_layout. */
    int64_t size;         /* size of the encoded header in bytes */
    int64_t begin_fixed;  /* offset of the data: the header and its padding end here */
    int64_t begin_record; /* offset of the first record */
    int64_t record_size;  /* distance between records in bytes */
    int nrecord_vars;

    /* Private to the cdf_ functions. */
    int dims_capacity, vars_capacity;
    bool has_duplicate_names; /* the file has two objects with the same name */
    struct base_names dim_names, var_names;
    struct base_arena arena;
};

/* Returns the format that defines the rules for values. See conv_effective_type. */
static inline int cdf_rules(const struct cdf_header *h)
{
    return h->classic_model ? 1 : h->format;
}

/* ---- creating and freeing ---- */

/* Initializes an empty dataset of format 1, 2 or 5. Free it with cdf_free. */
void cdf_init(struct cdf_header *h, int format);
void cdf_free(struct cdf_header *h);

/* Makes *to, which is uninitialized, an independent copy of *from. NC_ENOMEM. */
int cdf_copy(struct cdf_header *to, const struct cdf_header *from);

/* ---- types and names ---- */

/* Returns the size of one element of an external type in bytes, or 0 if the type does not
 * exist. */
int cdf_type_size(int type);

/* Returns the name of a type, such as "NC_INT", or "unknown". */
const char *cdf_type_name(int type);

/* Checks that the type exists in this format. NC_EBADTYPE; NC_ESTRICTCDF2 if only CDF-5
 * has the type. */
int cdf_check_type(int format, int type);

/* Checks a new name: valid UTF-8, no '/' or control characters, no trailing space, a
 * letter, digit, '_' or non-ASCII character at the start, at most NC_MAX_NAME bytes.
 * NC_EBADNAME, NC_EMAXNAME. Writes the composed form of the name to norm, which has
 * NC_MAX_NAME + 1 bytes (Unicode NFC, if the library for it was available at build time).
 * The functions below compose their names in the same way, even in look-ups. */
int cdf_check_name(const char *name, char *norm);

/* ---- definitions: these change only the model and ignore modes ---- */

/* Defines a dimension. NC_EBADNAME, NC_EMAXNAME, NC_ENAMEINUSE, NC_EDIMSIZE (negative, or
 * too large for the format: 2^31-1 in CDF-1 and CDF-2), NC_EUNLIMIT (a second unlimited
 * dimension), NC_ENOMEM. */
int cdf_def_dim(struct cdf_header *h, const char *name, int64_t length, int *dimid);

/* Defines a variable. begin is -1 until cdf_layout assigns it, and fill is initially
 * false. NC_EBADNAME, NC_EMAXNAME, NC_ENAMEINUSE, NC_EBADTYPE, NC_ESTRICTCDF2, NC_EINVAL
 * (ndims is negative, or dimids is NULL), NC_EBADDIM, NC_EUNLIMPOS (the unlimited
 * dimension is not the first), NC_EVARSIZE (the size overflows), NC_ENOMEM. */
int cdf_def_var(struct cdf_header *h, const char *name, int type, int ndims,
                const int *dimids, int *varid);

/* Rename an object after checking that the new name is valid and unused. The caller
 * decides whether the name may become longer. NC_EBADDIM, NC_ENOTVAR, NC_ENOTATT, and
 * name errors. */
int cdf_rename_dim(struct cdf_header *h, int dimid, const char *name);
int cdf_rename_var(struct cdf_header *h, int varid, const char *name);
int cdf_rename_att(struct cdf_header *h, int varid, const char *name,
                   const char *new_name);

/* Find ids by name. NC_EBADDIM, NC_ENOTVAR or NC_ENOTATT if not found. */
int cdf_find_dim(const struct cdf_header *h, const char *name, int *dimid);
int cdf_find_var(const struct cdf_header *h, const char *name, int *varid);
int cdf_find_att(const struct cdf_header *h, int varid, const char *name, int *attid);

/* Returns the attributes of a variable or of NC_GLOBAL, or NULL if the variable does not
 * exist. */
struct cdf_atts *cdf_atts(struct cdf_header *h, int varid);

/* Returns the maximum number of values in an attribute. */
int64_t cdf_max_values(int format);

/* Creates or replaces an attribute of nelems values. Sets *values to the address to which
 * the caller must write them in big-endian order (undefined if nelems is 0). An error
 * does not change the old attribute. NC_ENOTVAR, name errors, NC_EBADTYPE,
 * NC_ESTRICTCDF2, NC_EINVAL (nelems is negative or too large for the format),
 * NC_ENOMEM. */
int cdf_put_att(struct cdf_header *h, int varid, const char *name, int type,
                int64_t nelems, void **values);

/* Copies type, length and values of all attributes from another header, whose variables
 * and attribute names are the same. NC_ENOMEM. */
int cdf_replace_atts(struct cdf_header *h, const struct cdf_header *from);

/* Deletes an attribute. Decrements the ids of later attributes. NC_ENOTVAR,
 * NC_ENOTATT. */
int cdf_del_att(struct cdf_header *h, int varid, const char *name);

/* Writes a type's default fill value, big-endian. */
void cdf_default_fill(int type, void *xvalue);

/* Returns whether the variable has a fill value: it is in fill mode or has a _FillValue
 * attribute. */
bool cdf_has_fill(const struct cdf_header *h, int varid);

/* Writes the fill value of one element (at most 8 bytes), big-endian: the variable's
 * _FillValue if it has the variable's type, else the type's default. */
void cdf_fill_value(const struct cdf_header *h, int varid, void *xvalue);

/* ---- codec ---- */

/* Returns the number of bytes that cdf_encode would write. */
int64_t cdf_encoded_size(const struct cdf_header *h);

/* Writes the header, exactly cdf_encoded_size(h) bytes, to `bytes`. All values must fit
 * their fields, which cdf_layout and the definition functions check. */
void cdf_encode(const struct cdf_header *h, unsigned char *bytes);

/* Encodes numrecs as it is stored at offset 4 of a header. Returns the width of the field
 * in bytes, 4 or 8. `field` has 8 bytes. */
int cdf_encode_numrecs(int format, int64_t numrecs, unsigned char *field);
/* Decodes numrecs from the first bytes of a header. Returns -1 if it must be computed
 * from the size of the file. */
int64_t cdf_decode_numrecs(int format, const unsigned char *head);

enum { CDF_MORE = 1 };

/* An error found while decoding. */
struct cdf_fault {
    int64_t offset;         /* offset of the invalid byte in the header */
    char reason[160];       /* one line without a full stop */
    int64_t estimated_size; /* after CDF_MORE: an estimate of the header's length, or 0 */
};

/* Decodes the header at bytes[0..length) of a dataset whose file has file_size bytes
 * (INT64_MAX if unknown). Returns one of the following:
 *
 * NC_NOERR      *h is the header, including the layout. Free it with cdf_free.
 * CDF_MORE      The header continues after `length`, which is less than file_size. Call
 *               again with more bytes. *h is empty.
 * NC_ENOTBUILT  The file is an HDF5 or ADIOS file.
 * NC_ENOTNC     The file has another format, or its header is damaged.
 * NC_EMAXDIMS, NC_EMAXATTS, NC_EMAXVARS
 *               The header has more objects than a dataset may have.
 * NC_EVARSIZE   A variable is too large for its position.
 * NC_EBADTYPE, NC_EBADDIM, NC_EUNLIMIT, NC_EUNLIMPOS
 *               More specific errors than NC_ENOTNC.
 * NC_ENOMEM     Out of memory.
 *
 * Errors are described in *fault (may be NULL) and recorded with base_error_set. Decoding
 * takes one pass. Time and memory are O(length), whatever the bytes claim.
 *
 * Variables must start after the header and must not overlap. Padding bytes may have any
 * value. Two objects may have the same name; look-ups find the first. All variables are
 * in fill mode, because a file does not store this mode. A file may be shorter than its
 * variables require: missing values read as zeros. HDF5's signature is recognized at
 * offsets 0, 512, 1024, 2048 ... */
int cdf_decode(struct cdf_header *h, const void *bytes, size_t length, int64_t file_size,
               struct cdf_fault *fault);

/* Same as cdf_decode, but does not check where the variables are, and rejects names that
 * contain a NUL. Sets `begin` of the variables as in the file, but not begin_fixed and
 * begin_record. numrecs may be -1 or UINT32_MAX if it was not stored. */
int cdf_decode_misplaced(struct cdf_header *h, const void *bytes, size_t length,
                         int64_t file_size);

/* A finding that cdf_validate reports. */
struct cdf_finding {
    int code;           /* error that cdf_decode returns; NC_NOERR if none */
    bool note;          /* allowed by the format, but noteworthy */
    int64_t offset;     /* file offset of the invalid field, or of missing data */
    const char *reason; /* without a full stop; valid during the call */
    int fix_length;     /* number of bytes in fix[] that correct the error at `offset`,
                         * 0 to 8 */
    unsigned char fix[8];
};
typedef void cdf_report_fn(void *to, const struct cdf_finding *finding);

/* Decodes like cdf_decode, but continues after errors. Reports all errors, violations of
 * the format that do not prevent reading (in padding, names and sizes), and missing data
 * (unless file_size is INT64_MAX). The callback may be NULL. Returns NC_NOERR if it
 * reached the end; CDF_MORE (call again with more bytes and discard the findings); the
 * error that prevents it from continuing; or NC_ENOMEM. */
int cdf_validate(const void *bytes, size_t length, int64_t file_size,
                 cdf_report_fn *report, void *to);

/* While data are being moved to a new layout, the first byte of the file is CDF_MOVING
 * instead of 'C', so that no reader accepts the header. cdf_is_moving checks for this
 * byte. */
enum { CDF_MOVING = 'R' };
bool cdf_is_moving(const void *bytes, size_t length);

/* Returns the format of a file that starts with these bytes: NC_FORMAT_CLASSIC,
 * NC_FORMAT_CDF2, NC_FORMAT_CDF5, NC_FORMAT_NETCDF4, NC_FORMAT_BP or
 * NC_FORMAT_UNKNOWN. */
int cdf_signature(const void *bytes, size_t length);

/* ---- layout ---- */

struct cdf_padding {        /* sizes in bytes; see ncmpi__enddef */
    int64_t header_minfree; /* free space after the header, or CDF_DEFAULT_PADDING */
    int64_t fixed_align;    /* alignment of the fixed-size section's start */
    int64_t fixed_minfree;  /* free space after the fixed-size section */
    int64_t record_align;   /* alignment of the record section's start */
    bool fixed_strict;      /* move a section that is not aligned, even if it could remain
                             * in place; without fixed-size variables, this applies to the
                             * records instead */
    bool record_strict;
};

/* Requests padding of one sixteenth of the header size, up to 1 MiB, so that new
 * attributes do not move data. */
enum { CDF_DEFAULT_PADDING = -1 };

/* Assigns an offset to every variable and computes size, begin_fixed, begin_record and
 * record_size. `before` is the layout to preserve as far as possible (after a redef), or
 * NULL for a new file. No offset ever decreases. If the header and the fixed-size
 * variables fit their sections, including the requested free space, nothing moves unless
 * a strict alignment requires it. NC_EVARSIZE: a variable or an offset is too large for
 * the format's fields. */
int cdf_layout(struct cdf_header *h, const struct cdf_header *before,
               const struct cdf_padding *room);

/* Counts the record variables and computes record_size from the current definitions, as
 * cdf_layout does. NC_EVARSIZE. */
int cdf_sum_records(struct cdf_header *h);

/* Returns the offset of record `rec` of a variable. Ignores `rec` for fixed-size
 * variables. */
int64_t cdf_record_offset(const struct cdf_header *h, const struct cdf_var *v,
                          int64_t rec);

/* Returns the maximum number of records in this layout. The format must be able to
 * represent the number and the offsets of the last record. */
int64_t cdf_max_records(const struct cdf_header *h);

/* Returns the size of a complete file. */
int64_t cdf_file_size(const struct cdf_header *h);

/* A move from one layout to another: `length` bytes move from `from` to `to`, to >= from.
 * Moves are ordered by descending offset, so none overwrites data that a later one
 * moves. */
struct cdf_move {
    int64_t from, to, length;
};

/* Enumerates the moves from `before` to `after` for before->numrecs records. Merges
 * adjacent moves and omits data that do not move. *state must initially be zero. Call it
 * until it returns false. Takes constant memory. */
struct cdf_move_state {
    int started;
    int64_t rec;
    int var;
};
bool cdf_next_move(const struct cdf_header *before, const struct cdf_header *after,
                   struct cdf_move_state *state, struct cdf_move *move);

/* All bytes that move are numbered by descending offset, so the last one in the file is
 * number 0. cdf_move_total returns how many there are. cdf_seek_move returns the move
 * whose last byte has number `place`, and cdf_next_move continues from there. Takes time
 * proportional to the number of variables. */
int64_t cdf_move_total(const struct cdf_header *before, const struct cdf_header *after);
bool cdf_seek_move(const struct cdf_header *before, const struct cdf_header *after,
                   int64_t place, struct cdf_move_state *state, struct cdf_move *move);

/* Gaps: bytes that `before` uses and that are unused after the move. They belong to no
 * variable of `after`, or to a new variable that is not filled. Gap bytes are numbered
 * from 0 to `total` - 1, starting with those before the records. */
struct cdf_extent {
    int64_t offset, length;
};
struct cdf_gap {
    struct cdf_extent *list; /* nfixed gaps before the records, then ntail gaps within
                              * each record, relative to its start */
    int nfixed, ntail;
    int64_t fixed, tail; /* total bytes in the nfixed gaps, and in the ntail gaps of one
                          * record */
    int64_t begin, step; /* offset of the first record, and distance between records */
    int64_t total;
};
/* Computes the gaps. After an error nothing needs to be freed. NC_ENOMEM. */
int cdf_find_gap(struct cdf_gap *v, const struct cdf_header *before,
                 const struct cdf_header *after);
void cdf_free_gap(struct cdf_gap *v);

/* Returns the contiguous gap bytes that start with byte number `place` (less than total).
 * Takes time proportional to the number of variables. */
struct cdf_extent cdf_gap_extent_at(const struct cdf_gap *v, int64_t place);

/* ---- comparing definitions across processes ---- */

/* Differences that cdf_compare finds. */
struct cdf_difference {
    int64_t atts;   /* number of attributes whose type, length or values differ */
    int att_code;   /* error of the first such attribute: NC_EMULTIDEFINE_ATTR_* or
                     * NC_EMULTIDEFINE_VAR_FILL_VALUE */
    char text[512]; /* names the objects and both values: `mine`, then `theirs` */
};

/* Returns NC_NOERR if both headers define the same dataset. Ignores attribute values,
 * numrecs and fill modes (which a header does not store). Otherwise returns the error
 * code of the first difference, NC_EMULTIDEFINE_*, and describes it in d->text. If only
 * attributes differ, d->text describes as many of them as fit. Offsets of variables are
 * compared only if both headers have the same size, because attributes may have moved the
 * variables. */
int cdf_compare(const struct cdf_header *mine, const struct cdf_header *theirs,
                struct cdf_difference *d);

#endif
