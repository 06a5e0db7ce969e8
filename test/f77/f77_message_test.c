/* Tests the translation of error messages for Fortran: names of functions and constants,
 * numbers that count from 1, and messages that do not fit. */
#include "f77_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Checks that a message is translated to `expected`, followed by blanks. */
static void translated(const struct f77_names *names, const char *message,
                       const char *expected, size_t size)
{
    char text[2048];
    memset(text, '#', sizeof text);
    assert_true(size < sizeof text);
    bool fits = f77_message(text, size, message, names);
    assert_int_equal('#', text[size]);
    size_t n = size;
    while (n > 0 && text[n - 1] == ' ')
        n--;
    text[n] = '\0';
    assert_string_equal(expected, text);
    assert_true(!fits || strlen(expected) <= size);
}

static void functions_have_their_fortran_names(void **state)
{
    (void)state;
    static const char *const rows[][3] = {
        {"ncmpi_redef", "nfmpi_redef", "nf90mpi_redef"},
        {"ncmpi__enddef", "nfmpi__enddef", "nf90mpi_enddef"},
        {"ncmpix_flush_start", "nfmpix_flush_start", "nf90mpix_flush_start"},
        {"ncmpi_put_vara_float_all", "nfmpi_put_vara_real_all", "nf90mpi_put_var_all"},
        {"ncmpi_put_vara_float", "nfmpi_put_vara_real", "nf90mpi_put_var"},
        {"ncmpi_get_var1_schar", "nfmpi_get_var1_int1", "nf90mpi_get_var"},
        {"ncmpi_iput_vars_short", "nfmpi_iput_vars_int2", "nf90mpi_iput_var"},
        {"ncmpi_bput_varm_longlong", "nfmpi_bput_varm_int8", "nf90mpi_bput_var"},
        {"ncmpi_iget_varn_int", "nfmpi_iget_varn_int", "nf90mpi_iget_varn"},
        {"ncmpi_get_vard_all", "nfmpi_get_vard_all", "nf90mpi_get_vard_all"},
        {"ncmpi_put_var", "nfmpi_put_var", "nf90mpi_put_var"},
        {"ncmpi_put_att_float", "nfmpi_put_att_real", "nf90mpi_put_att"},
        {"ncmpi_def_var_fill", "nfmpi_def_var_fill", "nf90mpi_def_var_fill"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        translated(&f77_names_nfmpi, rows[i][0], rows[i][1], 80);
        translated(&f77_names_nf90mpi, rows[i][0], rows[i][2], 80);
    }
}

static void constants_and_numbers_are_those_of_fortran(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"use NC_BYTE to NC_UINT64", "use NF90_BYTE to NF90_UINT64"},
        {"dimension 'x': start 19, count 19, stride 2, length 36",
         "dimension 'x': start 20, count 19, stride 2, length 36"},
        {"start -1", "start 0"},
        {"start 9223372036854775807", "start -9223372036854775808"},
        {"variable id 7, but the dataset has 2 variables",
         "variable id 8, but the dataset has 2 variables"},
        {"varid is -1, but 4 on process 0", "varid is 0, but 5 on process 0"},
        {"ncmpi_rename_var 'c': id is 3, but 2 on process 0",
         "nf90mpi_rename_var 'c': id is 4, but 3 on process 0"},
        {"dimension 1 is 'a' here", "dimension 2 is 'a' here"},
        {"attribute number 5, but there are 2", "attribute number 6, but there are 2"},
        {"'v', record 3: at most 3 records", "'v', record 4: at most 3 records"},
        {"process 1: id 2, 4 records, request id 5",
         "process 1: id 2, 4 records, request id 5"},
        {"'start 1' and 'NC_INT': it's the function's",
         "'start 1' and 'NC_INT': it's the function's"},
        {"/d/ncmpi_run/NC_1.nc: a", "/d/ncmpi_run/NC_1.nc: a"},
        {"/d/start 5 of 10.nc: start 2", "/d/start 5 of 10.nc: start 3"},
        {"/d/NC_x record 7", "/d/NC_x record 7"},
        {"ncmpi_run.nc: start 2.", "ncmpi_run.nc: start 3."},
        {"record - 2020.nc: start -", "record - 2020.nc: start -"},
        {"non-NC_INT", "non-NC_INT"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        translated(&f77_names_nf90mpi, rows[i][0], rows[i][1], 80);
    translated(&f77_names_nfmpi, "use NC_BYTE", "use NF_BYTE", 80);
    const struct f77_names serial = {"NF_", "nf", false};
    translated(&serial, "NC_INT; ncmpi__enddef", "NF_INT; nf__enddef", 80);
}

static void a_message_that_does_not_fit_loses_directories(void **state)
{
    (void)state;
    const char *message = "opening /scratch/a/b.nc: No such file; check the path";
    translated(&f77_names_nfmpi, message, message, 53);
    translated(&f77_names_nfmpi, message, "opening b.nc: No such file; check the path",
               52);
    translated(&f77_names_nfmpi, message, "opening b.nc: No such file", 26);
    translated(&f77_names_nfmpi, "/a/ (no '/'; I/O)", "/a/ (no '/'; I/", 15);
    translated(&f77_names_nfmpi, "path is '/a/x' or '/b/y'", "path is 'x' or 'y'", 20);
    translated(&f77_names_nfmpi, "anything", "", 0);

    char text[10001], got[8];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(f77_message(got, sizeof got, text, &f77_names_nfmpi));
    assert_memory_equal("xxxxxxxx", got, sizeof got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_their_fortran_names),
        cmocka_unit_test(constants_and_numbers_are_those_of_fortran),
        cmocka_unit_test(a_message_that_does_not_fit_loses_directories),
    };
    return cmocka_run_group_tests_name("f77_message", tests, NULL, NULL);
}
