/* The collective functions that do not transfer a variable's data, and vard. Each is
 * called with one invalid argument after another. */
#include <stdint.h>
#include <string.h>

#include "one_bad.h"
#include "pnetcdf_ext.h"

static char long_name[NC_MAX_NAME + 20];

static const char *too_long(void)
{
    memset(long_name, 'n', sizeof long_name - 1);
    return long_name;
}

#define AT scene.ncid

/* ---- functions whose only parameter is the id ---- */

#define PLAIN(name)                                                                      \
    static int name##_it(int mistake)                                                    \
    {                                                                                    \
        (void)mistake;                                                                   \
        return ncmpi_##name(AT);                                                         \
    }
PLAIN(enddef)
PLAIN(redef)
PLAIN(begin_indep_data)
PLAIN(end_indep_data)
PLAIN(sync)
PLAIN(sync_numrecs)
PLAIN(flush)
PLAIN(close)
PLAIN(abort)

static int _enddef(int mistake)
{
    static const MPI_Offset rooms[][4] = {
        {0, 4, 0, 4},         {-1, 4, 0, 4},        {0, -1, 0, 4},
        {0, 4, INT64_MIN, 4}, {0, 4, 0, -4},        {INT64_MAX, 4, 0, 4},
        {0, INT64_MAX, 0, 4}, {0, 4, INT64_MAX, 4}, {0, 4, 0, INT64_MAX},
    };
    const MPI_Offset *r = rooms[mistake];
    return ncmpi__enddef(AT, r[0], r[1], r[2], r[3]);
}

/* ---- definitions ---- */

static int def_dim(int mistake)
{
    const struct {
        const char *name;
        MPI_Offset length;
    } a[] = {{"new", 5},      {NULL, 5},          {"", 5},
             {"a/b", 5},      {"x", 5},           {too_long(), 5},
             {"new", -1},     {"new", INT64_MIN}, {"new", NC_UNLIMITED},
             {"\xff\xfe", 5}, {" new ", 5}};
    return ncmpi_def_dim(AT, a[mistake].name, a[mistake].length, NULL);
}

static int def_var(int mistake)
{
    static const int x[] = {X, T}, none[] = {99}, before[] = {-1};
    const struct {
        const char *name;
        nc_type type;
        int ndims;
        const int *dims;
    } a[] = {{"new", NC_INT, 1, x},      {NULL, NC_INT, 1, x},
             {"", NC_INT, 1, x},         {"a/b", NC_INT, 1, x},
             {"fixed", NC_INT, 1, x},    {too_long(), NC_INT, 1, x},
             {"new", 0, 1, x},           {"new", 99, 1, x},
             {"new", -1, 1, x},          {"new", NC_INT, -1, x},
             {"new", NC_INT, 1, NULL},   {"new", NC_INT, 1, none},
             {"new", NC_INT, 1, before}, {"new", NC_INT, 2, x},
             {"new", NC_STRING, 1, x},   {"new", NC_INT, INT32_MAX, x}};
    return ncmpi_def_var(AT, a[mistake].name, a[mistake].type, a[mistake].ndims,
                         a[mistake].dims, NULL);
}

static int def_var_fill(int mistake)
{
    static const int ids[] = {RECORD, 99, NC_GLOBAL, -7};
    return ncmpi_def_var_fill(AT, ids[mistake], 0, NULL);
}

static int set_fill(int mistake)
{
    static const int modes[] = {NC_NOFILL, 7, -1, 0x200};
    return ncmpi_set_fill(AT, modes[mistake], NULL);
}

static int fill_var_rec(int mistake)
{
    static const struct {
        int id;
        MPI_Offset record;
    } a[] = {{RECORD, 0},        {99, 0},      {NC_GLOBAL, 0},
             {FIXED, 0},         {RECORD, -1}, {RECORD, INT64_MIN},
             {RECORD, INT64_MAX}};
    return ncmpi_fill_var_rec(AT, a[mistake].id, a[mistake].record);
}

static int rename_dim(int mistake)
{
    const struct {
        int id;
        const char *name;
    } a[] = {{X, "z"}, {99, "z"}, {-1, "z"}, {X, NULL},
             {X, ""},  {X, "/"},  {X, "t"},  {X, too_long()}};
    return ncmpi_rename_dim(AT, a[mistake].id, a[mistake].name);
}

static int rename_var(int mistake)
{
    const struct {
        int id;
        const char *name;
    } a[] = {{FIXED, "f"}, {99, "f"},       {NC_GLOBAL, "f"},
             {-7, "f"},    {FIXED, NULL},   {FIXED, ""},
             {FIXED, "/"}, {FIXED, "text"}, {FIXED, too_long()}};
    return ncmpi_rename_var(AT, a[mistake].id, a[mistake].name);
}

/* ---- attributes ---- */

static int rename_att(int mistake)
{
    const struct {
        int id;
        const char *name, *new_name;
    } a[] = {{FIXED, "units", "u"}, {99, "units", "u"},          {-7, "units", "u"},
             {FIXED, NULL, "u"},    {FIXED, "none", "u"},        {FIXED, "units", NULL},
             {FIXED, "units", ""},  {FIXED, "units", "level"},   {FIXED, "units", "/"},
             {FIXED, "", "u"},      {FIXED, "units", too_long()}};
    return ncmpi_rename_att(AT, a[mistake].id, a[mistake].name, a[mistake].new_name);
}

static int del_att(int mistake)
{
    const struct {
        int id;
        const char *name;
    } a[] = {{FIXED, "units"}, {99, "units"}, {-7, "units"},      {FIXED, NULL},
             {FIXED, "none"},  {FIXED, ""},   {FIXED, too_long()}};
    return ncmpi_del_att(AT, a[mistake].id, a[mistake].name);
}

static int copy_att(int mistake)
{
    const struct {
        int from, from_id;
        const char *name;
        int to_id;
    } a[] = {{AT, FIXED, "level", WIDE}, {9999, FIXED, "level", WIDE},
             {AT, 99, "level", WIDE},    {AT, -7, "level", WIDE},
             {AT, FIXED, NULL, WIDE},    {AT, FIXED, "none", WIDE},
             {AT, FIXED, "", WIDE},      {AT, FIXED, "level", 99},
             {AT, FIXED, "level", -7},   {AT, FIXED, too_long(), WIDE}};
    return ncmpi_copy_att(a[mistake].from, a[mistake].from_id, a[mistake].name, AT,
                          a[mistake].to_id);
}

static int put_att_text(int mistake)
{
    const struct {
        int id;
        const char *name;
        MPI_Offset n;
        const char *text;
    } a[] = {{FIXED, "units", 1, "K"},      {99, "units", 1, "K"},
             {-7, "units", 1, "K"},         {FIXED, NULL, 1, "K"},
             {FIXED, "", 1, "K"},           {FIXED, "a/b", 1, "K"},
             {FIXED, "units", -1, "K"},     {FIXED, "units", 1, NULL},
             {FIXED, "_FillValue", 1, "K"}, {FIXED, "units", INT64_MAX, "K"}};
    return ncmpi_put_att_text(AT, a[mistake].id, a[mistake].name, a[mistake].n,
                              a[mistake].text);
}

typedef int put_att_fn(int, int, const char *, nc_type, MPI_Offset, const void *);

/* Number of mistakes. The last mistake does not apply to ncmpi_put_att, which does not
 * convert values. */
enum { BAD_ATTS = 15 };

static int att_by(put_att_fn *put, const void *one, int mistake)
{
    const struct {
        int id;
        const char *name;
        nc_type type;
        MPI_Offset n;
        const void *values;
    } a[BAD_ATTS + 1] = {{FIXED, "level", NC_INT, 1, one},
                         {99, "level", NC_INT, 1, one},
                         {-7, "level", NC_INT, 1, one},
                         {FIXED, NULL, NC_INT, 1, one},
                         {FIXED, "", NC_INT, 1, one},
                         {FIXED, "a/b", NC_INT, 1, one},
                         {FIXED, too_long(), NC_INT, 1, one},
                         {FIXED, "level", 99, 1, one},
                         {FIXED, "level", 0, 1, one},
                         {FIXED, "level", NC_INT, -1, one},
                         {FIXED, "level", NC_INT, 1, NULL},
                         {FIXED, "level", NC_INT, INT64_MIN, one},
                         {FIXED, "_FillValue", NC_DOUBLE, 1, one},
                         {FIXED, "level", NC_INT, INT64_MAX, one},
                         {FIXED, "level", NC_INT, INT64_MAX / 4, one},
                         {FIXED, "level", NC_CHAR, 1, one}};
    return put(AT, a[mistake].id, a[mistake].name, a[mistake].type, a[mistake].n,
               a[mistake].values);
}

static int put_att(int mistake)
{
    int seven = 7;
    return att_by(ncmpi_put_att, &seven, mistake);
}

/* Calls one of the typed functions that put numeric attributes. */
static int typed_att(int which, int mistake)
{
    double room = 0;
    const struct calls_att *t = &calls_atts[which];
    t->type->set(&room, 0, 7);
    return att_by(t->put, &room, mistake);
}
#define TYPED(n)                                                                         \
    static int typed_##n(int mistake)                                                    \
    {                                                                                    \
        return typed_att(n, mistake);                                                    \
    }
TYPED(0)
TYPED(1)
TYPED(2)
TYPED(3)
TYPED(4)
TYPED(5)
TYPED(6)
TYPED(7)
TYPED(8)
TYPED(9)
TYPED(10)
TYPED(11)

/* ---- data ---- */

static int wait_all(int mistake)
{
    int ids[2] = {NC_REQ_NULL, 4711}, statuses[2];
    static const struct {
        int n, first;
        bool listed, told;
    } a[] = {{1, 0, true, true},  {2, 0, true, true},   {1, 1, true, true},
             {1, 0, false, true}, {-77, 0, true, true}, {INT32_MIN, 0, true, true},
             {2, 0, true, false}};
    return ncmpi_wait_all(AT, a[mistake].n,
                          a[mistake].listed ? ids + a[mistake].first : NULL,
                          a[mistake].told ? statuses : NULL);
}

static MPI_Datatype run_of(MPI_Aint place, int length, MPI_Datatype of)
{
    MPI_Datatype type;
    MPI_Type_create_hindexed(1, &length, &place, of, &type);
    MPI_Type_commit(&type);
    return type;
}

static int vard(int mistake, bool put)
{
    int values[N];
    MPI_Aint place = (MPI_Aint)(sizeof(int) * N) * check.rank;
    for (int i = 0; i < N; i++)
        values[i] = one_bad_value(1, (MPI_Offset)N * check.rank + i);
    MPI_Datatype good = run_of(place, N, MPI_INT), below = run_of(-4, N, MPI_INT),
                 other = run_of(place, N, MPI_SHORT),
                 odd = run_of(place + 1, N - 1, MPI_INT);
    const struct {
        int id;
        MPI_Datatype file;
        void *buf;
        MPI_Offset n;
        MPI_Datatype type;
    } a[] = {
        {FIXED, good, values, N, MPI_INT},         {99, good, values, N, MPI_INT},
        {NC_GLOBAL, good, values, N, MPI_INT},     {-7, good, values, N, MPI_INT},
        {FIXED, below, values, N, MPI_INT},        {FIXED, other, values, N, MPI_INT},
        {FIXED, odd, values, N, MPI_INT},          {FIXED, good, NULL, N, MPI_INT},
        {FIXED, good, values, -3, MPI_INT},        {FIXED, good, values, N + 1, MPI_INT},
        {FIXED, good, values, N, MPI_LONG_DOUBLE}, {FIXED, good, values, N, MPI_CHAR},
        {FIXED, good, values, INT64_MAX, MPI_INT}, {TEXT, good, values, N, MPI_INT}};
    int rc = put ? ncmpi_put_vard_all(AT, a[mistake].id, a[mistake].file, a[mistake].buf,
                                      a[mistake].n, a[mistake].type)
                 : ncmpi_get_vard_all(AT, a[mistake].id, a[mistake].file, a[mistake].buf,
                                      a[mistake].n, a[mistake].type);
    MPI_Datatype *types[] = {&good, &below, &other, &odd};
    for (int i = 0; i < 4; i++)
        MPI_Type_free(types[i]);
    return rc;
}

static int put_vard_all(int mistake)
{
    return vard(mistake, true);
}

static int get_vard_all(int mistake)
{
    return vard(mistake, false);
}

static int prefetch_all(int mistake)
{
    const MPI_Offset good[] = {0}, below[] = {-1}, far[] = {INT64_MAX}, one[] = {1},
                     many[] = {N * MOST + 1}, least[] = {INT64_MIN};
    const struct {
        int id;
        const MPI_Offset *start, *count;
    } a[] = {{FIXED, good, one},  {99, good, one},     {-7, good, one},
             {FIXED, below, one}, {FIXED, far, one},   {FIXED, good, many},
             {FIXED, good, NULL}, {FIXED, least, one}, {FIXED, good, below}};
    return ncmpix_prefetch_all(AT, a[mistake].id, a[mistake].start, a[mistake].count);
}

/* ---- create and open ---- */

/* Aborts the dataset if it was opened. */
static int given_back(int rc, int ncid)
{
    int closed = ncid >= 0 ? ncmpi_abort(ncid) : NC_NOERR;
    return rc != NC_NOERR ? rc : closed;
}

static int create(int mistake)
{
    int id = -1;
    const struct {
        const char *path;
        int mode;
        int *id;
    } a[] = {{path_of("new.nc"), 0, &id},
             {NULL, 0, &id},
             {"", 0, &id},
             {path_of("new.nc"), 0, NULL}};
    int rc = ncmpi_create(scene.comm, a[mistake].path, a[mistake].mode | check.cmode,
                          MPI_INFO_NULL, a[mistake].id);
    return given_back(rc, id);
}

static int open_there(int mistake)
{
    int id = -1;
    const struct {
        const char *path;
        int *id;
    } a[] = {
        {path_of("there.nc"), &id}, {NULL, &id}, {"", &id}, {path_of("there.nc"), NULL}};
    int rc =
        ncmpi_open(scene.comm, a[mistake].path, NC_NOWRITE, MPI_INFO_NULL, a[mistake].id);
    return given_back(rc, id);
}

enum { ANY = DEFINING | DATA | READING | CLOSED };

const struct bad_call bad_calls[] = {
    {"ncmpi_create", 3, ANY, create},
    {"ncmpi_open", 3, ANY, open_there},
    {"ncmpi_close", 0, DEFINING | DATA | READING, close_it},
    {"ncmpi_abort", 0, DEFINING | DATA | READING, abort_it},
    {"ncmpi_enddef", 0, DEFINING, enddef_it},
    {"ncmpi__enddef", 8, DEFINING, _enddef},
    {"ncmpi_redef", 0, DATA, redef_it},
    {"ncmpi_begin_indep_data", 0, DATA | READING, begin_indep_data_it},
    {"ncmpi_end_indep_data", 0, DATA | READING, end_indep_data_it},
    {"ncmpi_sync", 0, DATA | READING, sync_it},
    {"ncmpi_sync_numrecs", 0, DATA | READING, sync_numrecs_it},
    {"ncmpi_flush", 0, DEFINING | DATA | READING, flush_it},
    {"ncmpi_def_dim", 10, DEFINING, def_dim},
    {"ncmpi_def_var", 15, DEFINING, def_var},
    {"ncmpi_def_var_fill", 3, DEFINING, def_var_fill},
    {"ncmpi_set_fill", 3, DEFINING, set_fill},
    {"ncmpi_fill_var_rec", 6, TOGETHER, fill_var_rec},
    {"ncmpi_rename_dim", 7, DEFINING | DATA, rename_dim},
    {"ncmpi_rename_var", 8, DEFINING | DATA, rename_var},
    {"ncmpi_rename_att", 10, DEFINING | DATA, rename_att},
    {"ncmpi_del_att", 6, DEFINING, del_att},
    {"ncmpi_copy_att", 9, DEFINING | DATA, copy_att},
    {"ncmpi_put_att", BAD_ATTS - 1, DEFINING | DATA, put_att},
    {"ncmpi_put_att_text", 9, DEFINING | DATA, put_att_text},
    {"ncmpi_put_att_schar", BAD_ATTS, DEFINING | DATA, typed_0},
    {"ncmpi_put_att_uchar", BAD_ATTS, DEFINING | DATA, typed_1},
    {"ncmpi_put_att_short", BAD_ATTS, DEFINING | DATA, typed_2},
    {"ncmpi_put_att_ushort", BAD_ATTS, DEFINING | DATA, typed_3},
    {"ncmpi_put_att_int", BAD_ATTS, DEFINING | DATA, typed_4},
    {"ncmpi_put_att_uint", BAD_ATTS, DEFINING | DATA, typed_5},
    {"ncmpi_put_att_long", BAD_ATTS, DEFINING | DATA, typed_6},
    {"ncmpi_put_att_float", BAD_ATTS, DEFINING | DATA, typed_7},
    {"ncmpi_put_att_double", BAD_ATTS, DEFINING | DATA, typed_8},
    {"ncmpi_put_att_longlong", BAD_ATTS, DEFINING | DATA, typed_9},
    {"ncmpi_put_att_ulonglong", BAD_ATTS, DEFINING | DATA, typed_10},
    {"ncmpi_put_att_ubyte", BAD_ATTS, DEFINING | DATA, typed_11},
    {"ncmpi_wait_all", 6, TOGETHER | READING, wait_all},
    {"ncmpi_put_vard_all", 13, TOGETHER, put_vard_all},
    {"ncmpi_get_vard_all", 13, TOGETHER | READING, get_vard_all},
    {"ncmpix_prefetch_all", 8, TOGETHER | READING, prefetch_all},
    {NULL, 0, 0, NULL},
};
