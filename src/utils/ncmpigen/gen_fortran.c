/* A Fortran program (free form, nfmpi_ functions) that makes the dataset; see gen_c.c.
 * Fortran has no unsigned types: their values are put as those of a wider one. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base_error.h"
#include "conv.h"
#include "gen.h"
#include "util_number.h"

static const struct {
    const char *nf, *type, *suffix, *values; /* values: the array that holds them */
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

/* ---- values ---- */

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c != 0x7f && c != '\'' && c != '\\' && c != '&' && c != '!';
}

/* A name or path as an expression. */
static void put_string(struct gen *g, const char *text)
{
    util_out_text(g->out, "'");
    for (int i = 0; text[i] != '\0'; i++) {
        if (i > 0 && i % LINE == 0) util_out_text(g->out, "'// &\n      '");
        if (is_plain((unsigned char)text[i]))
            util_out_bytes(g->out, &text[i], 1);
        else
            util_out_print(g->out, "'//achar(%d)//'", (unsigned char)text[i]);
    }
    util_out_text(g->out, "'");
}

/* Assigns text, a line of plain bytes or one other byte at a time. */
static void put_text(struct gen *g, const char *text, int64_t n)
{
    for (int64_t i = 0; i < n;) {
        int64_t end = i;
        while (end < n && end - i < LINE && is_plain((unsigned char)text[end]))
            end++;
        if (end > i) {
            util_out_print(g->out, "  text(%" PRId64 ":%" PRId64 ") = '", i + 1, end);
            util_out_bytes(g->out, text + i, (size_t)(end - i));
            util_out_text(g->out, "'\n");
            i = end;
        } else {
            util_out_print(g->out, "  text(%" PRId64 ":%" PRId64 ") = char(%d)\n", i + 1,
                           i + 1, (unsigned char)text[i]);
            i++;
        }
    }
}

static void put_real(struct gen *g, int type, const char *external)
{
    char text[UTIL_NUMBER_MAX];
    double value;
    conv_get(&value, CONV_DOUBLE, external, type, 1);
    if (!isfinite(value) || (value == 0 && signbit(value))) {
        long long bits;
        conv_get(&bits, CONV_LONGLONG, external, type == NC_FLOAT ? NC_INT : NC_INT64, 1);
        bool least = bits == INT64_MIN;
        util_out_print(g->out,
                       type == NC_FLOAT ? "transfer(int(%lld_8,4), 0.0)"
                                        : "transfer(%lld_8%s, 0d0)",
                       least ? bits + 1 : bits, least ? "-1_8" : "");
        return;
    }
    *util_put_real(text, value, type == NC_FLOAT ? 9 : 17) = '\0';
    char *e = strchr(text, 'e');
    int digits = e == NULL ? (int)strlen(text) : (int)(e - text);
    util_out_print(g->out, "%.*s%s%c%s", digits, text,
                   memchr(text, '.', (size_t)digits) ? "" : ".",
                   type == NC_FLOAT ? 'e' : 'd', e == NULL ? "0" : e + 1);
}

/* False for a value that no integer of Fortran holds. */
static bool put_number(struct gen *g, int type, const char *external)
{
    long long i;
    if (type == NC_FLOAT || type == NC_DOUBLE) {
        put_real(g, type, external);
        return true;
    }
    if (conv_get(&i, CONV_LONGLONG, external, type, 1) != NC_NOERR) return false;
    if (i == INT64_MIN)
        util_out_text(g->out, "-9223372036854775807_8-1_8");
    else
        util_out_print(g->out, "%lld_8", i);
    return true;
}

/* Statements that put the values into the array of their type. */
static int put_values(struct gen *g, const char *name, int type, int64_t n,
                      const char *external)
{
    const int size = cdf_type_size(type), line = 4;
    if (type == NC_CHAR) put_text(g, external, n);
    for (int64_t i = 0; i < n && type != NC_CHAR; i++) {
        if (i % line == 0)
            util_out_print(g->out, "  %s(%" PRId64 ":%" PRId64 ") = (/ ",
                           types[type].values, i + 1, i + line < n ? i + line : n);
        if (!put_number(g, type, external + i * size))
            return gen_complain(base_error_set(
                NC_ERANGE, "'%.80s' has a value that no integer of Fortran has", name));
        util_out_text(g->out, i + 1 == n || i % line == line - 1 ? " /)\n" : ", ");
    }
    return 0;
}

/* ---- definitions ---- */

static int put_atts(struct gen *g, int varid, const struct cdf_atts *atts)
{
    for (int i = 0; i < atts->count; i++) {
        const struct cdf_att *a = &atts->list[i];
        if (put_values(g, a->name, a->type, a->nelems, a->values) != 0) return -1;
        util_out_print(g->out, "  n = %" PRId64 "\n", a->nelems);
        util_out_print(g->out, "  call check(nfmpi_put_att_%s(ncid, %d, &\n      ",
                       types[a->type].suffix, varid + 1);
        put_string(g, a->name);
        if (a->type != NC_CHAR) util_out_print(g->out, ", %s", types[a->type].nf);
        util_out_print(g->out, ", n, %s))\n", types[a->type].values);
    }
    return 0;
}

static int put_var(struct gen *g, int varid)
{
    const struct cdf_var *v = &g->header.vars[varid];
    for (int i = 0; i < v->ndims; i++)
        util_out_print(g->out, "  dims(%d) = %d\n", v->ndims - i, v->dimids[i] + 1);
    util_out_text(g->out, "  call check(nfmpi_def_var(ncid, &\n      ");
    put_string(g, v->name);
    util_out_print(g->out, ", %s, %d, dims, id))\n", types[v->type].nf, v->ndims);
    return put_atts(g, varid, &v->atts);
}

/* The longest that the arrays have to be. */
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
    util_out_text(g->out, "program make_dataset\n  implicit none\n  include 'mpif.h'\n"
                          "  include 'pnetcdf.inc'\n  integer :: ncid, id, rank, ierr\n"
                          "  integer(kind=MPI_OFFSET_KIND) :: n, r\n");
    util_out_print(g->out, "  integer :: dims(%d)\n", ndims);
    util_out_print(g->out, "  integer(kind=MPI_OFFSET_KIND) :: first(%d), count(%d)\n",
                   ndims, ndims);
    for (int type = NC_BYTE; type <= NC_INT64; type++)
        if (type != NC_CHAR && (type <= NC_DOUBLE || type == NC_INT64))
            util_out_print(g->out, "  %s :: %s(%" PRId64 ")\n", types[type].type,
                           types[type].values, most);
    util_out_print(g->out, "  character(len=%" PRId64 ") :: text\n", most);
}

static int begin(struct gen *g)
{
    static const char *const modes[] = {
        [1] = "0", [2] = "nf_64bit_offset", [5] = "nf_64bit_data"};
    const struct cdf_header *h = &g->header;
    put_declarations(g);
    util_out_text(g->out, "  call MPI_Init(ierr)\n"
                          "  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)\n"
                          "  call check(nfmpi_create(MPI_COMM_WORLD, &\n      ");
    put_string(g, g->dataset);
    util_out_print(g->out, ", &\n      ior(nf_clobber, %s), MPI_INFO_NULL, ncid))\n",
                   modes[h->format]);
    for (int i = 0; i < h->ndims; i++) {
        util_out_print(g->out, "  n = %" PRId64 "\n", h->dims[i].length);
        util_out_text(g->out, "  call check(nfmpi_def_dim(ncid, &\n      ");
        put_string(g, h->dims[i].name);
        util_out_text(g->out, ", n, id))\n");
    }
    int status = put_atts(g, NC_GLOBAL, &h->gatts);
    for (int i = 0; i < h->nvars && status == 0; i++)
        status = put_var(g, i);
    if (!g->no_fill)
        util_out_text(g->out, "  call check(nfmpi_set_fill(ncid, nf_fill, id))\n");
    util_out_text(g->out, "  call check(nfmpi_enddef(ncid))\n"
                          "  call check(nfmpi_begin_indep_data(ncid))\n");
    return status;
}

/* ---- data ---- */

static int piece(struct gen *g, int varid, const struct util_piece *p, const void *values)
{
    const struct cdf_var *v = &g->header.vars[varid];
    if (put_values(g, v->name, v->type, p->n, values) != 0) return -1;
    for (int i = 0; i < v->ndims; i++)
        util_out_print(g->out, "  first(%d) = %" PRId64 "; count(%d) = %" PRId64 "\n",
                       v->ndims - i, p->start[i] + 1, v->ndims - i, p->count[i]);
    util_out_print(g->out, "  if (rank == 0) call check(nfmpi_put_var%s_%s(ncid, %d, ",
                   v->ndims == 0 ? "" : "a", types[v->type].suffix, varid + 1);
    util_out_print(g->out, "%s%s))\n", v->ndims == 0 ? "" : "first, count, ",
                   types[v->type].values);
    return 0;
}

static void end_pieces(struct gen *g)
{
    if (!g->filling) util_out_text(g->out, "  call check(nfmpi_end_indep_data(ncid))\n");
    g->filling = true;
}

static int fill(struct gen *g, int varid, int64_t first, int64_t last)
{
    const struct cdf_var *v = &g->header.vars[varid];
    end_pieces(g);
    if (!v->is_record) return 0;
    util_out_print(g->out,
                   "  do r = %" PRId64 ", %" PRId64 "\n"
                   "    call check(nfmpi_fill_var_rec(ncid, %d, r))\n  end do\n",
                   first / v->nelems + 1, last / v->nelems, varid + 1);
    return 0;
}

static int end(struct gen *g)
{
    end_pieces(g);
    util_out_text(g->out, "  call check(nfmpi_close(ncid))\n  call MPI_Finalize(ierr)\n"
                          "contains\n"
                          "  subroutine check(err)\n"
                          "    integer, intent(in) :: err\n"
                          "    if (err == nf_noerr) return\n"
                          "    print *, trim(nfmpi_strerror(err))\n"
                          "    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)\n"
                          "  end subroutine check\n"
                          "end program make_dataset\n");
    return 0;
}

const struct gen_sink gen_f90 = {
    .makes = GEN_PROGRAM,
    .most = PIECE,
    .begin = begin,
    .piece = piece,
    .fill = fill,
    .end = end,
};
