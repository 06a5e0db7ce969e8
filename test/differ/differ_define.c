/* Steps that define dimensions and variables, put and get attributes, and make inquiries.
 * Sometimes an output argument is NULL. */
#include "differ.h"

#include <stdlib.h>
#include <string.h>

/* ---- dimensions and variables ---- */

void define_dim(void)
{
    static const MPI_Offset odd[] = {-1,         2147483647,  2147483648, 4294967295,
                                     4294967296, -2147483648, 2147483644};
    int ncid = an_id(), dimid = -1;
    const char *name = a_name("dim");
    MPI_Offset length = once_in(4) ? NC_UNLIMITED : 1 + (MPI_Offset)draw(6);
    uint64_t choice = draw(sizeof odd / sizeof odd[0]);
    if (once_in(30)) length = odd[choice];
    if (d.ndims == MAX_DIMS) return;
    call("def_dim(");
    put_name(name);
    put_out(", %lld)", (long long)length);
    int err = came(ncmpi_def_dim(ncid, name, length, &dimid));
    put_out(" %d", dimid);
    done();
    if (everywhere(err)) look();
}

static int some_dims(int *dimids)
{
    int ndims = d.ndims == 0 ? 0 : (int)draw(MAX_RANK + 1), n = 0;
    for (int i = 0; i < ndims; i++) {
        int dimid = a_dimid();
        bool unlimited = dimid == d.unlimited && n > 0,
             good = dimid >= 0 && dimid < d.ndims;
        if (unlimited && !once_in(10)) continue;
        if (good && d.length[dimid] > 6 && dimid != d.unlimited) continue; /* too large */
        dimids[n++] = dimid;
    }
    return n;
}

void define_var(void)
{
    static const int odd[] = {0, 12, 13, -1, 100};
    int ncid = an_id(), varid = -1, dimids[MAX_RANK] = {0}, ndims = some_dims(dimids);
    const char *name = a_name("var");
    nc_type type = 1 + (nc_type)draw(d.format == 2 || once_in(10) ? 11 : 6);
    bool negative = once_in(100), null = once_in(200);
    uint64_t choice = draw(5);
    if (once_in(25)) type = odd[choice];
    if (d.nvars == MAX_VARS) return;
    if (negative) ndims = -1;
    call("def_var(");
    put_name(name);
    put_out(", %d, %d, %s", type, ndims, null ? "NULL" : "");
    for (int i = 0; i < ndims && !null; i++)
        put_out(" %d", dimids[i]);
    put_out(")");
    int err = came(ncmpi_def_var(ncid, name, type, ndims, null ? NULL : dimids,
                                 &varid)); /* PnetCDF 1.12 crashes if varid is NULL */
    put_out(" %d", varid);
    done();
    if (everywhere(err)) look();
}

static void ask_fill(int ncid, int varid)
{
    unsigned char value[8] = {0};
    int no_fill = -1;
    call("inq_var_fill(%d)", varid);
    int err = came(ncmpi_inq_var_fill(ncid, varid, &no_fill, value));
    put_out(" %d", no_fill);
    if (err == NC_NOERR && varid >= 0 && varid < d.nvars)
        external_show(value, d.vars[varid].type, 1);
    done();
}

void define_fill(void)
{
    int ncid = an_id(), varid = a_varid(false), no_fill = (int)draw(2);
    unsigned char value[8];
    bool given = once_in(2), odd = once_in(15);
    for (int i = 0; i < 8; i++)
        value[i] = (unsigned char)draw(100);
    if (odd) no_fill = 7;
    call("def_var_fill(%d, %d, %s)", varid, no_fill, given ? "value" : "NULL");
    int err = simple(ncmpi_def_var_fill(ncid, varid, no_fill, given ? value : NULL));
    if (everywhere(err)) ask_fill(ncid, varid);
}

void set_fill(void)
{
    static const int modes[] = {NC_FILL, NC_NOFILL, NC_FILL, 5};
    int ncid = an_id(), mode = modes[draw(4)], old = -1;
    bool wanted = !once_in(4);
    call("set_fill(%d)", mode);
    came(ncmpi_set_fill(ncid, mode, wanted ? &old : NULL));
    put_out(" %d", old);
    done();
}

void fill_record(void)
{
    int ncid = an_id(), varid = a_varid(false);
    MPI_Offset record = (MPI_Offset)draw(MAX_RECORDS);
    /* PnetCDF 1.12 continues after an invalid argument, and may crash. */
    if ((d.state != COLLECTIVE || varid < 0 || varid >= d.nvars) && !once_in(20)) return;
    if (once_in(15)) record = -1;
    call("fill_var_rec(%d, %lld)", varid, (long long)record);
    int err = simple(ncmpi_fill_var_rec(ncid, varid, record));
    if (!everywhere(err)) return;
    struct differ_var *v = &d.vars[varid];
    int per = v->nelems / MAX_RECORDS;
    memset(v->known + record * per, 1, (size_t)per);
    look();
}

void rename_dim(void)
{
    int ncid = an_id(), dimid = a_dimid();
    const char *name = a_name("dim");
    call("rename_dim(%d, ", dimid);
    put_name(name);
    put_out(")");
    if (everywhere(simple(ncmpi_rename_dim(ncid, dimid, name)))) look();
}

void rename_var(void)
{
    int ncid = an_id(), varid = a_varid(false);
    const char *name = a_name("var");
    call("rename_var(%d, ", varid);
    put_name(name);
    put_out(")");
    if (everywhere(simple(ncmpi_rename_var(ncid, varid, name)))) look();
}

/* ---- attributes ---- */

enum { MOST_ATT = 8 };

static const char *att_name(void)
{
    return once_in(5) ? _FillValue : a_name("att");
}

/* Prints an attribute's type, length and values. */
static void show_att(int ncid, int varid, const char *name)
{
    nc_type type = -1;
    MPI_Offset n = -1;
    unsigned char values[8 * 64];
    call("inq_att(%d, ", varid);
    put_name(name);
    put_out(")");
    int err = came(ncmpi_inq_att(ncid, varid, name, &type, &n));
    put_out(" %d %lld", type, (long long)n);
    done();
    if (err != NC_NOERR || n > 64) return;
    call("get_att(%d, ", varid);
    put_name(name);
    put_out(")");
    if (came(ncmpi_get_att(ncid, varid, name, values)) == NC_NOERR)
        external_show(values, type, (int)n);
    done();
}

static void put_random(void *values, int memory, int i, nc_type type, bool wild)
{
    const uint64_t seed = draw(1 << 20);
    memory_put(values, memory, i, type, value_draw(type, memory, seed), seed, wild);
}

void put_att(void)
{
    int ncid = an_id(), varid = a_varid(true), memory = (int)draw(MEMORY_TYPES), err;
    char name_at[320];
    const char *name = att_name();
    unsigned char values[16 * MOST_ATT] = {0};
    MPI_Offset n = (MPI_Offset)draw(MOST_ATT);
    nc_type type = 1 + (nc_type)draw(d.format == 2 || once_in(10) ? 11 : 6);
    bool own_type = once_in(3), wild = once_in(8), null = once_in(30),
         untyped = once_in(10);
    if (name != NULL) name = strcpy(name_at, name);
    if (memory == MEMORY_TEXT) type = NC_CHAR;
    if (own_type && varid >= 0 && varid < d.nvars && memory != MEMORY_TEXT)
        type = d.vars[varid].type;
    if (once_in(40)) type = 13 * (nc_type)draw(2);
    if (once_in(25)) n = -1 - (MPI_Offset)draw(2);
    const int own = plan_memory_of(type);
    for (int i = 0; i < MOST_ATT; i++)
        put_random(values, untyped && own >= 0 ? own : memory, i, type, wild);
    call("put_att%s%s(%d, ", untyped ? "" : "_", untyped ? "" : calls_types[memory].name,
         varid);
    put_name(name);
    put_out(", type %d, %lld%s%s)", type, (long long)n, wild ? ", wild" : "",
            null ? ", NULL" : "");
    const void *from = null ? NULL : values;
    if (untyped)
        err = ncmpi_put_att(ncid, varid, name, type, n, from);
    else if (memory == MEMORY_TEXT)
        err = ncmpi_put_att_text(ncid, varid, name, n, from);
    else
        err = att_function(memory)->put(ncid, varid, name, type, n, from);
    simple(err);
    if (err == NC_NOERR || err == NC_ERANGE) show_att(ncid, varid, name);
}

void get_att(void)
{
    int ncid = an_id(), varid = a_varid(true), memory = (int)draw(MEMORY_TYPES);
    const char *name = att_name();
    unsigned char values[16 * 64];
    MPI_Offset n = 0;
    memset(values, 0x55, sizeof values);
    if (ncmpi_inq_attlen(d.ncid, varid, name, &n) != NC_NOERR) n = 0;
    call("get_att_%s(%d, ", calls_types[memory].name, varid);
    put_name(name);
    put_out(")");
    int err = came(memory == MEMORY_TEXT
                       ? ncmpi_get_att_text(ncid, varid, name, (char *)values)
                       : att_function(memory)->get(ncid, varid, name, values));
    if (err == NC_NOERR || err == NC_ERANGE)
        for (int i = 0; i < n; i++)
            memory_show(values, memory, i);
    done();
}

static void copy_att(int ncid, int varid, const char *name)
{
    int to = a_varid(true), ncid_to = an_id();
    call("copy_att(%d, ", varid);
    put_name(name);
    put_out(", %d, %s)", to, ncid_to == d.ncid ? "same" : "bad");
    if (simple(ncmpi_copy_att(ncid, varid, name, ncid_to, to)) == NC_NOERR)
        show_att(ncid_to, to, name);
}

static void rename_att(int ncid, int varid, const char *name)
{
    char kept[320];
    if (name != NULL) name = strcpy(kept, name);
    const char *other = att_name();
    call("rename_att(%d, ", varid);
    put_name(name);
    put_out(", ");
    put_name(other);
    put_out(")");
    if (simple(ncmpi_rename_att(ncid, varid, name, other)) == NC_NOERR)
        show_att(ncid, varid, other);
}

static void ask_att(int ncid, int varid, const char *name)
{
    char found[NC_MAX_NAME + 1] = "";
    int id = -7, number = (int)draw(4) - (once_in(10) ? 3 : 0);
    MPI_Offset n = -7;
    nc_type type = -7;
    bool wanted = !once_in(8);
    call("inq_attid(%d, ", varid);
    put_name(name);
    put_out(")");
    came(ncmpi_inq_attid(ncid, varid, name, wanted ? &id : NULL));
    put_out(" %d", id);
    done();
    call("inq_attlen()");
    came(ncmpi_inq_attlen(ncid, varid, name, wanted ? &n : NULL));
    put_out(" %lld", (long long)n);
    done();
    call("inq_atttype()");
    came(ncmpi_inq_atttype(ncid, varid, name, wanted ? &type : NULL));
    put_out(" %d", type);
    done();
    call("inq_attname(%d, %d)", varid, number);
    came(ncmpi_inq_attname(ncid, varid, number, wanted ? found : NULL));
    put_out(" ");
    put_name(found);
    done();
}

void other_att(void)
{
    int ncid = an_id(), varid = a_varid(true);
    const char *name = att_name();
    switch (draw(5)) {
    case 0:
        copy_att(ncid, varid, name);
        break;
    case 1:
        rename_att(ncid, varid, name);
        break;
    case 2:
        call("del_att(%d, ", varid);
        put_name(name);
        put_out(")");
        simple(ncmpi_del_att(ncid, varid, name));
        break;
    default:
        ask_att(ncid, varid, name);
    }
}

/* ---- inquiries ---- */

#define ASK(name)                                                                        \
    {                                                                                    \
#name, ncmpi_inq_##name                                                          \
    }

static void ask_ints(int ncid)
{
    static const struct {
        const char *name;
        int (*ask)(int, int *);
    } asks[] = {ASK(ndims),    ASK(nvars),        ASK(natts),
                ASK(unlimdim), ASK(num_rec_vars), ASK(num_fix_vars),
                ASK(format),   ASK(version),      ASK(nreqs)};
    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
        int value = -7;
        bool wanted = !once_in(20);
        call("inq_%s()", asks[i].name);
        came(asks[i].ask(ncid, wanted ? &value : NULL));
        put_out(" %d", value);
        done();
    }
}

static void ask_offsets(int ncid)
{
    /* Prints only the first three values, because later ones may differ between
     * libraries. */
    static const struct {
        const char *name;
        int (*ask)(int, MPI_Offset *);
    } asks[] = {ASK(recsize),       ASK(buffer_usage), ASK(buffer_size), ASK(header_size),
                ASK(header_extent), ASK(put_size),     ASK(get_size)};
    for (size_t i = 0; i < sizeof asks / sizeof asks[0]; i++) {
        MPI_Offset value = -7;
        bool wanted = !once_in(20);
        call("inq_%s()", asks[i].name);
        came(asks[i].ask(ncid, wanted ? &value : NULL));
        if (i < 3) put_out(" %lld", (long long)value);
        done();
    }
}

static void ask_file(int ncid)
{
    MPI_Info info = MPI_INFO_NULL;
    char path[600] = "";
    int length = -7, size = -7, many = -7, format = -7, open = -7;
    call("inq_path()");
    came(ncmpi_inq_path(ncid, &length, path));
    put_out(" %d %s", length, strcmp(path, d.path) == 0 ? "same" : "other");
    done();
    call("inq_striping()");
    simple(ncmpi_inq_striping(ncid, &size, &many));
    call("inq_file_info()");
    if (simple(ncmpi_inq_file_info(ncid, &info)) == NC_NOERR) MPI_Info_free(&info);
    call("inq_file_format()");
    bool there = d.state != DEFINE; /* in define mode, there may not be a header yet */
    came(there ? ncmpi_inq_file_format(d.path, &format) : NC_NOERR);
    put_out(" %d", format);
    done();
    call("inq_file_format(missing)");
    simple(ncmpi_inq_file_format("no/such/file", &format));
    call("inq_files_opened()");
    came(ncmpi_inq_files_opened(&open, NULL));
    put_out(" %d", open);
    done();
}

void ask_dataset(void)
{
    int ncid = an_id();
    switch (draw(3)) {
    case 0:
        ask_ints(ncid);
        break;
    case 1:
        ask_offsets(ncid);
        break;
    default:
        ask_file(ncid);
    }
}

void ask_var(void)
{
    int ncid = an_id(), varid = a_varid(true), value = -7,
        dimids[MAX_RANK] = {-7, -7, -7};
    const char *name = a_name("var");
    char found[NC_MAX_NAME + 1] = "";
    nc_type type = -7;
    MPI_Offset at = -7;
    bool wanted = !once_in(8);
    ask_fill(ncid, varid);
    call("inq_varid(");
    put_name(name);
    put_out(")");
    came(ncmpi_inq_varid(ncid, name, wanted ? &value : NULL));
    put_out(" %d", value);
    done();
    call("inq_varname(%d)", varid);
    came(ncmpi_inq_varname(ncid, varid, wanted ? found : NULL));
    put_out(" ");
    put_name(found);
    done();
    call("inq_vartype(%d)", varid);
    came(ncmpi_inq_vartype(ncid, varid, &type)); /* NULL would crash PnetCDF 1.12 */
    put_out(" %d", type);
    done();
    call("inq_varndims(%d)", varid);
    came(ncmpi_inq_varndims(ncid, varid, &value));
    put_out(" %d", value);
    done();
    call("inq_vardimid(%d)", varid);
    came(ncmpi_inq_vardimid(ncid, varid, wanted ? dimids : NULL));
    put_out(" %d %d %d", dimids[0], dimids[1], dimids[2]);
    done();
    call("inq_varnatts(%d)", varid);
    came(ncmpi_inq_varnatts(ncid, varid, wanted ? &value : NULL));
    put_out(" %d", value);
    done();
    call("inq_varoffset(%d)", varid);
    simple(ncmpi_inq_varoffset(ncid, varid, wanted ? &at : NULL));
    call("inq_var(%d)", varid);
    simple(ncmpi_inq_var(ncid, varid, NULL, NULL, NULL, NULL, NULL));
}

void ask_dim(void)
{
    int ncid = an_id(), dimid = a_dimid(), value = -7;
    const char *name = a_name("dim");
    char found[NC_MAX_NAME + 1] = "";
    MPI_Offset length = -7;
    bool wanted = !once_in(8);
    call("inq_dimid(");
    put_name(name);
    put_out(")");
    came(ncmpi_inq_dimid(ncid, name, wanted ? &value : NULL));
    put_out(" %d", value);
    done();
    call("inq_dimname(%d)", dimid);
    came(ncmpi_inq_dimname(ncid, dimid, wanted ? found : NULL));
    put_out(" ");
    put_name(found);
    done();
    call("inq_dimlen(%d)", dimid);
    came(ncmpi_inq_dimlen(ncid, dimid, wanted ? &length : NULL));
    put_out(" %lld", (long long)length);
    done();
    call("inq_dim(%d)", dimid);
    simple(ncmpi_inq_dim(ncid, dimid, NULL, NULL));
}
