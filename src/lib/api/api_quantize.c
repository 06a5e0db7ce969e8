/* Determines which variables are quantized, as requested by the program, by a hint, or by
 * an attribute of an opened file. */
#include <string.h>

#include "api_dataset.h"
#include "api_safe.h"
#include "api_errors.h"
#include "base_rules.h"
#include "conv_quantize.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

/* Names of the attributes (of type int) that record each mode, as in netCDF-C. */
static const char *const attributes[CONV_QUANTIZE_MODES] = {
    [CONV_QUANTIZE_BITGROOM] = "_QuantizeBitGroomNumberOfSignificantDigits",
    [CONV_QUANTIZE_GRANULARBR] = NC_QUANTIZE_GRANULARBR_ATT_NAME,
    [CONV_QUANTIZE_BITROUND] = NC_QUANTIZE_BITROUND_ATT_NAME,
};

static void set_quantize(struct cdf_var *v, int mode, int digits)
{
    v->quantize = (unsigned char)mode;
    v->digits = (unsigned char)(mode == CONV_QUANTIZE_NONE ? 0 : digits);
}

/* ---- set by the program ---- */

static int same_quantize_all(struct api_dataset *d, int varid, int mode, int digits)
{
    struct api_args a;
    if (!d->ds.safe_mode) return NC_NOERR;
    api_args_start(&a, "ncmpix_def_var_quantize");
    api_arg_number(&a, "varid", NC_EMULTIDEFINE_FNC_ARGS, varid);
    api_arg_number(&a, "mode", NC_EMULTIDEFINE_FNC_ARGS, mode);
    api_arg_number(&a, "digits", NC_EMULTIDEFINE_FNC_ARGS, digits);
    return api_args_agree_all(&d->ds, &a);
}

static int check_quantize(const struct cdf_var *v, int mode, int digits)
{
    int most = conv_quantize_max_digits(mode, v->type);
    if (mode == CONV_QUANTIZE_NONE) return NC_NOERR;
    if (mode < 0 || mode >= CONV_QUANTIZE_MODES)
        return base_error_set(NC_EINVAL, "quantize mode %d", mode);
    if (most == 0)
        return base_error_set(
            NC_EINVAL,
            "variable '%.80s' has type %s, but only float and double can be quantized",
            v->name, cdf_type_name(v->type));
    if (digits >= 1 && digits <= most) return NC_NOERR;
    return base_error_set(NC_EINVAL,
                          "variable '%.80s': %d digits or bits were requested, but the "
                          "valid range is 1 to %d",
                          v->name, digits, most);
}

int ncmpix_def_var_quantize(int ncid, int varid, int mode, int digits)
{
    struct api_dataset *d;
    int err = api_find_defining(ncid, &d);
    if (err == NC_NOERR) err = same_quantize_all(d, varid, mode, digits);
    if (err != NC_NOERR) return err;
    if (api_var(d, varid) == NULL) return api_no_var(d, varid);
    struct cdf_var *v = &d->ds.header.vars[varid];
    if (!d->fresh && varid < d->before.nvars)
        return base_error_named(NC_ELATEDEF, "variable '%.80s'%s", v->name, NULL);
    err = check_quantize(v, mode, digits);
    if (err != NC_NOERR) return err;
    /* A failed enddef may have added the attribute for another mode. */
    if (v->quantize) (void)cdf_del_att(&d->ds.header, varid, attributes[v->quantize]);
    set_quantize(v, mode, digits);
    return NC_NOERR;
}

int ncmpix_inq_var_quantize(int ncid, int varid, int *mode, int *digits)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    const struct cdf_var *v = api_var(d, varid);
    if (v == NULL) return api_no_var(d, varid);
    if (mode != NULL) *mode = v->quantize;
    if (digits != NULL) *digits = v->digits;
    return NC_NOERR;
}

int api_quantize_add_attributes(struct api_dataset *d)
{
    struct cdf_header *h = &d->ds.header;
    int err = NC_NOERR;
    for (int id = d->fresh ? 0 : d->before.nvars; id < h->nvars && err == NC_NOERR;
         id++) {
        const struct cdf_var *v = &h->vars[id];
        int digits = v->digits;
        void *xvalue;
        if (!v->quantize) continue;
        err = cdf_put_att(h, id, attributes[v->quantize], NC_INT, 1, &xvalue);
        if (err == NC_NOERR) conv_put(xvalue, NC_INT, &digits, CONV_INT, 1, NULL);
    }
    return err;
}

/* ---- set by a hint ---- */

/* Returns whether a variable contains coordinates. These must be exact, because programs
 * use them to look up other values. */
static bool is_coordinate(const struct cdf_header *h, const struct cdf_var *v)
{
    return v->ndims == 1 && strcmp(v->name, h->dims[v->dimids[0]].name) == 0;
}

void api_quantize_hinted(struct api_dataset *d, int varid)
{
    struct cdf_var *v = &d->ds.header.vars[varid];
    struct base_rule rule;
    base_rules_find(base_quantize_modes, d->ds.hints.quantize, v->name, &rule);
    if (!rule.named && is_coordinate(&d->ds.header, v)) return;
    /* Types that do not support this precision are skipped: they have no bits to drop. */
    if (rule.number <= conv_quantize_max_digits(rule.mode, v->type))
        set_quantize(v, rule.mode, rule.number);
}

/* ---- set by the file ---- */

/* Sets mode and digits from an attribute if it is valid and describes a quantization. If
 * a variable has several such attributes, the highest mode takes precedence. */
static void read_attribute(struct cdf_var *v, const struct cdf_att *a)
{
    int digits, mode = CONV_QUANTIZE_MODES - 1;
    if (a->type != NC_INT || a->nelems != 1) return;
    while (mode > v->quantize && strcmp(a->name, attributes[mode]) != 0)
        mode--;
    if (mode == v->quantize) return;
    conv_get(&digits, CONV_INT, a->values, NC_INT, 1);
    if (digits >= 1 && digits <= conv_quantize_max_digits(mode, v->type))
        set_quantize(v, mode, digits);
}

void api_quantize_opened(struct api_dataset *d)
{
    struct cdf_header *h = &d->ds.header;
    for (int id = 0; id < h->nvars; id++)
        for (int i = 0; i < h->vars[id].atts.count; i++)
            read_attribute(&h->vars[id], &h->vars[id].atts.list[i]);
    api_quantize_update(d);
}

void api_quantize_update(struct api_dataset *d)
{
    d->quantizes = false;
    for (int id = 0; id < d->ds.header.nvars && !d->quantizes; id++)
        d->quantizes = d->ds.header.vars[id].quantize != CONV_QUANTIZE_NONE;
}
