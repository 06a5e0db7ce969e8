/* The definitions of a dataset. One function for each thing there is in the notation;
 * each is called on its first token and takes all that belong to it. */
#include "cdl.h"

#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_mem.h"
#include "cdl_values.h"

enum section { NO_SECTION, DIMENSIONS, VARIABLES, DATA, OTHERS };

struct parser {
    struct cdl_scan *s;
    struct cdf_header *h;
    enum section section;
    int asked; /* the format that _Format names, or 0 */
    struct cdl_values values;
    int *dimids; /* of the variable being defined */
    int dimids_capacity;
};

static const struct {
    const char *name;
    int type; /* 0: of netCDF-4 only */
} types[] = {
    {"byte", NC_BYTE},   {"char", NC_CHAR},     {"short", NC_SHORT},
    {"int", NC_INT},     {"long", NC_INT},      {"integer", NC_INT},
    {"float", NC_FLOAT}, {"real", NC_FLOAT},    {"double", NC_DOUBLE},
    {"ubyte", NC_UBYTE}, {"ushort", NC_USHORT}, {"uint", NC_UINT},
    {"int64", NC_INT64}, {"uint64", NC_UINT64}, {"string", 0},
};

static const struct {
    const char *name;
    enum section section;
} sections[] = {
    {"dimensions", DIMENSIONS}, {"variables", VARIABLES}, {"data", DATA},
    {"types", OTHERS},          {"group", OTHERS},
};

static const struct {
    const char *name;
    int format; /* 0: of netCDF-4 */
} formats[] = {
    {"classic", 1}, {"64-bit offset", 2}, {"64-bit data", 5},
    {"cdf5", 5},    {"netCDF-4", 0},      {"netCDF-4 classic model", 0},
};

/* Takes a token that must come; `wanted` says so to people. */
static int expect(struct parser *p, int kind, const char *wanted)
{
    if (p->s->kind != kind) return cdl_unexpected(p->s, wanted);
    cdl_next(p->s);
    return NC_NOERR;
}

/* Takes a name. */
static int expect_name(struct parser *p, char *name, const char *wanted)
{
    if (p->s->kind != CDL_NAME) return cdl_unexpected(p->s, wanted);
    int err = cdl_name(p->s, name);
    if (err == NC_NOERR) cdl_next(p->s);
    return err;
}

/* ---- dimensions ---- */

static int dimension_length(struct parser *p, int64_t *length)
{
    struct cdl_scan *s = p->s;
    *length = NC_UNLIMITED;
    if (!cdl_is(s, "unlimited")) {
        const struct cdl_number *n = &s->number;
        if (s->kind != CDL_NUMBER || n->kind == CONV_DOUBLE || n->quoted)
            return cdl_unexpected(s, "a length or UNLIMITED");
        if (n->kind == CONV_ULONGLONG)
            return cdl_fail(s, s->start, NC_EDIMSIZE, "a length of 2^63 or more");
        *length = n->value.i;
    }
    cdl_next(s);
    return NC_NOERR;
}

/* NAME = LENGTH, ... ; */
static int dimensions(struct parser *p)
{
    for (;; cdl_next(p->s)) {
        char name[NC_MAX_NAME + 1];
        const char *where = p->s->start;
        int64_t length;
        int dimid;
        int err = expect_name(p, name, "a dimension's name");
        if (err == NC_NOERR) err = expect(p, '=', "'='");
        if (err == NC_NOERR) err = dimension_length(p, &length);
        if (err == NC_NOERR)
            err = cdl_check(p->s, where, cdf_def_dim(p->h, name, length, &dimid));
        if (err != NC_NOERR) return err;
        if (p->s->kind != ',') return expect(p, ';', "',' or ';'");
    }
}

/* ---- attributes ---- */

/* Keeps in mind what format the text itself asks for. */
static int ask_format(struct parser *p, const char *where)
{
    const struct cdl_values *v = &p->values;
    for (size_t i = 0; v->type == NC_CHAR && i < sizeof formats / sizeof formats[0];
         i++) {
        if (strlen(formats[i].name) != v->used) continue;
        if (memcmp(formats[i].name, v->bytes, v->used) != 0) continue;
        p->asked = formats[i].format;
        if (p->asked != 0) return NC_NOERR;
        return cdl_fail(p->s, where, NC_ENOTSUPPORT, "the format is %s", formats[i].name);
    }
    return cdl_fail(p->s, where, NC_ENOTNC, "_Format names no format");
}

/* : NAME = VALUE, ... ;   of a type, or of one that the values tell */
static int attribute(struct parser *p, int varid, int type)
{
    char name[NC_MAX_NAME + 1];
    cdl_next(p->s);
    const char *where = p->s->start;
    int err = expect_name(p, name, "an attribute's name");
    if (err == NC_NOERR) err = expect(p, '=', "'='");
    if (err == NC_NOERR) err = cdl_values_read(p->s, &p->values);
    if (err == NC_NOERR) err = expect(p, ';', "',' or ';'");
    if (err != NC_NOERR) return err;
    if (varid == NC_GLOBAL && strcmp(name, "_Format") == 0) return ask_format(p, where);
    if (varid != NC_GLOBAL && type == 0 && strcmp(name, NC_FillValue) == 0)
        type = p->h->vars[varid].type;
    return cdl_values_store(p->s, where, &p->values, p->h, varid, name, type);
}

/* The variable that the current name is one of; -1 if it is none. */
static int variable_here(const struct parser *p)
{
    char name[NC_MAX_NAME + 1];
    int varid;
    if (p->s->kind != CDL_NAME || cdl_name(p->s, name) != NC_NOERR) return -1;
    return cdf_find_var(p->h, name, &varid) == NC_NOERR ? varid : -1;
}

/* VARIABLE : NAME = VALUE, ... ; */
static int variable_attribute(struct parser *p, int type)
{
    const char *where = p->s->start;
    int varid = variable_here(p);
    int length = (int)(p->s->at - where < 80 ? p->s->at - where : 80);
    if (varid < 0)
        return cdl_fail(p->s, where, NC_ENOTVAR, "there is no variable '%.*s'", length,
                        where);
    cdl_next(p->s);
    return attribute(p, varid, type);
}

/* ---- variables ---- */

/* The type that the current name stands for; -1 if for none. */
static int type_here(const struct cdl_scan *s)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (cdl_is(s, types[i].name)) return types[i].type;
    return -1;
}

static int add_dimid(struct parser *p, int ndims, int dimid)
{
    if (ndims == p->dimids_capacity) {
        int capacity = ndims + ndims / 2 + 16;
        int *grown = base_realloc(p->dimids, (size_t)capacity * sizeof *grown);
        if (grown == NULL) return NC_ENOMEM;
        p->dimids = grown;
        p->dimids_capacity = capacity;
    }
    p->dimids[ndims] = dimid;
    return NC_NOERR;
}

/* ( DIMENSION, ... )   or nothing */
static int shape(struct parser *p, int *ndims)
{
    *ndims = 0;
    if (p->s->kind != '(') return NC_NOERR;
    do {
        char name[NC_MAX_NAME + 1];
        int dimid;
        cdl_next(p->s);
        const char *where = p->s->start;
        int err = expect_name(p, name, "a dimension's name");
        if (err != NC_NOERR) return err;
        if (cdf_find_dim(p->h, name, &dimid) != NC_NOERR)
            return cdl_fail(p->s, where, NC_EBADDIM, "there is no dimension '%.80s'",
                            name);
        err = add_dimid(p, (*ndims)++, dimid);
        if (err != NC_NOERR) return err;
    } while (p->s->kind == ',');
    return expect(p, ')', "',' or ')'");
}

/* NAME SHAPE, ... ; */
static int variables(struct parser *p, int type)
{
    for (;; cdl_next(p->s)) {
        char name[NC_MAX_NAME + 1];
        const char *where = p->s->start;
        int ndims, varid;
        int err = expect_name(p, name, "a variable's name");
        if (err == NC_NOERR) err = shape(p, &ndims);
        if (err == NC_NOERR)
            err = cdl_check(p->s, where,
                            cdf_def_var(p->h, name, type, ndims, p->dimids, &varid));
        if (err != NC_NOERR) return err;
        if (p->s->kind != ',') return expect(p, ';', "',' or ';'");
    }
}

/* TYPE VARIABLES   or   TYPE ATTRIBUTE */
static int typed(struct parser *p)
{
    struct cdl_scan *s = p->s;
    int type = type_here(s);
    int length = (int)(s->at - s->start < 80 ? s->at - s->start : 80);
    if (type == 0)
        return cdl_fail(s, s->start, NC_ENOTSUPPORT, "'%.*s' is a type of netCDF-4 only",
                        length, s->start);
    if (type < 0)
        return cdl_fail(s, s->start, NC_EBADTYPE, "'%.*s' is no type", length, s->start);
    cdl_next(s);
    if (s->kind == ':') return attribute(p, NC_GLOBAL, type);
    if (s->kind == CDL_NAME && cdl_peek(s) == ':') return variable_attribute(p, type);
    return variables(p, type);
}

/* ---- all of it ---- */

/* A section's name followed by a colon begins that section, unless it is a variable
 * and the colon is one of an attribute, which follows without a blank. */
static enum section section_here(const struct parser *p)
{
    struct cdl_scan ahead = *p->s;
    if (p->s->kind != CDL_NAME) return NO_SECTION;
    size_t i = 0, n = sizeof sections / sizeof sections[0];
    while (i < n && !cdl_is(p->s, sections[i].name))
        i++;
    cdl_next(&ahead);
    if (i == n || ahead.kind != ':') return NO_SECTION;
    bool joined = ahead.at < ahead.end && strchr(" \t\r\n\f\v/", *ahead.at) == NULL;
    if (joined && variable_here(p) >= 0) return NO_SECTION;
    return sections[i].section;
}

/* One definition, or the beginning of a section; of DATA only the name is taken. */
static int definition(struct parser *p)
{
    struct cdl_scan *s = p->s;
    enum section section = section_here(p);
    if (section == OTHERS)
        return cdl_fail(s, s->start, NC_ENOTSUPPORT, "groups and types are of netCDF-4");
    if (section != NO_SECTION) {
        p->section = section;
        cdl_next(s);
        if (section != DATA) cdl_next(s);
        return NC_NOERR;
    }
    if (s->kind == ':') return attribute(p, NC_GLOBAL, 0);
    if (s->kind == CDL_NAME && cdl_peek(s) == ':')
        return variable_here(p) < 0 && type_here(s) >= 0 ? typed(p)
                                                         : variable_attribute(p, 0);
    if (s->kind == CDL_NAME && p->section == DIMENSIONS) return dimensions(p);
    if (s->kind == CDL_NAME && p->section == VARIABLES) return typed(p);
    return cdl_unexpected(s, p->section == NO_SECTION ? "'dimensions:', 'variables:', "
                                                        "'data:' or '}'"
                                                      : "a definition or '}'");
}

/* netcdf NAME { DEFINITIONS */
static int dataset(struct parser *p)
{
    struct cdl_scan *s = p->s;
    cdl_next(s);
    if (!cdl_is(s, "netcdf")) return cdl_unexpected(s, "'netcdf'");
    cdl_skip_to(s, '{');
    cdl_next(s);
    int err = expect(p, '{', "'{'");
    while (err == NC_NOERR && s->kind != '}' && p->section != DATA)
        err = definition(p);
    return err;
}

static int parse_as(struct cdl_scan *s, int format, int *asked, struct cdf_header *h)
{
    static const struct cdf_room room = {0, 4, 0, 4};
    struct parser p = {.s = s, .h = h};
    base_error_set(NC_NOERR, "no error"); /* so that what is told is of this text */
    cdf_init(h, format);
    cdl_scan_rewind(s);
    int err = dataset(&p);
    if (err == NC_NOERR) err = cdl_check(s, s->start, cdf_layout(h, NULL, &room));
    if (err != NC_NOERR) cdf_free(h);
    cdl_values_free(&p.values);
    base_free(p.dimids);
    *asked = p.asked;
    return err;
}

/* May a larger format have what this one has not? */
static bool too_small(int err)
{
    return err == NC_ESTRICTCDF2 || err == NC_EDIMSIZE || err == NC_EVARSIZE ||
           err == NC_EINVAL;
}

int cdl_header(struct cdl_scan *s, int format, struct cdf_header *h)
{
    int asked, err = parse_as(s, format == 0 ? 1 : format, &asked, h);
    if (format != 0) return err;
    for (int larger = 2; larger <= 5 && (too_small(err) || err == NC_NOERR);
         larger += 3) {
        if (err == NC_NOERR && s->least_format < larger) break;
        if (err == NC_NOERR) cdf_free(h);
        err = parse_as(s, larger, &asked, h);
    }
    if (err != NC_NOERR || asked == 0 || asked == h->format) return err;
    cdf_free(h);
    return parse_as(s, asked, &asked, h);
}
