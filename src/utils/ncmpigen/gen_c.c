/* Writes a C program that creates the dataset. Process 0 of that program writes the
 * values piece by piece. The library's fill mode supplies the remaining values. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "conv.h"
#include "gen.h"
#include "util_number.h"

static const struct {
    const char *nc, *type, *suffix;
} types[] = {
    [NC_BYTE] = {"NC_BYTE", "signed char", "schar"},
    [NC_CHAR] = {"NC_CHAR", "char", "text"},
    [NC_SHORT] = {"NC_SHORT", "short", "short"},
    [NC_INT] = {"NC_INT", "int", "int"},
    [NC_FLOAT] = {"NC_FLOAT", "float", "float"},
    [NC_DOUBLE] = {"NC_DOUBLE", "double", "double"},
    [NC_UBYTE] = {"NC_UBYTE", "unsigned char", "uchar"},
    [NC_USHORT] = {"NC_USHORT", "unsigned short", "ushort"},
    [NC_UINT] = {"NC_UINT", "unsigned int", "uint"},
    [NC_INT64] = {"NC_INT64", "long long", "longlong"},
    [NC_UINT64] = {"NC_UINT64", "unsigned long long", "ulonglong"},
};

enum { LINE = 64 }; /* bytes of text per line */

/* ---- values ---- */

static void put_string(struct gen *g, const char *text, int64_t n)
{
    util_out_text(g->out, "\"");
    for (int64_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (i > 0 && i % LINE == 0) util_out_text(g->out, "\"\n            \"");
        if (c < ' ' || c >= 0x7f || strchr("\"\\?", c) != NULL)
            util_out_print(g->out, "\\%03o", c);
        else
            util_out_bytes(g->out, &c, 1);
    }
    util_out_text(g->out, "\"");
}

static void put_real(struct gen *g, int type, double value)
{
    char text[UTIL_NUMBER_MAX];
    if (!isfinite(value)) {
        util_out_text(g->out, isnan(value) ? "NAN"
                              : value > 0  ? "INFINITY"
                                           : "-INFINITY");
        return;
    }
    *util_put_real(text, value, type == NC_FLOAT ? 9 : 17) = '\0';
    if (signbit(value) && value == 0) strcpy(text, "-0");
    const char *point = strpbrk(text, ".e") == NULL ? "." : "";
    util_out_print(g->out, "%s%s%s", text, point, type == NC_FLOAT ? "f" : "");
}

static void put_number(struct gen *g, int type, const char *external)
{
    double real;
    long long i;
    unsigned long long u;
    switch (type) {
    case NC_FLOAT:
    case NC_DOUBLE:
        conv_get(&real, CONV_DOUBLE, external, type, 1);
        put_real(g, type, real);
        break;
    case NC_UINT64:
        conv_get(&u, CONV_ULONGLONG, external, type, 1);
        util_out_print(g->out, "%lluULL", u);
        break;
    default:
        conv_get(&i, CONV_LONGLONG, external, type, 1);
        if (i == INT64_MIN)
            util_out_text(g->out, "-9223372036854775807LL - 1");
        else
            util_out_print(g->out, "%lld%s", i, type == NC_INT64 ? "LL" : "");
    }
}

/* Writes the declaration of values[]. */
static void put_values(struct gen *g, int type, int64_t n, const char *external)
{
    const int size = cdf_type_size(type);
    util_out_print(g->out,
                   "        static const %s values[%" PRId64 "] = ", types[type].type,
                   n + 1);
    if (type == NC_CHAR)
        put_string(g, external, n);
    else {
        util_out_text(g->out, "{");
        for (int64_t i = 0; i < n; i++) {
            util_out_text(g->out, i == 0 ? "" : i % 8 == 0 ? ",\n            " : ", ");
            put_number(g, type, external + i * size);
        }
        util_out_text(g->out, n == 0 ? "0}" : "}");
    }
    util_out_text(g->out, ";\n");
}

/* ---- definitions ---- */

static void put_atts(struct gen *g, int varid, const struct cdf_atts *atts)
{
    for (int i = 0; i < atts->count; i++) {
        const struct cdf_att *a = &atts->list[i];
        util_out_text(g->out, "    {\n");
        put_values(g, a->type, a->nelems, a->values);
        util_out_print(g->out, "        CHECK(ncmpi_put_att_%s(ncid, %d, ",
                       types[a->type].suffix, varid);
        put_string(g, a->name, (int64_t)strlen(a->name));
        if (a->type != NC_CHAR) util_out_print(g->out, ", %s", types[a->type].nc);
        util_out_print(g->out, ", %" PRId64 ", values));\n    }\n", a->nelems);
    }
}

static void put_var(struct gen *g, int varid)
{
    const struct cdf_var *v = &g->header.vars[varid];
    util_out_text(g->out, "    {\n        static const int dims[] = {");
    for (int i = 0; i < v->ndims; i++)
        util_out_print(g->out, "%d, ", v->dimids[i]);
    util_out_text(g->out, "0};\n        CHECK(ncmpi_def_var(ncid, ");
    put_string(g, v->name, (int64_t)strlen(v->name));
    util_out_print(g->out, ", %s, %d, dims, &id));\n    }\n", types[v->type].nc,
                   v->ndims);
    put_atts(g, varid, &v->atts);
}

static const char prologue[] =
    "#include <math.h>\n"
    "#include <mpi.h>\n"
    "#include <pnetcdf.h>\n"
    "#include <stdio.h>\n\n"
    "static void check(int err, int line)\n"
    "{\n"
    "    if (err == NC_NOERR) return;\n"
    "    fprintf(stderr, \"line %d: %s\\n\", line, ncmpi_strerror(err));\n"
    "    MPI_Abort(MPI_COMM_WORLD, 1);\n"
    "}\n"
    "#define CHECK(call) check(call, __LINE__)\n\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    int ncid, id, rank;\n"
    "    MPI_Init(&argc, &argv);\n"
    "    MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n";

static int begin(struct gen *g)
{
    static const char *const modes[] = {
        [1] = "0", [2] = "NC_64BIT_OFFSET", [5] = "NC_64BIT_DATA"};
    const struct cdf_header *h = &g->header;
    util_out_text(g->out, prologue);
    util_out_text(g->out, "    CHECK(ncmpi_create(MPI_COMM_WORLD, ");
    put_string(g, g->dataset, (int64_t)strlen(g->dataset));
    util_out_print(g->out, ", NC_CLOBBER | %s, MPI_INFO_NULL, &ncid));\n",
                   modes[h->format]);
    for (int i = 0; i < h->ndims; i++) {
        util_out_text(g->out, "    CHECK(ncmpi_def_dim(ncid, ");
        put_string(g, h->dims[i].name, (int64_t)strlen(h->dims[i].name));
        util_out_print(g->out, ", %" PRId64 ", &id));\n", h->dims[i].length);
    }
    put_atts(g, NC_GLOBAL, &h->gatts);
    for (int i = 0; i < h->nvars; i++)
        put_var(g, i);
    if (!g->no_fill)
        util_out_text(g->out, "    CHECK(ncmpi_set_fill(ncid, NC_FILL, &id));\n");
    util_out_text(g->out, "    CHECK(ncmpi_enddef(ncid));\n"
                          "    CHECK(ncmpi_begin_indep_data(ncid));\n");
    return 0;
}

/* ---- data ---- */

static void put_indices(struct gen *g, const char *name, const int64_t *index, int n)
{
    util_out_print(g->out, "        static const MPI_Offset %s[] = {", name);
    for (int i = 0; i < n; i++)
        util_out_print(g->out, "%s%" PRId64, i == 0 ? "" : ", ", index[i]);
    util_out_text(g->out, "};\n");
}

static int piece(struct gen *g, int varid, const struct util_piece *p, const void *values)
{
    const struct cdf_var *v = &g->header.vars[varid];
    const char *suffix = types[v->type].suffix;
    util_out_text(g->out, "    if (rank == 0) {\n");
    put_values(g, v->type, p->n, values);
    if (v->ndims == 0)
        util_out_print(g->out, "        CHECK(ncmpi_put_var_%s(ncid, %d, values));\n",
                       suffix, varid);
    else {
        put_indices(g, "start", p->start, v->ndims);
        put_indices(g, "count", p->count, v->ndims);
        util_out_print(
            g->out, "        CHECK(ncmpi_put_vara_%s(ncid, %d, start, count, values));\n",
            suffix, varid);
    }
    util_out_text(g->out, "    }\n");
    return 0;
}

static void end_pieces(struct gen *g)
{
    if (!g->filling) util_out_text(g->out, "    CHECK(ncmpi_end_indep_data(ncid));\n");
    g->filling = true;
}

/* Fixed-size variables were filled when they were defined. */
static int fill(struct gen *g, int varid, int64_t first, int64_t last)
{
    const struct cdf_var *v = &g->header.vars[varid];
    end_pieces(g);
    if (!v->is_record) return 0;
    util_out_print(g->out,
                   "    for (MPI_Offset r = %" PRId64 "; r < %" PRId64 "; r++)\n"
                   "        CHECK(ncmpi_fill_var_rec(ncid, %d, r));\n",
                   first / v->nelems, last / v->nelems, varid);
    return 0;
}

static int end(struct gen *g)
{
    end_pieces(g);
    util_out_text(g->out, "    CHECK(ncmpi_close(ncid));\n    MPI_Finalize();\n"
                          "    return 0;\n}\n");
    return 0;
}

const struct gen_sink gen_c = {
    .makes = GEN_PROGRAM,
    .most = 1024,
    .begin = begin,
    .piece = piece,
    .fill = fill,
    .end = end,
};
