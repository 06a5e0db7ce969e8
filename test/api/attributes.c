/* Tests typed, text and untyped attributes: copying, renaming and deleting them, changing
 * them in define and data mode, and the order in which errors are checked. */
#include <stdio.h>
#include <string.h>

#include "made_dataset.h"

static int first_type_beyond(void)
{
    return check.format == 5 ? NC_UINT64 + 1 : NC_DOUBLE + 1;
}

static void numbers_of_every_type_are_read_back(void)
{
    static const double values[] = {0, 1, 2, 100, 127};
    double back[5];
    nc_type type;
    MPI_Offset length;
    int ncid = new_dataset("a.nc");
    for (nc_type t = NC_BYTE; t < first_type_beyond(); t++) {
        char name[4] = {'a', (char)('a' + t), '\0'};
        CHECK_NC(t == NC_CHAR ? NC_ECHAR : NC_NOERR,
                 ncmpi_put_att_double(ncid, NC_GLOBAL, name, t, 5, values));
    }
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    for (nc_type t = NC_BYTE; t < first_type_beyond(); t++) {
        char name[4] = {'a', (char)('a' + t), '\0'};
        if (t == NC_CHAR) continue;
        CHECK_NC(NC_NOERR, ncmpi_inq_att(ncid, NC_GLOBAL, name, &type, &length));
        CHECK_EQ(t, type);
        CHECK_EQ(5, length);
        memset(back, 0, sizeof back);
        CHECK_NC(NC_NOERR, ncmpi_get_att_double(ncid, NC_GLOBAL, name, back));
        CHECK_BYTES(values, back, sizeof back);
    }
    close_dataset(ncid);
}

static void memory_of_every_type_is_accepted(void)
{
    signed char sc[2] = {-1, 2}, sc2[2];
    unsigned char uc[2] = {1, 2}, uc2[2];
    short s[2] = {-300, 2}, s2[2];
    unsigned short us[2] = {300, 2}, us2[2];
    int i[2] = {-70000, 2}, i2[2];
    unsigned u[2] = {70000, 2}, u2[2];
    long l[2] = {-70000, 2}, l2[2];
    long long ll[2] = {-70000, 2}, ll2[2];
    unsigned long long ull[2] = {70000, 2}, ull2[2];
    float f[2] = {-1.5f, 2}, f2[2];
    double d[2] = {-1.25, 2}, d2[2];
    int id = new_dataset("a.nc"), g = NC_GLOBAL;
    CHECK_NC(NC_NOERR, ncmpi_put_att_schar(id, g, "sc", NC_BYTE, 2, sc));
    CHECK_NC(NC_NOERR, ncmpi_put_att_uchar(id, g, "uc", NC_SHORT, 2, uc));
    CHECK_NC(NC_NOERR, ncmpi_put_att_short(id, g, "s", NC_SHORT, 2, s));
    CHECK_NC(NC_NOERR, ncmpi_put_att_ushort(id, g, "us", NC_INT, 2, us));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(id, g, "i", NC_INT, 2, i));
    CHECK_NC(NC_NOERR, ncmpi_put_att_uint(id, g, "u", NC_INT, 2, u));
    CHECK_NC(NC_NOERR, ncmpi_put_att_long(id, g, "l", NC_INT, 2, l));
    CHECK_NC(NC_NOERR, ncmpi_put_att_longlong(id, g, "ll", NC_INT, 2, ll));
    CHECK_NC(NC_NOERR, ncmpi_put_att_ulonglong(id, g, "ull", NC_DOUBLE, 2, ull));
    CHECK_NC(NC_NOERR, ncmpi_put_att_float(id, g, "f", NC_FLOAT, 2, f));
    CHECK_NC(NC_NOERR, ncmpi_put_att_double(id, g, "d", NC_DOUBLE, 2, d));
    CHECK_NC(NC_NOERR, ncmpi_get_att_schar(id, g, "sc", sc2));
    CHECK_NC(NC_NOERR, ncmpi_get_att_uchar(id, g, "uc", uc2));
    CHECK_NC(NC_NOERR, ncmpi_get_att_short(id, g, "s", s2));
    CHECK_NC(NC_NOERR, ncmpi_get_att_ushort(id, g, "us", us2));
    CHECK_NC(NC_NOERR, ncmpi_get_att_int(id, g, "i", i2));
    CHECK_NC(NC_NOERR, ncmpi_get_att_uint(id, g, "u", u2));
    CHECK_NC(NC_NOERR, ncmpi_get_att_long(id, g, "l", l2));
    CHECK_NC(NC_NOERR, ncmpi_get_att_longlong(id, g, "ll", ll2));
    CHECK_NC(NC_NOERR, ncmpi_get_att_ulonglong(id, g, "ull", ull2));
    CHECK_NC(NC_NOERR, ncmpi_get_att_float(id, g, "f", f2));
    CHECK_NC(NC_NOERR, ncmpi_get_att_double(id, g, "d", d2));
    CHECK_BYTES(sc, sc2, sizeof sc);
    CHECK_BYTES(uc, uc2, sizeof uc);
    CHECK_BYTES(s, s2, sizeof s);
    CHECK_BYTES(us, us2, sizeof us);
    CHECK_BYTES(i, i2, sizeof i);
    CHECK_BYTES(u, u2, sizeof u);
    CHECK_BYTES(l, l2, sizeof l);
    CHECK_BYTES(ll, ll2, sizeof ll);
    CHECK_BYTES(ull, ull2, sizeof ull);
    CHECK_BYTES(f, f2, sizeof f);
    CHECK_BYTES(d, d2, sizeof d);
    close_dataset(id);
}

static void text_is_read_back(void)
{
    int ncid = new_dataset("a.nc");
    char text[3001], back[3001];
    for (int i = 0; i < 3001; i++)
        text[i] = (char)('a' + check_random(26));
    for (int n = 0; n < 10; n++) {
        char name[4] = {'a', (char)('0' + n), '\0'};
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, name, n, text));
    }
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "long", 3001, text));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    for (int n = 0; n < 10; n++) {
        char name[4] = {'a', (char)('0' + n), '\0'};
        memset(back, '#', 20);
        CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, NC_GLOBAL, name, back));
        CHECK_BYTES(text, back, (size_t)n);
        CHECK_EQ('#', back[n]);
    }
    CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, NC_GLOBAL, "long", back));
    CHECK_BYTES(text, back, sizeof text);
    close_dataset(ncid);
}

static void untyped_values_have_the_attributes_type(void)
{
    short values[3] = {-1, 2, 300}, back[3] = {0, 0, 0};
    char text[4] = "text", text_back[4];
    int ncid = new_dataset("a.nc");
    CHECK_NC(NC_NOERR, ncmpi_put_att(ncid, NC_GLOBAL, "s", NC_SHORT, 3, values));
    CHECK_NC(NC_NOERR, ncmpi_put_att(ncid, NC_GLOBAL, "t", NC_CHAR, 4, text));
    CHECK_NC(NC_NOERR, ncmpi_get_att(ncid, NC_GLOBAL, "s", back));
    CHECK_NC(NC_NOERR, ncmpi_get_att(ncid, NC_GLOBAL, "t", text_back));
    CHECK_BYTES(values, back, sizeof back);
    CHECK_BYTES(text, text_back, sizeof text);
    close_dataset(ncid);
}

static void an_attribute_may_be_empty(void)
{
    MPI_Offset length = -1;
    double d = 7;
    int ncid = new_dataset("a.nc");
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "t", 0, NULL));
    CHECK_NC(NC_NOERR, ncmpi_put_att_double(ncid, NC_GLOBAL, "d", NC_DOUBLE, 0, NULL));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_inq_attlen(ncid, NC_GLOBAL, "t", &length));
    CHECK_EQ(0, length);
    CHECK_NC(NC_NOERR, ncmpi_inq_attlen(ncid, NC_GLOBAL, "d", &length));
    CHECK_EQ(0, length);
    CHECK_NC(NC_NOERR, ncmpi_get_att_double(ncid, NC_GLOBAL, "d", &d));
    CHECK(d == 7);
    close_dataset(ncid);
}

static void writing_again_replaces_value_and_type(void)
{
    int ncid = new_dataset("a.nc"), values[4] = {1, 2, 3, 4}, n, id;
    nc_type type;
    MPI_Offset length;
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "b", 1, "x"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "a", 3, "abc"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, NC_GLOBAL, "b", NC_SHORT, 4, values));
    CHECK_NC(NC_NOERR, ncmpi_inq_natts(ncid, &n));
    CHECK_EQ(2, n);
    CHECK_NC(NC_NOERR, ncmpi_inq_attid(ncid, NC_GLOBAL, "b", &id));
    CHECK_EQ(0, id);
    CHECK_NC(NC_NOERR, ncmpi_inq_att(ncid, NC_GLOBAL, "b", &type, &length));
    CHECK_EQ(NC_SHORT, type);
    CHECK_EQ(4, length);
    close_dataset(ncid);
}

static void in_data_mode_an_attribute_may_not_grow(void)
{
    int ncid = new_dataset("a.nc"), values[4] = {1, 2, 3, 4};
    char back[8];
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "a", 8, "eight by"));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "a", 5, "fives"));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_INT, 4, values));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_put_att_text(ncid, NC_GLOBAL, "new", 1, "n"));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_del_att(ncid, NC_GLOBAL, "a"));
    CHECK_NC(NC_ENOTINDEFINE, ncmpi_rename_att(ncid, NC_GLOBAL, "a", "longer"));
    CHECK_NC(NC_NOERR, ncmpi_rename_att(ncid, NC_GLOBAL, "a", "z"));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, NC_GLOBAL, "z", back));
    CHECK_BYTES("fives", back, 5);
    close_dataset(ncid);
}

static void deleting_an_attribute_decrements_later_ids(void)
{
    int ncid = new_dataset("a.nc"), id, n;
    char name[NC_MAX_NAME + 1];
    for (const char *c = "abc"; *c; c++) {
        char one[2] = {*c, '\0'};
        CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, one, 1, one));
    }
    CHECK_NC(NC_NOERR, ncmpi_del_att(ncid, NC_GLOBAL, "b"));
    CHECK_NC(NC_ENOTATT, ncmpi_del_att(ncid, NC_GLOBAL, "b"));
    CHECK_NC(NC_NOERR, ncmpi_inq_attid(ncid, NC_GLOBAL, "c", &id));
    CHECK_EQ(1, id);
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_WRITE);
    CHECK_NC(NC_NOERR, ncmpi_inq_natts(ncid, &n));
    CHECK_EQ(2, n);
    CHECK_NC(NC_NOERR, ncmpi_inq_attname(ncid, NC_GLOBAL, 1, name));
    CHECK_STR("c", name);
    CHECK_NC(NC_NOERR, ncmpi_redef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_del_att(ncid, NC_GLOBAL, "c"));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_NOERR, ncmpi_inq_natts(ncid, &n));
    CHECK_EQ(1, n);
    close_dataset(ncid);
}

static void renaming_an_attribute_keeps_its_value(void)
{
    int ncid = new_dataset("a.nc");
    char back[3];
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "a", 3, "abc"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "b", 1, "b"));
    CHECK_NC(NC_ENAMEINUSE, ncmpi_rename_att(ncid, NC_GLOBAL, "a", "b"));
    CHECK_NC(NC_ENOTATT, ncmpi_rename_att(ncid, NC_GLOBAL, "none", "d"));
    CHECK_NC(NC_NOERR, ncmpi_rename_att(ncid, NC_GLOBAL, "a", "a_longer_one"));
    CHECK_NC(NC_ENOTATT, ncmpi_get_att_text(ncid, NC_GLOBAL, "a", back));
    CHECK_NC(NC_NOERR, ncmpi_get_att_text(ncid, NC_GLOBAL, "a_longer_one", back));
    CHECK_BYTES("abc", back, 3);
    close_dataset(ncid);
}

static void attributes_are_copied_within_and_between_files(void)
{
    int from = new_dataset("a.nc"), to = new_dataset("b.nc"), values[3] = {1, -2, 3};
    int back[3] = {0, 0, 0}, v = new_var(from, "v", NC_INT, 0, NULL);
    int w = new_var(from, "w", NC_SHORT, 0, NULL);
    nc_type type;
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(from, NC_GLOBAL, "n", NC_SHORT, 3, values));
    CHECK_NC(NC_NOERR, ncmpi_copy_att(from, NC_GLOBAL, "n", from, v));
    CHECK_NC(NC_NOERR, ncmpi_copy_att(from, v, "n", to, NC_GLOBAL));
    CHECK_NC(NC_ENOTATT, ncmpi_copy_att(from, v, "none", to, NC_GLOBAL));
    CHECK_NC(NC_ENOTVAR, ncmpi_copy_att(from, v, "n", to, 5));
    CHECK_NC(NC_NOERR, ncmpi_inq_atttype(to, NC_GLOBAL, "n", &type));
    CHECK_EQ(NC_SHORT, type);
    CHECK_NC(NC_NOERR, ncmpi_get_att_int(to, NC_GLOBAL, "n", back));
    CHECK_BYTES(values, back, sizeof back);
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(from, w, "_FillValue", NC_SHORT, 1, values));
    int format;
    CHECK_NC(NC_NOERR, ncmpi_inq_format(from, &format));
    bool netcdf4 = format == NC_FORMAT_NETCDF4 || format == NC_FORMAT_NETCDF4_CLASSIC;
    CHECK_NC(netcdf4 ? NC_EBADTYPE : NC_NOERR,
             ncmpi_copy_att(from, w, "_FillValue", from, v));
    if (!netcdf4) {
        CHECK_NC(NC_NOERR, ncmpi_inq_atttype(from, v, "_FillValue", &type));
        CHECK_EQ(NC_SHORT, type);
    }
    close_dataset(to);
    close_dataset(from);
}

static void values_out_of_range_are_an_error(void)
{
    int ncid = new_dataset("a.nc"), values[3] = {1, 40000, -1};
    int back[3];
    signed char bytes[3];
    CHECK_NC(NC_ERANGE, ncmpi_put_att_int(ncid, NC_GLOBAL, "s", NC_SHORT, 3, values));
    CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, NC_GLOBAL, "s", back));
    CHECK_EQ(1, back[0]);
    CHECK_EQ(-1, back[2]);
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, NC_GLOBAL, "i", NC_INT, 3, values));
    CHECK_NC(NC_ERANGE, ncmpi_get_att_schar(ncid, NC_GLOBAL, "i", bytes));
    CHECK_EQ(1, bytes[0]);
    CHECK_EQ(-1, bytes[2]);
    close_dataset(ncid);
}

static void errors_are_checked_in_a_fixed_order(void)
{
    int ncid = new_dataset("a.nc"), one = 1;
    char c;
    CHECK_NC(NC_EBADID, ncmpi_put_att_int(99, 99, "", 99, -1, NULL));
    CHECK_NC(NC_ENOTVAR, ncmpi_put_att_int(ncid, 99, "", 99, -1, NULL));
    CHECK_NC(NC_EBADNAME, ncmpi_put_att_int(ncid, NC_GLOBAL, "", 99, -1, NULL));
    CHECK_NC(NC_EBADTYPE, ncmpi_put_att_int(ncid, NC_GLOBAL, "a", 99, -1, NULL));
    CHECK_NC(NC_ECHAR, ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_CHAR, -1, NULL));
    CHECK_NC(NC_EINVAL, ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_INT, -1, &one));
    CHECK_NC(NC_EINVAL, ncmpi_put_att_int(ncid, NC_GLOBAL, "a", NC_INT, 1, NULL));
    CHECK_NC(check.format == 5 ? NC_NOERR : NC_ESTRICTCDF2,
             ncmpi_put_att_int(ncid, NC_GLOBAL, "u", NC_UINT, 1, &one));
    CHECK_NC(NC_NOERR, ncmpi_put_att_text(ncid, NC_GLOBAL, "t", 1, "t"));
    CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, NC_GLOBAL, "i", NC_INT, 1, &one));
    CHECK_NC(NC_EBADID, ncmpi_get_att_int(99, 99, "", NULL));
    CHECK_NC(NC_ENOTVAR, ncmpi_get_att_int(ncid, 99, "", NULL));
    CHECK_NC(NC_EBADNAME, ncmpi_get_att_int(ncid, NC_GLOBAL, "", NULL));
    CHECK_NC(NC_EBADNAME, ncmpi_get_att_int(ncid, NC_GLOBAL, NULL, NULL));
    CHECK_NC(NC_ENOTATT, ncmpi_get_att_int(ncid, NC_GLOBAL, "none", NULL));
    CHECK_NC(NC_ECHAR, ncmpi_get_att_int(ncid, NC_GLOBAL, "t", NULL));
    CHECK_NC(NC_ECHAR, ncmpi_get_att_text(ncid, NC_GLOBAL, "i", &c));
    CHECK_NC(NC_EINVAL, ncmpi_get_att_int(ncid, NC_GLOBAL, "i", NULL));
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    CHECK_NC(NC_EPERM, ncmpi_put_att_int(ncid, 99, "", 99, -1, NULL));
    close_dataset(ncid);
}

static void a_variable_may_have_very_many_attributes(void)
{
    enum { N = 2000 };
    int ncid = new_dataset("a.nc"), value;
    char name[32];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "attribute_%d", i);
        CHECK_NC(NC_NOERR, ncmpi_put_att_int(ncid, NC_GLOBAL, name, NC_INT, 1, &i));
    }
    close_dataset(ncid);
    ncid = open_dataset("a.nc", NC_NOWRITE);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "attribute_%d", i);
        CHECK_NC(NC_NOERR, ncmpi_get_att_int(ncid, NC_GLOBAL, name, &value));
        CHECK_EQ(i, value);
    }
    close_dataset(ncid);
}

static const struct check_test tests[] = {
    {"numbers of every type are read back", numbers_of_every_type_are_read_back,
     CHECK_FORMATS},
    {"memory of every type is accepted", memory_of_every_type_is_accepted, CHECK_FORMATS},
    {"text is read back", text_is_read_back, CHECK_FORMATS},
    {"untyped values have the attribute's type", untyped_values_have_the_attributes_type,
     CHECK_FORMATS},
    {"an attribute may be empty", an_attribute_may_be_empty, CHECK_FORMATS},
    {"writing again replaces value and type", writing_again_replaces_value_and_type, 0},
    {"in data mode an attribute may not grow", in_data_mode_an_attribute_may_not_grow,
     CHECK_FORMATS},
    {"deleting an attribute decrements later ids",
     deleting_an_attribute_decrements_later_ids, CHECK_FORMATS},
    {"renaming an attribute keeps its value", renaming_an_attribute_keeps_its_value, 0},
    {"attributes are copied within and between files",
     attributes_are_copied_within_and_between_files, CHECK_FORMATS},
    {"values out of range are an error", values_out_of_range_are_an_error, CHECK_FORMATS},
    {"errors are checked in a fixed order", errors_are_checked_in_a_fixed_order,
     CHECK_FORMATS},
    {"a variable may have very many attributes", a_variable_may_have_very_many_attributes,
     0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 3");
}
