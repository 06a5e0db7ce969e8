/* Calls netCDF's functions for groups, types, chunks, filters and similar features on a
 * classic file, and prints each error code and result. serial_programs.sh compiles this
 * program with netCDF's netcdf.h and with ours. Both programs must print the same output
 * and write the same file. Usage: answers [FILE]. */
#include <netcdf.h>
#include <stdio.h>
#include <string.h>

static void say(const char *what, int err)
{
    printf("%s: %d\n", what, err);
}

static void ask_storage(int nc, int v)
{
    int a = -9, b = -9, c = -9;
    unsigned int id = 9;
    size_t sizes[2] = {9, 9}, n = 9;
    float f = -9;
    say("chunking", nc_inq_var_chunking(nc, v, &a, sizes));
    printf("%d %zu\n", a, sizes[0]);
    say("deflate", nc_inq_var_deflate(nc, v, &a, &b, &c));
    printf("%d %d %d\n", a, b, c);
    say("fletcher32", nc_inq_var_fletcher32(nc, v, &a));
    printf("%d\n", a);
    say("szip", nc_inq_var_szip(nc, v, &a, &b));
    printf("%d %d\n", a, b);
    say("filter", nc_inq_var_filter(nc, v, &id, &n, NULL));
    printf("%u %zu\n", id, n);
    say("endian", nc_inq_var_endian(nc, v, &a));
    say("quantize", nc_inq_var_quantize(nc, v, &a, &b));
    say("cache", nc_get_var_chunk_cache(nc, v, sizes, &n, &f));
    say("no such variable", nc_inq_var_chunking(nc, 77, &a, NULL));
}

static void ask_groups(int nc)
{
    int n = -9, ids[8] = {0}, group = -9;
    char name[NC_MAX_NAME + 1] = "";
    size_t len = 9;
    say("groups", nc_inq_grps(nc, &n, ids));
    printf("%d\n", n);
    say("group name", nc_inq_grpname(nc, name));
    say("length", nc_inq_grpname_len(nc, &len));
    printf("%s %zu\n", name, len);
    say("full name", nc_inq_grpname_full(nc, &len, name));
    printf("%s %zu\n", name, len);
    say("parent", nc_inq_grp_parent(nc, &group));
    say("by full name", nc_inq_grp_full_ncid(nc, "/", &group));
    say("by name", nc_inq_ncid(nc, "g", &group));
    printf("%d\n", group == nc);
    say("by name again", nc_inq_grp_ncid(nc, "g", &group));
    printf("%d\n", group == nc);
    say("another name", nc_rename_grp(nc, "g"));
    say("dimensions", nc_inq_dimids(nc, &n, ids, 0));
    printf("%d: %d %d\n", n, ids[0], ids[1]);
    say("variables", nc_inq_varids(nc, &n, ids));
    printf("%d: %d %d\n", n, ids[0], ids[1]);
    say("unlimited", nc_inq_unlimdims(nc, &n, ids));
    printf("%d: %d\n", n, ids[0]);
}

static void ask_types(int nc)
{
    int n = -9, ids[8], equal = -9;
    nc_type type = -9;
    char name[NC_MAX_NAME + 1] = "";
    size_t size = 9;
    for (int t = 0; t <= NC_STRING + 1; t++) {
        int err = t == 0 ? 0 : nc_inq_type(nc, t, name, &size);
        printf("type %d: %d %s %zu\n", t, err, name, size);
        if (err == 0 && t > 0) {
            say("its number", nc_inq_typeid(nc, name, &type));
            printf("%d\n", type);
        }
    }
    say("no such type", nc_inq_typeid(nc, "thing", &type));
    say("types", nc_inq_typeids(nc, &n, ids));
    printf("%d\n", n);
    say("equal", nc_inq_type_equal(nc, NC_INT, nc, NC_INT, &equal));
    printf("%d\n", equal);
    say("unlike", nc_inq_type_equal(nc, NC_INT, nc, NC_SHORT, &equal));
    printf("%d\n", equal);
}

static void ask_file(int nc, const char *path)
{
    int format = -9, mode = -9, pe = -9;
    char back[1000] = "";
    size_t len = 9;
    say("format", nc_inq_format_extended(nc, &format, &mode));
    printf("%d\n", format);
    say("path", nc_inq_path(nc, &len, back));
    printf("%d %d\n", strcmp(back, path), len == strlen(path));
    say("processing element", nc_inq_base_pe(nc, &pe));
    printf("%d\n", pe);
    say("another", nc_set_base_pe(nc, 0));
    say("cache of chunks", nc_set_chunk_cache(1000000, 1000, .5f));
}

static void ask_definitions(int nc, int v)
{
    say("def deflate", nc_def_var_deflate(nc, v, 0, 1, 1));
    say("def chunking", nc_def_var_chunking(nc, v, NC_CONTIGUOUS, NULL));
    say("def endian", nc_def_var_endian(nc, v, NC_ENDIAN_BIG));
    say("def fletcher32", nc_def_var_fletcher32(nc, v, NC_FLETCHER32));
    say("def szip", nc_def_var_szip(nc, v, NC_SZIP_NN, 8));
    say("def quantize", nc_def_var_quantize(nc, v, NC_QUANTIZE_BITROUND, 3));
    say("def filter", nc_def_var_filter(nc, v, 1, 0, NULL));
    say("set cache", nc_set_var_chunk_cache(nc, v, 1, 1, .5f));
}

/* Copies a variable to a second file, reads it back and deletes the file. */
static void copy(int nc, int v, const char *path)
{
    int out, dims[2];
    char other[1000];
    short values[8];
    snprintf(other, sizeof other, "%s.copy", path);
    say("create", nc_create(other, NC_CLOBBER, &out));
    nc_def_dim(out, "time", NC_UNLIMITED, &dims[0]);
    nc_def_dim(out, "x", 4, &dims[1]);
    say("copy", nc_copy_var(nc, v, out));
    say("read", nc_get_var_short(out, 0, values));
    for (int i = 0; i < 8; i++)
        printf("%d\n", values[i]);
    char units[8] = "";
    say("units", nc_get_att_text(out, 0, "units", units));
    puts(units);
    say("close", nc_close(out));
    say("delete", nc_delete_mp(other, 0));
}

/* Adds variables to an existing file. They must be filled, and nc_inq_var_fill must
 * report that. */
static void add(const char *path)
{
    int nc, dims[2], v, w, no_fill = -9;
    short values[8] = {0}, fill = 0;
    say("open", nc_open(path, NC_WRITE, &nc));
    say("redef", nc_redef(nc));
    nc_inq_dimid(nc, "time", &dims[0]);
    nc_inq_dimid(nc, "x", &dims[1]);
    say("def", nc_def_var(nc, "added", NC_SHORT, 1, &dims[1], &v));
    say("def records", nc_def_var(nc, "added_records", NC_SHORT, 2, dims, &w));
    say("enddef", nc_enddef(nc));
    say("fill", nc_inq_var_fill(nc, v, &no_fill, &fill));
    printf("%d %d\n", no_fill, fill);
    say("get", nc_get_var_short(nc, v, values));
    say("get records", nc_get_var_short(nc, w, values));
    for (int i = 0; i < 8; i++)
        printf("%d\n", values[i]);
    say("close", nc_close(nc));
}

int main(int argc, char **argv)
{
    int nc, dims[2], v, w;
    const short values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const size_t start[2] = {0, 0}, count[2] = {2, 4};
    size_t chunk = 0;
    const char *path = argc > 1 ? argv[1] : "answers.nc";
    say("create", nc__create_mp(path, NC_CLOBBER, 0, 0, &chunk, &nc));
    nc_def_dim(nc, "time", NC_UNLIMITED, &dims[0]);
    nc_def_dim(nc, "x", 4, &dims[1]);
    nc_def_var(nc, "v", NC_SHORT, 2, dims, &v);
    nc_def_var(nc, "w", NC_CHAR, 1, &dims[1], &w);
    nc_put_att_text(nc, v, "units", 2, "kg");
    ask_definitions(nc, v);
    say("enddef", nc_enddef(nc));
    say("put", nc_put_vara(nc, v, start, count, values));
    ask_storage(nc, v);
    ask_groups(nc);
    ask_types(nc);
    ask_file(nc, path);
    copy(nc, v, path);
    say("close", nc_close(nc));
    say("no file", nc_inq_grps(nc, &v, NULL));
    say("open", nc__open_mp(path, NC_NOWRITE, 0, &chunk, &nc));
    say("close", nc_close(nc));
    add(path);
    return 0;
}
