/* Declarations that are private to this module. */
#ifndef CDF_IMPL_H
#define CDF_IMPL_H

#include <endian.h>
#include <string.h>

#include "cdf.h"

/* Tags for the lists in a header. */
enum { CDF_TAG_ABSENT = 0, CDF_TAG_DIMS = 10, CDF_TAG_VARS = 11, CDF_TAG_ATTS = 12 };

/* The largest offset. Rounding it up to a multiple of 4 cannot overflow. */
#define CDF_MAX_OFFSET (INT64_MAX - 3)

static inline int64_t cdf_pad4(int64_t n)
{
    return (n + 3) & ~(int64_t)3;
}

static inline uint32_t cdf_load32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return be32toh(v);
}

static inline uint64_t cdf_load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return be64toh(v);
}

static inline unsigned char *cdf_store32(unsigned char *p, uint32_t v)
{
    v = htobe32(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

static inline unsigned char *cdf_store64(unsigned char *p, uint64_t v)
{
    v = htobe64(v);
    memcpy(p, &v, sizeof v);
    return p + sizeof v;
}

/* Return the width in bytes of a count, and of an offset, in a header of this format. */
static inline int cdf_count_width(int format)
{
    return format == 5 ? 8 : 4;
}

static inline int cdf_offset_width(int format)
{
    return format == 1 ? 4 : 8;
}

/* Return the maximum length of a dimension that can be defined, and the maximum accepted
 * in a file. They differ because some CDF-2 writers store lengths that some readers
 * interpret as negative. */
int64_t cdf_max_dim(int format);
int64_t cdf_max_dim_read(int format);

/* Copies a name of `length` bytes to the arena. Overwrites `old` (may be NULL) if the
 * name fits there. Returns NULL if out of memory, and `old` is then unchanged. */
const char *cdf_name_store(struct base_arena *arena, const char *old, const char *text,
                           size_t length);

/* Looks up the composed form of a valid name, or an invalid name as it is. */
int cdf_name_find(const struct base_names *names, base_names_text *text, const void *of,
                  const char *name);

/* Callbacks for name tables. The first argument is the array. */
const char *cdf_dim_text(const void *dims, int index);
const char *cdf_var_text(const void *vars, int index);

/* Allocates a variable's ndims dimension ids in the arena. The caller sets (*dimids)[]
 * before it calls cdf_var_measure. NC_ENOMEM. */
int cdf_var_dims(struct cdf_header *h, struct cdf_var *v, int ndims, int **dimids);

/* Computes shape, is_record, nelems and size from type and dimids, which must be valid.
 * NC_EUNLIMPOS, NC_EVARSIZE. */
int cdf_var_measure(struct cdf_header *h, struct cdf_var *v);

/* Checks that no variable is too large for its position in its section. Call
 * cdf_sum_records first. NC_EVARSIZE. */
int cdf_check_sizes(const struct cdf_header *h);

/* Returns whether type, length and values are equal. Ignores names. */
bool cdf_same_values(const struct cdf_att *a, const struct cdf_att *b);

/* Reserves space for `more` attributes. NC_ENOMEM. */
int cdf_atts_reserve(struct cdf_header *h, struct cdf_atts *atts, int more);

/* Adds the attributes to a name table if the list is long. If out of memory, there is no
 * table, and look-ups are slower. */
void cdf_atts_index(struct cdf_header *h, struct cdf_atts *atts);

/* ---- cdf_validate ---- */

/* Header offsets of a variable's fields, and whether its size and place are known. */
struct cdf_var_places {
    int64_t name, begin;
    bool known;
};

struct cdf_validator {
    int64_t file_size;
    cdf_report_fn *report; /* may be NULL */
    void *to;
    int err;                     /* NC_ENOMEM once an allocation has failed */
    struct cdf_var_places *vars; /* an entry for each variable read so far */
    int64_t capacity;
    struct base_names objects, atts; /* names in the lists being read */
};

void cdf_validate_report(struct cdf_validator *e, const struct cdf_finding *f);

/* Checks the padding after n bytes at `offset`, up to a multiple of 4. */
void cdf_validate_padding(struct cdf_validator *e, const unsigned char *bytes,
                          int64_t offset, int64_t n);
void cdf_validate_name(struct cdf_validator *e, const unsigned char *bytes,
                       int64_t length, int64_t offset);

/* Check the last dimension, attribute or variable read. `name` is the name's offset. */
void cdf_validate_dim(struct cdf_validator *e, const struct cdf_header *h, int id,
                      int64_t name);
void cdf_validate_att(struct cdf_validator *e, const struct cdf_atts *atts, int id,
                      int64_t name);
int cdf_validate_var(struct cdf_validator *e, const struct cdf_header *h,
                     const struct cdf_var_places *places, const unsigned char *bytes);

/* Excludes a variable whose size is invalid from the layout checks. */
void cdf_validate_free(struct cdf_validator *e, struct cdf_header *h, int varid);
int cdf_validate_numrecs(struct cdf_validator *e, struct cdf_header *h, bool streaming);

/* Reports variables that extend beyond the end of the file, and bytes after the data. */
void cdf_validate_file_size(struct cdf_validator *e, const struct cdf_header *h);

/* Describes a file that is not a classic netCDF file. Sets *code to NC_ENOTBUILT if a
 * related library can read the file, otherwise to NC_ENOTNC. */
const char *cdf_foreign(const unsigned char *bytes, size_t length, int64_t file_size,
                        int *code);

#endif
