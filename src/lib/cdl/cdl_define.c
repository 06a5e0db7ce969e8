/* Builds the header from the definitions, and passes values to an attribute or to the
 * sink. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base_error.h"
#include "base_mem.h"
#include "cdl_reader.h"

static const struct {
    const char *name;
    int type; /* 0 if only netCDF-4 has the type */
} types[] = {
    {"byte", NC_BYTE},   {"char", NC_CHAR},     {"short", NC_SHORT},
    {"int", NC_INT},     {"long", NC_INT},      {"integer", NC_INT},
    {"float", NC_FLOAT}, {"real", NC_FLOAT},    {"double", NC_DOUBLE},
    {"ubyte", NC_UBYTE}, {"ushort", NC_USHORT}, {"uint", NC_UINT},
    {"int64", NC_INT64}, {"uint64", NC_UINT64}, {"string", 0},
};

static const struct {
    const char *name;
    enum cdl_section section;
} sections[] = {
    {"dimensions", CDL_DIMENSIONS}, {"variables", CDL_VARIABLES}, {"data", CDL_DATA},
    {"types", CDL_OTHERS},          {"group", CDL_OTHERS},
};

static const struct {
    const char *name;
    int format; /* 0 for netCDF-4 */
} formats[] = {
    {"classic", 1},       {"64-bit offset", 2},
    {"64-bit-offset", 2}, {"64-bit data", 5},
    {"64-bit-data", 5},   {"cdf5", 5},
    {"netCDF-4", 0},      {"netCDF-4 classic model", 0},
};

/* Attributes with which ncdump describes how netCDF-4 files are stored. */
static const char *const storage[] = {
    "_ChunkSizes", "_Codecs",     "_DeflateLevel", "_Endianness",
    "_Filter",     "_Fletcher32", "_IsNetcdf4",    "_NCProperties",
    "_NoFill",     "_Shuffle",    "_Storage",      "_SuperblockVersion",
};

enum cdl_section cdl_section_named(const char *name)
{
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (strcasecmp(name, sections[i].name) == 0) return sections[i].section;
    return CDL_NO_SECTION;
}

int cdl_type_named(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcasecmp(name, types[i].name) == 0) return types[i].type;
    return -1;
}

/* ---- errors, and larger formats ---- */

/* Adds the position in the text to the message of a failed definition. Returns err, which
 * may be NC_NOERR. */
static int check_definition(const struct cdl_reader *r, struct cdl_place at, int err)
{
    char detail[256];
    if (err == NC_NOERR || err == NC_ENOMEM) return err;
    snprintf(detail, sizeof detail, "%s", base_error_detail(err));
    return cdl_fail(r, at, err, "%s", detail[0] == '\0' ? base_error_name(err) : detail);
}

/* Returns whether to retry a failed definition in a larger format. If so, switches to
 * that format and records the reason. Earlier definitions remain valid in it. */
static bool raise_format(struct cdl_reader *r, struct cdl_place at, int err)
{
    struct cdf_header *h = r->h;
    bool may = err == NC_ESTRICTCDF2 || err == NC_EDIMSIZE || err == NC_EVARSIZE ||
               err == NC_EINVAL;
    if (!may || r->format_fixed || h->format == 5) return false;
    r->raised = check_definition(r, at, err);
    snprintf(r->why_raised, sizeof r->why_raised, "%s", base_error_detail(err));
    h->format = h->format == 1 ? 2 : 5;
    return true;
}

/* Sets the format that the text requests, unless the format is already fixed. */
static int set_format(struct cdl_reader *r, int format)
{
    if (r->format_fixed) return NC_NOERR;
    if (format < r->h->format) return base_error_set(r->raised, "%s", r->why_raised);
    r->h->format = format;
    r->format_fixed = true;
    return NC_NOERR;
}

/* ---- dimensions ---- */

int cdl_length(const struct cdl_reader *r, struct cdl_place at,
               const struct cdl_number *n, int64_t *length)
{
    if (n->kind == CONV_DOUBLE || n->quoted)
        return cdl_fail(r, at, NC_ENOTNC, "the length is not a whole number");
    if (n->kind == CONV_ULONGLONG)
        return cdl_fail(r, at, NC_EDIMSIZE, "the length is 2^63 or more");
    *length = n->value.i;
    return NC_NOERR;
}

int cdl_define_dim(struct cdl_reader *r, struct cdl_place at, const char *name,
                   int64_t length)
{
    int dimid, err;
    do
        err = cdf_def_dim(r->h, name, length, &dimid);
    while (raise_format(r, at, err));
    return check_definition(r, at, err);
}

/* ---- variables ---- */

bool cdl_is_variable(const struct cdl_reader *r, const char *name)
{
    int varid;
    return cdf_find_var(r->h, name, &varid) == NC_NOERR;
}

int cdl_add_dim(struct cdl_reader *r, struct cdl_place at, const char *name)
{
    int dimid;
    if (cdf_find_dim(r->h, name, &dimid) != NC_NOERR)
        return cdl_fail(r, at, NC_EBADDIM, "no dimension is named '%.80s'", name);
    void *grown =
        base_grow(r->dimids, &r->dimids_capacity, r->ndims + 1, sizeof *r->dimids);
    if (grown == NULL) return NC_ENOMEM;
    r->dimids = grown;
    r->dimids[r->ndims++] = dimid;
    return NC_NOERR;
}

int cdl_define_var(struct cdl_reader *r, struct cdl_place at, int type)
{
    int varid, err;
    do
        err = cdf_def_var(r->h, r->variable, type, r->ndims, r->dimids, &varid);
    while (raise_format(r, at, err));
    return check_definition(r, at, err);
}

/* ---- attributes ---- */

int cdl_find_owner(const struct cdl_reader *r, struct cdl_place at,
                   struct cdl_owner *owner)
{
    if (owner->variable == NULL) return NC_NOERR;
    if (cdf_find_var(r->h, owner->variable, &owner->varid) == NC_NOERR) return NC_NOERR;
    return cdl_fail(r, at, NC_ENOTVAR, "no variable is named '%.80s'", owner->variable);
}

/* Records the format that an attribute requests. */
static int request_format(struct cdl_reader *r, struct cdl_place at)
{
    const struct cdl_values *v = &r->values;
    for (size_t i = 0; v->type == NC_CHAR && i < sizeof formats / sizeof formats[0];
         i++) {
        if (strlen(formats[i].name) != v->used) continue;
        if (memcmp(formats[i].name, v->bytes, v->used) != 0) continue;
        if (formats[i].format != 0 || r->format_fixed)
            return set_format(r, formats[i].format);
        return cdl_fail(r, at, NC_ENOTSUPPORT, "format '%s' is not supported here",
                        formats[i].name);
    }
    return cdl_fail(r, at, NC_ENOTNC, "the value of _Format is not the name of a format");
}

static bool is_storage(const char *name)
{
    for (size_t i = 0; i < sizeof storage / sizeof storage[0]; i++)
        if (strcmp(name, storage[i]) == 0) return true;
    return false;
}

int cdl_define_att(struct cdl_reader *r, struct cdl_place at,
                   const struct cdl_owner *owner, const char *name)
{
    const struct cdl_values *v = &r->values;
    int type = owner->type, varid = owner->varid, err;
    void *x;
    if (varid == NC_GLOBAL && strcmp(name, "_Format") == 0) return request_format(r, at);
    if (is_storage(name)) return NC_NOERR;
    if (varid != NC_GLOBAL && type == 0 && strcmp(name, NC_FillValue) == 0)
        type = r->h->vars[varid].type;
    type = cdl_values_type(v, type);
    if (type < 0)
        return cdl_fail(r, at, NC_ECHAR, "attribute '%.80s' needs %s", name,
                        v->type == NC_CHAR ? "numbers instead of text"
                                           : "text instead of numbers");
    do
        err = cdf_put_att(r->h, varid, name, type, cdl_values_count(v), &x);
    while (raise_format(r, at, err));
    if (err != NC_NOERR) return check_definition(r, at, err);
    if (cdl_values_write(v, type, x) == NC_NOERR) return NC_NOERR;
    return cdl_fail(r, at, NC_ERANGE,
                    "a value of attribute '%.80s' is out of range for its type", name);
}

/* ---- the end ---- */

int cdl_define_end(struct cdl_reader *r, struct cdl_place at)
{
    static const struct cdf_padding room = {.fixed_align = 4, .record_align = 4};
    struct cdf_header *h = r->h;
    int err;
    r->title[r->title_end] = '\0';
    if (!r->format_fixed && h->format < r->least_format) h->format = r->least_format;
    do
        err = cdf_layout(h, NULL, &room);
    while (raise_format(r, at, err));
    if (err == NC_NOERR && r->sink != NULL) return r->sink->begin(r->to, r);
    return check_definition(r, at, err);
}

/* ---- values ---- */

int cdl_add_number(struct cdl_reader *r, struct cdl_place at, const struct cdl_number *n)
{
    if (r->section == CDL_DATA) return r->sink->number(r->to, at, n);
    return cdl_values_number(r, at, &r->values, n);
}

int cdl_add_fill(struct cdl_reader *r, struct cdl_place at)
{
    if (r->section == CDL_DATA) return r->sink->fill(r->to, at);
    return cdl_fail(r, at, NC_ENOTNC, "'_' is not a valid value here");
}

int cdl_begin_string(struct cdl_reader *r, struct cdl_place at)
{
    if (r->section == CDL_DATA) return r->sink->string(r->to, at);
    return cdl_values_string(r, at, &r->values);
}

int cdl_add_string_part(struct cdl_reader *r, const char *bytes, size_t n)
{
    if (r->section == CDL_DATA) return r->sink->part(r->to, bytes, n);
    return cdl_values_text(&r->values, bytes, n);
}

int cdl_end_string(struct cdl_reader *r)
{
    return r->section == CDL_DATA ? r->sink->string_end(r->to) : NC_NOERR;
}

int cdl_begin_variable(struct cdl_reader *r, struct cdl_place at, const char *name)
{
    int varid;
    if (cdf_find_var(r->h, name, &varid) == NC_NOERR)
        return r->sink->variable(r->to, at, varid);
    return cdl_fail(r, at, NC_ENOTVAR, "no variable is named '%.80s'", name);
}
