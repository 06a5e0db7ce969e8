/* From text to a header, once through. */
#include <stdarg.h>
#include <stdio.h>

#include "base_error.h"
#include "base_mem.h"
#include "cdl_grammar.h"
#include "cdl_reader.h"

int cdl_yylex_init_extra(struct cdl_reader *r, void **scanner);

int cdl_fail(const struct cdl_reader *r, struct cdl_place at, int code,
             const char *format, ...)
{
    char reason[320];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return base_error_set(code, "%s: line %lld, column %lld: %s", r->source.name,
                          (long long)at.line, (long long)at.column, reason);
}

const char *cdl_title(const struct cdl_reader *r)
{
    return r->title;
}

int64_t cdl_taken(const struct cdl_reader *r)
{
    return r->taken;
}

/* The scanner comes back here when memory is short; the parser holds none. Whatever ends
 * the reading early is in r->err. */
static int parse(struct cdl_reader *r)
{
    void *scanner;
    if (cdl_yylex_init_extra(r, &scanner) != 0) return NC_ENOMEM;
    if (setjmp(r->short_memory) == 0)
        cdl_yyparse(r, scanner);
    else
        r->err = NC_ENOMEM;
    return r->err;
}

int cdl_read(const struct cdl_source *source, int format, const struct cdl_sink *sink,
             void *to, struct cdf_header *h)
{
    int err = NC_ENOMEM;
    struct cdl_reader *r = base_calloc(1, sizeof *r);
    if (r == NULL) return NC_ENOMEM;
    base_error_set(NC_NOERR, "no error"); /* so that what is reported is of this text */
    cdf_init(h, format == 0 ? 1 : format);
    r->source = *source;
    r->next = (struct cdl_place){1, 1};
    r->h = h;
    r->settled = format != 0;
    r->sink = sink;
    r->to = to;
    r->numbers = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (r->numbers != (locale_t)0) {
        err = parse(r);
        freelocale(r->numbers);
    }
    if (err != NC_NOERR) cdf_free(h);
    for (int i = 0; i < CDL_PIECES; i++)
        base_free(r->pieces[i]);
    cdl_values_free(&r->values);
    base_free(r->dimids);
    base_free(r);
    return err;
}
