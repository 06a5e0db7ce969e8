/* Parses a text into a header in one pass. */
#include "base_error.h"
#include "base_mem.h"
#include "cdl_grammar.h"
#include "cdl_reader.h"

int cdl_yylex_init_extra(struct cdl_reader *r, void **scanner);

const char *cdl_title(const struct cdl_reader *r)
{
    return r->title;
}

int64_t cdl_bytes_read(const struct cdl_reader *r)
{
    return r->bytes_read;
}

/* Runs the parser. If out of memory, the scanner jumps back to this function, and the
 * parser owns no memory at that point. If parsing ends early, r->err is the reason. */
static int parse(struct cdl_reader *r)
{
    void *scanner;
    if (cdl_yylex_init_extra(r, &scanner) != 0) return NC_ENOMEM;
    if (setjmp(r->no_memory) == 0)
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
    base_error_set(NC_NOERR, "no error"); /* discard earlier error messages */
    cdf_init(h, format == 0 ? 1 : format);
    r->source = *source;
    r->next = (struct cdl_place){1, 1};
    r->h = h;
    r->format_fixed = format != 0;
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
