/* Builds error messages that name the object, the index and the value. */
#include "api_errors.h"

#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "pnetcdf.h"

/* For the static analyzer, macros of the same names replace these functions. */
#undef api_refuse
#undef api_no_var
#undef api_no_att

int api_refuse(const struct api_dataset *d, int code)
{
    return base_error_named(code, "%s%s", d->ds.path, NULL);
}

int api_no_var(const struct api_dataset *d, int varid)
{
    if (varid == NC_GLOBAL)
        return base_error_set(NC_EGLOBAL, "variable id %d is NC_GLOBAL", varid);
    return base_error_set(NC_ENOTVAR, "variable id %d, but the dataset has %d variables",
                          varid, d->ds.header.nvars);
}

int api_no_dim(const struct cdf_header *h, int dimid)
{
    return base_error_set(NC_EBADDIM,
                          "dimension id %d, but the dataset has %d dimensions", dimid,
                          h->ndims);
}

int api_no_att(const struct cdf_header *h, int varid, const char *name)
{
    if (varid == NC_GLOBAL)
        return base_error_named(NC_ENOTATT, "global attribute '%.80s'%s", name, NULL);
    return base_error_named(NC_ENOTATT, "variable '%.80s' has no attribute '%.80s'",
                            h->vars[varid].name, name);
}

int api_explain_omitted(const struct api_dataset *d, int code, const char *what,
                        const char *name)
{
    char message[400], line[NC_MAX_NAME * 2 + 40];
    if (code == NC_NOERR || d->ds.omitted == NULL) return code;
    snprintf(message, sizeof message, "%s", base_error_detail(code));
    int n = snprintf(line, sizeof line, "\n%s%s (", what, name);
    const char *at = d->ds.omitted;
    if (strncmp(at, line + 1, (size_t)n - 1) != 0) at = strstr(at, line);
    if (at == NULL) return code;
    at += *at == '\n';
    return base_error_set(code, "%s; omitted from this netCDF-4 file: %.*s", message,
                          (int)strcspn(at, "\n"), at);
}

int api_longer_name(const char *old, const char *name)
{
    return base_error_named(
        NC_ENOTINDEFINE,
        "'%.80s' is longer than '%.80s', and the header has no space for it", name, old);
}

int api_null(int code, const char *argument)
{
    return base_error_named(code, "%s is NULL%s", argument, NULL);
}

int api_check_values(const char *what, const char *name, int xtype, enum conv_type type)
{
    int err = conv_check(xtype, type);
    if (err == NC_EBADTYPE)
        base_error_set(err, "%s '%.80s' has type %d", what, name, xtype);
    if (err == NC_ECHAR)
        base_error_set(err, "%s '%.80s' has type %s, but the values are %s", what, name,
                       cdf_type_name(xtype), type == CONV_TEXT ? "text" : "numbers");
    return err;
}

int api_range(const struct api_dataset *d, int varid)
{
    const struct cdf_var *v = &d->ds.header.vars[varid];
    return base_error_named(NC_ERANGE, "variable '%.80s' of type %s", v->name,
                            cdf_type_name(v->type));
}

int api_no_type(MPI_Datatype type)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;
    if (type == MPI_DATATYPE_NULL ||
        MPI_Type_get_name(type, name, &length) != MPI_SUCCESS)
        name[0] = '\0';
    return base_error_named(NC_EUNSPTETYPE, "%s%s",
                            name[0] == '\0' ? "an unnamed type" : name, NULL);
}
