/* The header of a classic netCDF dataset (CDF-1, CDF-2, CDF-5): its model in
 * memory, the codec between model and bytes, and the layout of the data.
 * No MPI and no file handles: the codec takes bytes and a length.
 *
 * Source: "The NetCDF Classic Format Specification" (CDF-1, CDF-2) and its
 * extension to CDF-5, in which counts and sizes are 8 bytes wide.
 *
 * Functions return NC_NOERR or an NC_ code; where a code needs explaining they
 * record what went wrong with base_error_set. */
#ifndef CDF_H
#define CDF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base_arena.h"
#include "base_names.h"

/* Where a variable or an attribute list is asked for: the dataset's own
 * attributes go by varid NC_GLOBAL. */

struct cdf_dim {
    const char *name; /* NUL-terminated, in the arena, as all names are */
    int64_t length;   /* NC_UNLIMITED (0) for the unlimited dimension */
};

struct cdf_att {
    const char *name;
    int type; /* NC_BYTE ... NC_UINT64 */
    int64_t nelems;
    void *values;    /* big-endian, as in the file, without padding */
    size_t capacity; /* bytes that `values` has room for */
};

struct cdf_atts {
    int count;
    int capacity; /* entries of list[]; those behind count may hold spare storage */
    struct cdf_att *list;
    struct base_names names; /* filled only once the list is long */
};

struct cdf_var {
    const char *name;
    int type;
    int ndims;
    const int *dimids;    /* ndims long */
    const int64_t *shape; /* ndims long; shape[0] is 0 for a record variable */
    bool is_record;
    bool fill;                      /* fill mode: NC_FILL rather than NC_NOFILL */
    unsigned char quantize, digits; /* how values are quantized when they are put, and to
                                     * how many digits: see conv_quantize.h; 0, 0: they
                                     * are not */
    int64_t nelems; /* elements of one record, or of a fixed-size variable */
    int64_t size;   /* bytes it takes in one record, or in the fixed-size
                     * section, with padding; recomputed, never read */
    int64_t begin;  /* offset of its first byte in the file; -1: none yet */
    struct cdf_atts atts;
};

struct cdf_header {
    int format;         /* 1, 2 or 5 */
    bool classic_model; /* of a netCDF-4 file, whose format is 5: it has CDF-1's types */
    int64_t numrecs;
    int unlimited; /* dimension id, or -1 */
    int ndims, nvars;
    struct cdf_dim *dims;
    struct cdf_var *vars;
    struct cdf_atts gatts;

    /* The layout, by cdf_decode or cdf_layout. */
    int64_t size;         /* bytes of the encoded header */
    int64_t begin_fixed;  /* the header's room: where the data sections start */
    int64_t begin_record; /* where the first record starts */
    int64_t record_size;  /* bytes from one record to the next */
    int nrecord_vars;

    /* Kept by the cdf_ functions only. */
    int dims_capacity, vars_capacity;
    bool has_twins; /* two objects of one name have been read */
    struct base_names dim_names, var_names;
    struct base_arena arena;
};

/* The format whose rules hold for values: see conv_effective_type. */
static inline int cdf_rules(const struct cdf_header *h)
{
    return h->classic_model ? 1 : h->format;
}

/* ---- life ---- */

/* An empty dataset of format 1, 2 or 5. cdf_free releases what it holds. */
void cdf_init(struct cdf_header *h, int format);
void cdf_free(struct cdf_header *h);

/* Makes *to (uninitialised) an independent copy of *from. NC_ENOMEM. */
int cdf_copy(struct cdf_header *to, const struct cdf_header *from);

/* ---- types and names ---- */

/* Bytes of one element of an external type, 0 if there is no such type. */
int cdf_type_size(int type);

/* "NC_INT"; "unknown" if there is no such type. */
const char *cdf_type_name(int type);

/* NC_NOERR if the type exists in this format; NC_EBADTYPE, or NC_ESTRICTCDF2 for
 * a type that only CDF-5 has. */
int cdf_check_type(int format, int type);

/* Checks a name to be defined: valid UTF-8, no '/' or control characters, no
 * trailing space, a first character that is a letter, digit, '_' or beyond ASCII,
 * at most NC_MAX_NAME bytes. NC_EBADNAME, NC_EMAXNAME.
 * Writes its composed form (Unicode NFC, if the library for it was there at
 * build time) to norm, of NC_MAX_NAME + 1 bytes. The names that the functions
 * below take are passed through this by them; look-ups too. */
int cdf_check_name(const char *name, char *norm);

/* ---- definitions; they change the model only and know nothing of modes ---- */

/* NC_EBADNAME, NC_EMAXNAME, NC_ENAMEINUSE, NC_EDIMSIZE (negative, or too large
 * for the format: 2^31-1 in CDF-1 and CDF-2), NC_EUNLIMIT (a second
 * unlimited dimension), NC_ENOMEM. */
int cdf_def_dim(struct cdf_header *h, const char *name, int64_t length, int *dimid);

/* NC_EBADNAME, NC_EMAXNAME, NC_ENAMEINUSE, NC_EBADTYPE, NC_ESTRICTCDF2, NC_EINVAL
 * (ndims negative, or dimids NULL), NC_EBADDIM, NC_EUNLIMPOS (the unlimited
 * dimension not first), NC_EVARSIZE (its size overflows), NC_ENOMEM.
 * begin is -1 until cdf_layout gives it a place. fill starts false. */
int cdf_def_var(struct cdf_header *h, const char *name, int type, int ndims,
                const int *dimids, int *varid);

/* May the new name be longer? The caller decides; these check the name and that
 * it is not in use. NC_EBADDIM / NC_ENOTVAR / NC_ENOTATT and name errors. */
int cdf_rename_dim(struct cdf_header *h, int dimid, const char *name);
int cdf_rename_var(struct cdf_header *h, int varid, const char *name);
int cdf_rename_att(struct cdf_header *h, int varid, const char *name,
                   const char *new_name);

/* Ids by name: NC_EBADDIM, NC_ENOTVAR, NC_ENOTATT where there is none. */
int cdf_find_dim(const struct cdf_header *h, const char *name, int *dimid);
int cdf_find_var(const struct cdf_header *h, const char *name, int *varid);
int cdf_find_att(const struct cdf_header *h, int varid, const char *name, int *attid);

/* The attributes of a variable or of NC_GLOBAL; NULL if there is no such variable. */
struct cdf_atts *cdf_atts(struct cdf_header *h, int varid);

/* More values no attribute can have. */
int64_t cdf_most_values(int format);

/* Makes or replaces an attribute with room for nelems values and stores where to
 * write them, big-endian, in *values (any pointer when nelems is 0). An error
 * leaves the old attribute as it was. NC_ENOTVAR, name errors, NC_EBADTYPE,
 * NC_ESTRICTCDF2, NC_EINVAL (nelems negative or too large for the format),
 * NC_ENOMEM. */
int cdf_put_att(struct cdf_header *h, int varid, const char *name, int type,
                int64_t nelems, void **values);

/* Gives the attributes type, length and values of those of the same names that another
 * header of the same variables has. NC_ENOMEM. */
int cdf_take_atts(struct cdf_header *h, const struct cdf_header *from);

/* NC_ENOTVAR, NC_ENOTATT. Ids of later attributes go down by one. */
int cdf_del_att(struct cdf_header *h, int varid, const char *name);

/* Writes a type's default fill value, big-endian. */
void cdf_default_fill(int type, void *xvalue);

/* Is there a value to fill the variable with: is it in fill mode, or has it a _FillValue
 * of its own? */
bool cdf_has_fill(const struct cdf_header *h, int varid);

/* Writes the fill value of one element, big-endian (at most 8 bytes): the
 * variable's _FillValue if it has one of its own type, else the type's default. */
void cdf_fill_value(const struct cdf_header *h, int varid, void *xvalue);

/* ---- codec ---- */

/* Bytes that cdf_encode would write for the model as it is now. */
int64_t cdf_encoded_size(const struct cdf_header *h);

/* Writes the header, exactly cdf_encoded_size(h) bytes, to bytes. Every value
 * fits its field: cdf_layout has checked it, and the definition functions. */
void cdf_encode(const struct cdf_header *h, unsigned char *bytes);

/* Where numrecs lies in a header (offset 4) and how it is written there. Returns the
 * field's width in bytes, 4 or 8; field has room for 8. */
int cdf_encode_numrecs(int format, int64_t numrecs, unsigned char *field);
/* It, from a header's first bytes, offset 0 on; -1: it is to be counted from the file's
 * size. */
int64_t cdf_decode_numrecs(int format, const unsigned char *head);

enum { CDF_MORE = 1 };

/* What decoding found wrong. */
struct cdf_fault {
    int64_t offset;   /* of the byte in the header where it lies */
    char reason[160]; /* one line without a full stop */
    int64_t likely;   /* after CDF_MORE: a guess how long the header is, or 0 */
};

/* Decodes the header at bytes[0..length) of a dataset whose file has file_size
 * bytes (INT64_MAX where it is not known). Returns
 *   NC_NOERR   *h is the header, layout included; free it with cdf_free
 *   CDF_MORE   the header goes on behind length (and length < file_size): call
 *              again with more bytes; *h is empty
 *   NC_ENOTBUILT an HDF5 or ADIOS file; NC_ENOTNC another format or a broken header;
 *   NC_EMAXDIMS, NC_EMAXATTS, NC_EMAXVARS: more than a dataset may have
 *   NC_EVARSIZE a variable too large where it stands
 *   NC_EBADTYPE, NC_EBADDIM, NC_EUNLIMIT, NC_EUNLIMPOS where these say it better;
 *              NC_ENOMEM
 * and on errors fills *fault (may be NULL) and base_error_set. One pass; time and
 * memory are O(length), whatever the bytes claim. Starts of the variables must
 * lie behind the header and not overlap; padding bytes may be anything; two
 * objects of one name are accepted, the first is the one that is found. A file does not
 * tell of variables that are not to be filled: all are in fill mode.
 * A file shorter than its variables need is accepted: what is missing reads as
 * zeros. HDF5's signature is looked for at 0, 512, 1024, 2048 ... in bytes. */
int cdf_decode(struct cdf_header *h, const void *bytes, size_t length, int64_t file_size,
               struct cdf_fault *fault);

/* Something that an examination found. */
struct cdf_finding {
    int code;       /* what cdf_decode says of it; NC_NOERR: it puts up with it */
    bool note;      /* not against the format, but worth knowing */
    int64_t offset; /* of the field in the file that is wrong, or of what is missing */
    const char *reason; /* without a full stop; lives as long as the call */
    int fix_length;     /* bytes that would be right at offset, 0 to 8 */
    unsigned char fix[8];
};
typedef void cdf_tell(void *to, const struct cdf_finding *finding);

/* Decodes likewise, but goes on behind faults, and tells of all of them, of padding,
 * names and sizes that are against the format though they can be read, and of data that
 * the file is too short for; file_size INT64_MAX: for none. tell may be NULL. Returns
 * NC_NOERR if it came through to the end; CDF_MORE (call again with more bytes, and do
 * not count what was told); the fault behind which nothing could be found; or NC_ENOMEM.
 */
int cdf_examine(const void *bytes, size_t length, int64_t file_size, cdf_tell *tell,
                void *to);

/* While data move to a new layout a file's first byte is this in place of 'C', so that no
 * reader takes the header for one; is it so? */
enum { CDF_MOVING = 'R' };
bool cdf_is_moving(const void *bytes, size_t length);

/* What a file that starts with these bytes is: NC_FORMAT_CLASSIC, NC_FORMAT_CDF2,
 * NC_FORMAT_CDF5, NC_FORMAT_NETCDF4, NC_FORMAT_BP or NC_FORMAT_UNKNOWN. */
int cdf_signature(const void *bytes, size_t length);

/* ---- layout ---- */

struct cdf_room {           /* all in bytes; see ncmpi__enddef */
    int64_t header_minfree; /* free room behind the header, or CDF_SOME_ROOM */
    int64_t fixed_align;    /* alignment of the fixed-size section's start */
    int64_t fixed_minfree;  /* free room behind the fixed-size section */
    int64_t record_align;   /* alignment of the record section's start */
    bool fixed_strict;      /* a section that could stay moves for its alignment; records
                             * without fixed-size variables, to where those would begin */
    bool record_strict;
};

/* A sixteenth of the header, a mebibyte at most: another attribute need not move data. */
enum { CDF_SOME_ROOM = -1 };

/* Gives every variable its place and computes size, begin_fixed, begin_record and
 * record_size. `before` is the layout to keep to where it can be kept (after a
 * redef), or NULL for a new file: no start ever decreases, and while the header
 * and the fixed-size variables fit their rooms, with the free bytes asked for behind
 * them, nothing moves but for a strict alignment.
 * NC_EVARSIZE: a variable, or a start, too large for the format's fields. */
int cdf_layout(struct cdf_header *h, const struct cdf_header *before,
               const struct cdf_room *room);

/* Counts the record variables and computes record_size, for the definitions as they are
 * now; cdf_layout does too. NC_EVARSIZE. */
int cdf_sum_records(struct cdf_header *h);

/* Where record `rec` of a record variable starts; rec is ignored for others. */
int64_t cdf_record_offset(const struct cdf_header *h, const struct cdf_var *v,
                          int64_t rec);

/* The most records that a dataset can have in this layout: the last one's bytes must have
 * offsets, and its number a field that does not mean something else. */
int64_t cdf_max_records(const struct cdf_header *h);

/* Bytes the file has with all its variables and records in it. */
int64_t cdf_file_size(const struct cdf_header *h);

/* A step of the way from one layout to another: length bytes at `from` go to `to`,
 * to >= from. The steps come last place first, so that each can be taken once all
 * before it are done. */
struct cdf_move {
    int64_t from, to, length;
};

/* Enumerates the steps from `before` to `after`, adjacent ones joined, for
 * before->numrecs records: call with *state zeroed until it returns false. Nothing that
 * stays is named, nothing is listed in memory. */
struct cdf_move_state {
    int started;
    int64_t rec;
    int var;
};
bool cdf_next_move(const struct cdf_header *before, const struct cdf_header *after,
                   struct cdf_move_state *state, struct cdf_move *move);

/* The bytes that move have places, from 0 for the last one in the file on downwards: how
 * many there are, and the step that begins (with its last byte) at a place; cdf_next_move
 * goes on from there. Time in proportion to the variables. */
int64_t cdf_move_total(const struct cdf_header *before, const struct cdf_header *after);
bool cdf_seek_move(const struct cdf_header *before, const struct cdf_header *after,
                   int64_t place, struct cdf_move_state *state, struct cdf_move *move);

/* Bytes that held something in `before`, and that after the move hold nothing: they are
 * in no variable of `after`, or in a new one that is not filled. They have places, from 0
 * up to `total`; what is before the records comes first. */
struct cdf_extent {
    int64_t offset, length;
};
struct cdf_vacancy {
    struct cdf_extent *list; /* nfixed before the records, then ntail of each record,
                              * counted from its start */
    int nfixed, ntail;
    int64_t fixed, tail; /* bytes of both */
    int64_t begin, step; /* the first record, and from one to the next */
    int64_t total;
};
/* NC_ENOMEM: there is nothing to be freed. */
int cdf_find_vacancy(struct cdf_vacancy *v, const struct cdf_header *before,
                     const struct cdf_header *after);
void cdf_free_vacancy(struct cdf_vacancy *v);

/* The bytes from a place on, which is less than the total, as far as they lie side by
 * side. Time in proportion to the variables. */
struct cdf_extent cdf_vacant_at(const struct cdf_vacancy *v, int64_t place);

/* ---- comparing definitions across processes ---- */

/* What cdf_compare found. */
struct cdf_difference {
    int64_t atts;   /* attributes of the same names whose type, length or values differ */
    int att_code;   /* of the first of them: one of NC_EMULTIDEFINE_ATTR_*, or
                     * NC_EMULTIDEFINE_VAR_FILL_VALUE */
    char text[512]; /* objects and both values: mine, then theirs */
};

/* NC_NOERR if both define the same dataset but for what attributes say, numrecs and fill
 * modes (the bytes of a header do not tell fill modes); else the first difference as one
 * of NC_EMULTIDEFINE_*, which text describes. Where there is none, text describes the
 * attributes that differ, as many as it has room for. Starts of variables are compared
 * where the headers have the same size: attributes may have moved them. */
int cdf_compare(const struct cdf_header *mine, const struct cdf_header *theirs,
                struct cdf_difference *d);

#endif
