/* Unit test for the CDL parser: definitions. Each case parses a text, and compares either
 * the resulting header with the expected dimensions, variables, attributes and format, or
 * the error code and message, which includes the line and column. A teardown function
 * checks for memory leaks. */
#include "cdl_text.h"
#include "unit.h"
#include "base_error.h"
#include "base_mem.h"

static struct cdf_header h;

static int stop(void **state)
{
    (void)state;
    cdf_free(&h);
    return base_mem_in_use() == 0 ? 0 : -1;
}

/* Parses a text, which must be valid, into `h`. */
static void reads(const char *text)
{
    cdf_free(&h);
    int err = read_text(text, 0, &h);
    if (err != NC_NOERR) fail_msg("%s: %s", text, base_error_text(err));
}

/* Checks that a text is rejected with this error code and message. */
static void fails(const char *text, int code, const char *detail)
{
    cdf_free(&h);
    int err = read_text(text, 0, &h);
    if (err != code || strcmp(base_error_detail(err), detail) != 0)
        fail_msg("%s: %d, %s", text, err, base_error_text(err));
    cdf_init(&h, 5);
}

/* Checks that a text defines a header in format CDF-`format`. */
static void has_format(int format, const char *text)
{
    reads(text);
    if (h.format != format) fail_msg("%s: CDF-%d", text, h.format);
}

static void has_var(int varid, const char *name, int type, int ndims)
{
    assert_true(varid < h.nvars);
    assert_string_equal(name, h.vars[varid].name);
    assert_int_equal(type, h.vars[varid].type);
    assert_int_equal(ndims, h.vars[varid].ndims);
}

static void an_empty_dataset(void **state)
{
    (void)state;
    reads("netcdf nothing {\n}\n");
    assert_int_equal(0, h.ndims + h.nvars + h.gatts.count);
    reads("// first a comment\nNETCDF any \\{ name ! {dimensions:variables:data:");
    assert_int_equal(0, h.ndims + h.nvars + h.gatts.count);
}

static void dimensions_are_defined(void **state)
{
    (void)state;
    reads(
        "netcdf x { dimensions: lat = 10, lon = 0x14 ;\n time = UNLIMITED ; // (3 now)\n"
        "unlimited = 5; }");
    static const struct {
        const char *name;
        int64_t length;
    } want[] = {{"lat", 10}, {"lon", 20}, {"time", NC_UNLIMITED}, {"unlimited", 5}};
    assert_int_equal(4, h.ndims);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(want[i].name, h.dims[i].name);
        assert_int_equal(want[i].length, h.dims[i].length);
    }
    assert_int_equal(2, h.unlimited);
    assert_int_equal(0, h.numrecs);
}

static void every_type_has_its_names(void **state)
{
    (void)state;
    reads("netcdf x { variables: byte a; char b; short c; int d; long e; float f; real g;"
          "double h; ubyte i; ushort j; uint k; int64 l; uint64 m; INT n; }");
    static const int want[] = {NC_BYTE,  NC_CHAR,  NC_SHORT,  NC_INT,   NC_INT,
                               NC_FLOAT, NC_FLOAT, NC_DOUBLE, NC_UBYTE, NC_USHORT,
                               NC_UINT,  NC_INT64, NC_UINT64, NC_INT};
    for (int i = 0; i < 14; i++)
        has_var(i, (char[]){(char)('a' + i), 0}, want[i], 0);
}

static void variables_have_dimensions(void **state)
{
    (void)state;
    reads("netcdf x { dimensions: t = unlimited, x = 3; y = 4; variables:\n"
          "int a(t, x, y), b, c ( y ) ; float d(y,y); }");
    assert_int_equal(4, h.nvars);
    has_var(0, "a", NC_INT, 3);
    has_var(1, "b", NC_INT, 0);
    has_var(2, "c", NC_INT, 1);
    has_var(3, "d", NC_FLOAT, 2);
    assert_true(h.vars[0].is_record);
    assert_int_equal(1, h.vars[0].dimids[1]);
    assert_int_equal(2, h.vars[0].dimids[2]);
    assert_int_equal(2, h.vars[3].dimids[1]);
    assert_true(h.vars[0].begin > h.vars[3].begin); /* records follow fixed-size data */
}

static void names_have_escapes(void **state)
{
    (void)state;
    reads("netcdf x { dimensions: a\\ b = 1; \\9x = 2; variables:\n"
          "int a\\:b\\;\\\\(a\\ b, \\9x), _a.b-c+d@e%f, \xc3\xa9; a\\:b\\;\\\\:q\\( = 1; "
          "}");
    assert_string_equal("a b", h.dims[0].name);
    assert_string_equal("9x", h.dims[1].name);
    has_var(0, "a:b;\\", NC_INT, 2);
    has_var(1, "_a.b-c+d@e%f", NC_INT, 0);
    has_var(2, "\xc3\xa9", NC_INT, 0);
    assert_string_equal("q(", h.vars[0].atts.list[0].name);
}

/* No word is reserved. Its position determines whether it is a keyword or a name. */
static void keywords_may_be_names(void **state)
{
    (void)state;
    reads("netcdf x { dimensions: data = 2; netcdf = 3; variables: int data(data), int;"
          " char variables, NaN; data:units = \"m\"; int:a = 1; variables:x = 2; NaN:NaN "
          "= NaN;"
          " :data = 1; int :typed = 1; short :short = 1; data: units = 1; }");
    assert_int_equal(4, h.nvars);
    assert_int_equal(1, h.vars[0].atts.count);
    assert_int_equal(2, h.vars[1].atts.count);
    assert_int_equal(1, h.vars[2].atts.count);
    assert_int_equal(1, h.vars[3].atts.count);
    assert_int_equal(2, h.gatts.count);
}

static void attributes_are_allowed_anywhere(void **state)
{
    (void)state;
    reads("netcdf x { :a = 1; dimensions: x = 1; :b = 1; variables: int v; :c = 1; int w;"
          " v:a = 1; int :d = 1; dimensions: y = 2; variables: w:a = 1; int z(y); }");
    assert_int_equal(4, h.gatts.count);
    assert_int_equal(1, h.vars[0].atts.count);
    assert_int_equal(1, h.vars[1].atts.count);
    has_var(2, "z", NC_INT, 1);
}

static void the_smallest_format_is_chosen(void **state)
{
    (void)state;
    has_format(1, "netcdf x { variables: double v; :a = 1; }");
    has_format(5, "netcdf x { variables: ubyte v; }");
    has_format(5, "netcdf x { :a = 1ll; }");
    has_format(1, "netcdf x { dimensions: x = 2147483647; }");
    has_format(5, "netcdf x { dimensions: x = 2147483648; }");
    has_format(1, "netcdf x { dimensions: x = 500000000; variables: int a, b(x); }");
    has_format(2,
               "netcdf x { dimensions: x = 500000000; variables: int a(x), b(x), c; }");
    has_format(5, "netcdf x { dimensions: x = 1200000000; variables: int a(x), b(x); }");
}

static void the_format_can_be_requested(void **state)
{
    (void)state;
    has_format(1, "netcdf x { :_Format = \"classic\"; }");
    has_format(2, "netcdf x { :_Format = \"64-bit offset\"; }");
    has_format(5, "netcdf x { :_Format = \"cdf5\"; }");
    has_format(5, "netcdf x { :_Format = \"64-bit \", \"data\"; }");
    assert_int_equal(0, h.gatts.count);
    has_format(5, "netcdf x {\n// file format: CDF-5 (big variables)\n}");
    has_format(2, "netcdf x {\n// file format: CDF-2\n}");
    has_format(5, "netcdf x {\n// file format: CDF-1\n:a = 1u; }");
    has_format(1, "netcdf x {\n// file format: CDF-5\n:_Format = \"classic\"; }");
    fails("netcdf x {\n:_Format = \"classic\";\n:a = 1b, 1us; }", NC_ESTRICTCDF2,
          "text: line 3, column 2: type 8 needs a file in CDF-5 format, or in netCDF-4 "
          "format without NC_CLASSIC_MODEL");
    fails("netcdf x { :_Format = \"netCDF-4\"; }", NC_ENOTSUPPORT,
          "text: line 1, column 13: format 'netCDF-4' is not supported here");
    fails("netcdf x { :_Format = 1; }", NC_ENOTNC,
          "text: line 1, column 13: the value of _Format is not the name of a format");

    cdf_free(&h);
    assert_int_equal(NC_NOERR, read_text("netcdf x { :_Format = \"classic\"; }", 2, &h));
    assert_int_equal(2, h.format);
}

static void syntax_errors_name_their_position(void **state)
{
    (void)state;
    fails("", NC_ENOTNC,
          "text: line 1, column 1: unexpected end of text, expected 'netcdf'");
    fails("CDF\1", NC_ENOTNC,
          "text: line 1, column 1: unexpected 'CDF', expected 'netcdf'");
    fails("netcdf x", NC_ENOTNC,
          "text: line 1, column 9: unexpected end of text, expected '{'");
    fails("netcdf x {\n\n  ", NC_ENOTNC,
          "text: line 3, column 3: unexpected end of text, expected 'dimensions:', "
          "'variables:', 'data:' or '}'");
    fails("netcdf x { x = 3; }", NC_ENOTNC,
          "text: line 1, column 14: unexpected '=', expected ':'");
    fails("netcdf x { dimensions:\n\tx 3; }", NC_ENOTNC,
          "text: line 2, column 4: unexpected '3', expected '=' or ':'");
    fails("netcdf x { dimensions: x = 1.; }", NC_ENOTNC,
          "text: line 1, column 28: the length is not a whole number");
    fails("netcdf x { dimensions: x = 1 }", NC_ENOTNC,
          "text: line 1, column 30: unexpected '}', expected ',' or ';'");
    fails("netcdf x { variables: int 3; }", NC_ENOTNC,
          "text: line 1, column 27: unexpected '3', expected a variable's name or ':'");
    fails("netcdf x { dimensions: x = 1; variables: int v(x; }", NC_ENOTNC,
          "text: line 1, column 49: unexpected ';', expected ',' or ')'");
    fails("netcdf x { variables: int v; v: = 1; }", NC_ENOTNC,
          "text: line 1, column 33: unexpected '=', expected an attribute's name");
    fails("netcdf x { variables: int v; & }", NC_ENOTNC,
          "text: line 1, column 30: unexpected character");
    fails("netcdf x { \1 }", NC_ENOTNC,
          "text: line 1, column 12: unexpected control character");
    fails(
        "netcdf x { variables: int v; v:", NC_ENOTNC,
        "text: line 1, column 32: unexpected end of text, expected an attribute's name");
    fails("netcdf x { :a = 1", NC_ENOTNC,
          "text: line 1, column 18: unexpected end of text, expected ',' or ';'");
}

static void definitions_are_checked(void **state)
{
    (void)state;
    fails("netcdf x { variables: text v; }", NC_EBADTYPE,
          "text: line 1, column 23: 'text' is not a type");
    fails("netcdf x { variables: string v; }", NC_ENOTSUPPORT,
          "text: line 1, column 23: type 'string' exists only in netCDF-4");
    fails("netcdf x { string :a = \"b\"; }", NC_ENOTSUPPORT,
          "text: line 1, column 12: type 'string' exists only in netCDF-4");
    fails("netcdf x { types: }", NC_ENOTSUPPORT,
          "text: line 1, column 12: groups and types exist only in netCDF-4");
    fails("netcdf x { group: g { } }", NC_ENOTSUPPORT,
          "text: line 1, column 12: groups and types exist only in netCDF-4");
    fails("netcdf x { variables: int v(y); }", NC_EBADDIM,
          "text: line 1, column 29: no dimension is named 'y'");
    fails("netcdf x { variables: int v; w:a = 1; }", NC_ENOTVAR,
          "text: line 1, column 30: no variable is named 'w'");
    fails("netcdf x { dimensions: x = 1; x = 2; }", NC_ENAMEINUSE,
          "text: line 1, column 31: dimension 'x' already exists");
    fails("netcdf x { dimensions: t = UNLIMITED; u = UNLIMITED; }", NC_EUNLIMIT,
          "text: line 1, column 39: 'u' cannot be unlimited, as 't' already is");
    fails("netcdf x { dimensions: x = 9223372036854775808; }", NC_EDIMSIZE,
          "text: line 1, column 28: the length is 2^63 or more");
    fails("netcdf x { dimensions: x = -1; }", NC_EDIMSIZE,
          "text: line 1, column 24: 'x' has length -1, but the maximum is "
          "9223372036854775807");
    fails("netcdf x { variables: int a\\/b; }", NC_EBADNAME,
          "text: line 1, column 27: 'a/b' contains a '/'");
}

static void long_names_are_refused(void **state)
{
    (void)state;
    char text[NC_MAX_NAME + 100], name[NC_MAX_NAME + 2];
    memset(name, 'n', sizeof name);
    name[NC_MAX_NAME] = '\0';
    snprintf(text, sizeof text, "netcdf x { variables: int %s; }", name);
    reads(text);
    has_var(0, name, NC_INT, 0);
    name[NC_MAX_NAME] = 'n';
    name[NC_MAX_NAME + 1] = '\0';
    snprintf(text, sizeof text, "netcdf x { variables: int %s; }", name);
    fails(text, NC_EMAXNAME, "text: line 1, column 27: the name has more than 256 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(an_empty_dataset, stop),
        cmocka_unit_test_teardown(dimensions_are_defined, stop),
        cmocka_unit_test_teardown(every_type_has_its_names, stop),
        cmocka_unit_test_teardown(variables_have_dimensions, stop),
        cmocka_unit_test_teardown(names_have_escapes, stop),
        cmocka_unit_test_teardown(keywords_may_be_names, stop),
        cmocka_unit_test_teardown(attributes_are_allowed_anywhere, stop),
        cmocka_unit_test_teardown(the_smallest_format_is_chosen, stop),
        cmocka_unit_test_teardown(the_format_can_be_requested, stop),
        cmocka_unit_test_teardown(syntax_errors_name_their_position, stop),
        cmocka_unit_test_teardown(definitions_are_checked, stop),
        cmocka_unit_test_teardown(long_names_are_refused, stop),
    };
    cdf_init(&h, 5);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
