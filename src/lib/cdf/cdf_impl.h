/* What the files of this room share with each other and with nobody else. */
#ifndef CDF_IMPL_H
#define CDF_IMPL_H

#include <endian.h>
#include <string.h>

#include "cdf.h"

/* Tags of the lists in a header. */
enum { CDF_TAG_ABSENT = 0, CDF_TAG_DIMS = 10, CDF_TAG_VARS = 11, CDF_TAG_ATTS = 12 };

/* No offset lies behind this, so that rounding one up to 4 cannot overflow. */
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

/* Bytes of a count, and of an offset, in a header of this format. */
static inline int cdf_count_width(int format)
{
    return format == 5 ? 8 : 4;
}

static inline int cdf_offset_width(int format)
{
    return format == 1 ? 4 : 8;
}

/* The longest dimension that may be defined, and that a file may have: of CDF-2, others
 * wrote lengths that not every reader takes for positive. */
int64_t cdf_max_dim(int format);
int64_t cdf_max_dim_read(int format);

/* Keeps a name of `length` bytes in the arena, in the place of `old` (may be NULL)
 * if that has room for it. NULL when memory is short; old is then as it was. */
const char *cdf_name_keep(struct base_arena *arena, const char *old, const char *text,
                          size_t length);

/* The forms a name is looked up in: composed if it is well-formed, else as it is. */
int cdf_name_find(const struct base_names *names, base_names_text *text, const void *of,
                  const char *name);

/* For the name tables: `of` is the array. */
const char *cdf_dim_text(const void *dims, int index);
const char *cdf_var_text(const void *vars, int index);

/* Gives a variable its dimensions: room in the arena for ndims ids, to be filled in
 * through *dimids before cdf_var_measure. NC_ENOMEM. */
int cdf_var_dims(struct cdf_header *h, struct cdf_var *v, int ndims, int **dimids);

/* From type and dimids computes shape, is_record, nelems and size. The ids are
 * good ones. NC_EUNLIMPOS, NC_EVARSIZE. */
int cdf_var_measure(struct cdf_header *h, struct cdf_var *v);

/* Is no variable too large for the format where it stands, in its section? After
 * cdf_sum_records. NC_EVARSIZE. */
int cdf_check_sizes(const struct cdf_header *h);

/* Do they say the same, whatever their names? */
bool cdf_same_values(const struct cdf_att *a, const struct cdf_att *b);

/* Room for `more` attributes behind count; NC_ENOMEM. */
int cdf_atts_reserve(struct cdf_header *h, struct cdf_atts *atts, int more);

/* Enters the attributes into the name table if the list has become long. Without
 * memory there is none, and look-ups are slower. */
void cdf_atts_index(struct cdf_header *h, struct cdf_atts *atts);

/* ---- examining: see cdf_examine ---- */

/* Where a variable's fields are, and whether its size could be computed. */
struct cdf_var_places {
    int64_t name, begin;
    bool known;
};

struct cdf_examiner {
    int64_t file_size;
    cdf_tell *tell; /* or NULL */
    void *to;
    int err;                     /* NC_ENOMEM once memory was short */
    struct cdf_var_places *vars; /* one for each that was read */
    int64_t capacity;
    struct base_names objects, atts; /* of the list being read */
};

/* As cdf_decode, but goes on behind faults where that is possible, and tells of them. */
int cdf_decode_whole(struct cdf_header *h, const void *bytes, size_t length,
                     struct cdf_examiner *e);

void cdf_examine_tell(struct cdf_examiner *e, const struct cdf_finding *f);

/* n bytes at offset, and what follows them up to a multiple of 4. */
void cdf_examine_padding(struct cdf_examiner *e, const unsigned char *bytes,
                         int64_t offset, int64_t n);
void cdf_examine_name(struct cdf_examiner *e, const unsigned char *bytes, int64_t length,
                      int64_t offset);

/* The last one read of its list; name is where its name stands. */
void cdf_examine_dim(struct cdf_examiner *e, const struct cdf_header *h, int id,
                     int64_t name);
void cdf_examine_att(struct cdf_examiner *e, const struct cdf_atts *atts, int id,
                     int64_t name);
int cdf_examine_var(struct cdf_examiner *e, const struct cdf_header *h,
                    const struct cdf_var_places *places, const unsigned char *bytes);

/* A variable whose size cannot be. */
void cdf_examine_forget(struct cdf_examiner *e, struct cdf_header *h, int varid);
int cdf_examine_numrecs(struct cdf_examiner *e, struct cdf_header *h, bool streaming);

/* What a file that is not a classic netCDF file is: a reason, and NC_ENOTBUILT
 * (another library of netCDF's kind reads it) or NC_ENOTNC in *code. */
const char *cdf_foreign(const unsigned char *bytes, size_t length, int64_t file_size,
                        int *code);

#endif
