/* Writes Fortran programs, in free or fixed form, that create the dataset (see gen_c.c).
 * Both use the nfmpi_ functions, because the functions in module pnetcdf cannot create
 * attributes of unsigned types. Fortran has no unsigned types, so unsigned values are put
 * as values of a wider type. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "conv.h"
#include "gen.h"
#include "util_number.h"

static const struct {
    const char *nf, *type, *suffix,
        *values; /* `values` is the name of the array that contains the values */
} types[] = {
    [NC_BYTE] = {"nf_byte", "integer*1", "int1", "v1"},
    [NC_CHAR] = {"nf_char", "", "text", "text"},
    [NC_SHORT] = {"nf_short", "integer*2", "int2", "v2"},
    [NC_INT] = {"nf_int", "integer", "int", "v4"},
    [NC_FLOAT] = {"nf_float", "real", "real", "r4"},
    [NC_DOUBLE] = {"nf_double", "double precision", "double", "r8"},
    [NC_UBYTE] = {"nf_ubyte", "integer*2", "int2", "v2"},
    [NC_USHORT] = {"nf_ushort", "integer", "int", "v4"},
    [NC_UINT] = {"nf_uint", "integer*8", "int8", "v8"},
    [NC_INT64] = {"nf_int64", "integer*8", "int8", "v8"},
    [NC_UINT64] = {"nf_uint64", "integer*8", "int8", "v8"},
};

enum { LINE = 48, PIECE = 1024 };

/* Describes how a statement is split into lines. A line is filled up to its last column,
 * because trailing blanks would become part of quoted text. */
static const struct form {
    const char *first, *next, *more; /* prefix of the first line, prefix of the other
                                      * lines, suffix of all lines but the last */
    int width;
} fixed_form = {"      ", "     +", "", 66}, free_form = {"  ", "&", "&", 90};

static const struct form *form_of(const struct gen *g)
{
    return g->sink == &gen_f77 ? &fixed_form : &free_form;
}

/* The statement under construction. The longest statement contains a name, each byte of
 * which may take 15 characters. */
static struct {
    char text[16 * NC_MAX_NAME];
    int length;
} statement;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = sizeof statement.text - (size_t)statement.length;
    int n = vsnprintf(statement.text + statement.length, room, format, args);
    va_end(args);
    statement.length += n < (int)room ? n : (int)room - 1;
}

static void end_statement(struct gen *g)
{
    const struct form *f = form_of(g);
    for (int i = 0; i < statement.length; i += f->width) {
        int n = statement.length - i < f->width ? statement.length - i : f->width;
        bool last = i + n == statement.length;
        util_out_text(g->out, i == 0 ? f->first : f->next);
        util_out_bytes(g->out, statement.text + i, (size_t)n);
        util_out_text(g->out, last ? "" : f->more);
        util_out_text(g->out, "\n");
    }
    statement.length = 0;
}

/* Writes a whole statement. */
#define PUT_STATEMENT(...) (add(__VA_ARGS__), end_statement(g))

/* ---- values ---- */

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '\'' && c != '\\' && c != '&' && c != '!';
}

/* Adds a name or path as a character expression. */
static void add_string(const char *text)
{
    add("'");
    for (; *text != '\0'; text++)
        if (is_plain((unsigned char)*text))
            add("%c", *text);
        else
            add("'//char(%d)//'", (unsigned char)*text);
    add("'");
}

/* Writes statements that assign text: runs of plain characters, each at most one line
 * long, and all other bytes one at a time. */
static void put_text(struct gen *g, const char *text, int64_t n)
{
    for (int64_t i = 0; i < n;) {
        int64_t end = i;
        while (end < n && end - i < LINE && is_plain((unsigned char)text[end]))
            end++;
        if (end > i) {
            PUT_STATEMENT("text(%" PRId64 ":%" PRId64 ") = '%.*s'", i + 1, end,
                          (int)(end - i), text + i);
            i = end;
        } else {
            PUT_STATEMENT("text(%" PRId64 ":%" PRId64 ") = char(%d)", i + 1, i + 1,
                          (unsigned char)text[i]);
            i++;
        }
    }
}

static void add_real(int type, const char *external)
{
    char text[UTIL_NUMBER_MAX];
    double value;
    conv_get(&value, CONV_DOUBLE, external, type, 1);
    if (!isfinite(value) || (value == 0 && signbit(value))) {
        long long bits;
        conv_get(&bits, CONV_LONGLONG, external, type == NC_FLOAT ? NC_INT : NC_INT64, 1);
        bool least = bits == INT64_MIN;
        add(type == NC_FLOAT ? "transfer(int(%lld_8,4), 0.0)" : "transfer(%lld_8%s, 0d0)",
            least ? bits + 1 : bits, least ? "-1_8" : "");
        return;
    }
    *util_put_real(text, value, type == NC_FLOAT ? 9 : 17) = '\0';
    char *e = strchr(text, 'e');
    int digits = e == NULL ? (int)strlen(text) : (int)(e - text);
    add("%.*s%s%c%s", digits, text, memchr(text, '.', (size_t)digits) ? "" : ".",
        type == NC_FLOAT ? 'e' : 'd', e == NULL ? "0" : e + 1);
}

/* Adds a number. Returns false if no Fortran integer can represent it. */
static bool add_number(int type, const char *external)
{
    long long i;
    if (type == NC_FLOAT || type == NC_DOUBLE) {
        add_real(type, external);
        return true;
    }
    if (conv_get(&i, CONV_LONGLONG, external, type, 1) != NC_NOERR) return false;
    if (i == INT64_MIN)
        add("-9223372036854775807_8-1_8");
    else
        add("%lld_8", i);
    return true;
}

/* Writes statements that assign the values to the array of their type. */
static int put_values(struct gen *g, const char *name, int type, int64_t n,
                      const char *external)
{
    const int size = cdf_type_size(type), line = 4;
    if (type == NC_CHAR) put_text(g, external, n);
    for (int64_t i = 0; i < n && type != NC_CHAR; i++) {
        if (i % line == 0)
            add("%s(%" PRId64 ":%" PRId64 ") = (/ ", types[type].values, i + 1,
                i + line < n ? i + line : n);
        if (!add_number(type, external + i * size))
            return gen_complain(base_error_set(
                NC_ERANGE, "'%.80s' has a value that no Fortran integer can represent",
                name));
        add(i + 1 == n || i % line == line - 1 ? " /)" : ", ");
        if (i + 1 == n || i % line == line - 1) end_statement(g);
    }
    return 0;
}

/* ---- definitions ---- */

static int put_atts(struct gen *g, int varid, const struct cdf_atts *atts)
{
    for (int i = 0; i < atts->count; i++) {
        const struct cdf_att *a = &atts->list[i];
        if (put_values(g, a->name, a->type, a->nelems, a->values) != 0) return -1;
        PUT_STATEMENT("n = %" PRId64, a->nelems);
        add("call check(nfmpi_put_att_%s(ncid, %d, ", types[a->type].suffix, varid + 1);
        add_string(a->name);
        if (a->type != NC_CHAR) add(", %s", types[a->type].nf);
        PUT_STATEMENT(", n, %s))", types[a->type].values);
    }
    return 0;
}

static int put_var(struct gen *g, int varid)
{
    const struct cdf_var *v = &g->header.vars[varid];
    for (int i = 0; i < v->ndims; i++)
        PUT_STATEMENT("dims(%d) = %d", v->ndims - i, v->dimids[i] + 1);
    add("call check(nfmpi_def_var(ncid, ");
    add_string(v->name);
    PUT_STATEMENT(", %s, %d, dims, id))", types[v->type].nf, v->ndims);
    return put_atts(g, varid, &v->atts);
}

/* Returns `most` or the length of the longest attribute, whichever is larger. */
static int64_t longest(const struct cdf_atts *atts, int64_t most)
{
    for (int i = 0; i < atts->count; i++)
        if (atts->list[i].nelems > most) most = atts->list[i].nelems;
    return most;
}

static void put_declarations(struct gen *g)
{
    const struct cdf_header *h = &g->header;
    int64_t most = longest(&h->gatts, PIECE);
    int ndims = 1;
    for (int i = 0; i < h->nvars; i++) {
        most = longest(&h->vars[i].atts, most);
        if (h->vars[i].ndims > ndims) ndims = h->vars[i].ndims;
    }
    PUT_STATEMENT("program make_dataset");
    PUT_STATEMENT("implicit none");
    PUT_STATEMENT("include 'mpif.h'");
    PUT_STATEMENT("include 'pnetcdf.inc'");
    PUT_STATEMENT("integer :: ncid, id, rank, ierr");
    PUT_STATEMENT("integer(kind=MPI_OFFSET_KIND) :: n, r");
    PUT_STATEMENT("integer :: dims(%d)", ndims);
    PUT_STATEMENT("integer(kind=MPI_OFFSET_KIND) :: first(%d), count(%d)", ndims, ndims);
    for (int type = NC_BYTE; type <= NC_INT64; type++)
        if (type != NC_CHAR && (type <= NC_DOUBLE || type == NC_INT64))
            PUT_STATEMENT("%s :: %s(%" PRId64 ")", types[type].type, types[type].values,
                          most);
    PUT_STATEMENT("character(len=%" PRId64 ") :: text", most);
}

static int begin(struct gen *g)
{
    static const char *const modes[] = {
        [1] = "0", [2] = "nf_64bit_offset", [5] = "nf_64bit_data"};
    const struct cdf_header *h = &g->header;
    statement.length = 0;
    put_declarations(g);
    PUT_STATEMENT("call MPI_Init(ierr)");
    PUT_STATEMENT("call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)");
    add("call check(nfmpi_create(MPI_COMM_WORLD, ");
    add_string(g->dataset);
    PUT_STATEMENT(", ior(nf_clobber, %s), MPI_INFO_NULL, ncid))", modes[h->format]);
    for (int i = 0; i < h->ndims; i++) {
        PUT_STATEMENT("n = %" PRId64, h->dims[i].length);
        add("call check(nfmpi_def_dim(ncid, ");
        add_string(h->dims[i].name);
        PUT_STATEMENT(", n, id))");
    }
    int status = put_atts(g, NC_GLOBAL, &h->gatts);
    for (int i = 0; i < h->nvars && status == 0; i++)
        status = put_var(g, i);
    if (!g->no_fill) PUT_STATEMENT("call check(nfmpi_set_fill(ncid, nf_fill, id))");
    PUT_STATEMENT("call check(nfmpi_enddef(ncid))");
    PUT_STATEMENT("call check(nfmpi_begin_indep_data(ncid))");
    return status;
}

/* ---- data ---- */

static int piece(struct gen *g, int varid, const struct util_piece *p, const void *values)
{
    const struct cdf_var *v = &g->header.vars[varid];
    if (put_values(g, v->name, v->type, p->n, values) != 0) return -1;
    for (int i = 0; i < v->ndims; i++) {
        PUT_STATEMENT("first(%d) = %" PRId64, v->ndims - i, p->start[i] + 1);
        PUT_STATEMENT("count(%d) = %" PRId64, v->ndims - i, p->count[i]);
    }
    PUT_STATEMENT("if (rank == 0) call check(nfmpi_put_var%s_%s(ncid, %d, %s%s))",
                  v->ndims == 0 ? "" : "a", types[v->type].suffix, varid + 1,
                  v->ndims == 0 ? "" : "first, count, ", types[v->type].values);
    return 0;
}

static void end_pieces(struct gen *g)
{
    if (!g->filling) PUT_STATEMENT("call check(nfmpi_end_indep_data(ncid))");
    g->filling = true;
}

static int fill(struct gen *g, int varid, int64_t first, int64_t last)
{
    const struct cdf_var *v = &g->header.vars[varid];
    end_pieces(g);
    if (!v->is_record) return 0;
    PUT_STATEMENT("do r = %" PRId64 ", %" PRId64, first / v->nelems + 1,
                  last / v->nelems);
    PUT_STATEMENT("call check(nfmpi_fill_var_rec(ncid, %d, r))", varid + 1);
    PUT_STATEMENT("end do");
    return 0;
}

static int end(struct gen *g)
{
    end_pieces(g);
    PUT_STATEMENT("call check(nfmpi_close(ncid))");
    PUT_STATEMENT("call MPI_Finalize(ierr)");
    PUT_STATEMENT("end program make_dataset");
    util_out_text(g->out, "\n");
    PUT_STATEMENT("subroutine check(err)");
    PUT_STATEMENT("implicit none");
    PUT_STATEMENT("include 'mpif.h'");
    PUT_STATEMENT("include 'pnetcdf.inc'");
    PUT_STATEMENT("integer :: err, ierr");
    PUT_STATEMENT("if (err == nf_noerr) return");
    PUT_STATEMENT("print *, trim(nfmpi_strerror(err))");
    PUT_STATEMENT("call MPI_Abort(MPI_COMM_WORLD, 1, ierr)");
    PUT_STATEMENT("end subroutine check");
    return 0;
}

const struct gen_sink gen_f77 = {
    .makes = GEN_PROGRAM,
    .most = PIECE,
    .begin = begin,
    .piece = piece,
    .fill = fill,
    .end = end,
};

const struct gen_sink gen_f90 = {
    .makes = GEN_PROGRAM,
    .most = PIECE,
    .begin = begin,
    .piece = piece,
    .fill = fill,
    .end = end,
};
