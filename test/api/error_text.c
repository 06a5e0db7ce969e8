/* Tests the names and messages of error codes, and the version string. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "made_dataset.h"

static void every_code_has_a_name_and_a_message(void)
{
    static const struct {
        int code;
        const char *name;
    } known[] = {{NC_NOERR, "NC_NOERR"},
                 {NC_EBADID, "NC_EBADID"},
                 {NC_ENOTNC, "NC_ENOTNC"},
                 {NC_EINDEP, "NC_EINDEP"},
                 {NC_EMULTIDEFINE_ATTR_VAL, "NC_EMULTIDEFINE_ATTR_VAL"},
                 {NC_EPENDING, "NC_EPENDING"},
                 {NC_ENULLPAD, "NC_ENULLPAD"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK_STR(known[i].name, ncmpi_strerrno(known[i].code));
    for (int code = 0; code > -280; code--) {
        const char *name = ncmpi_strerrno(code), *text = ncmpi_strerror(code);
        CHECK(name != NULL && text != NULL && name[0] != '\0' && text[0] != '\0');
        if (strncmp(name, "NC_E", 4) == 0 && code != NC_EMULTIDEFINE)
            CHECK(strncmp(text, "Unknown", 7) != 0);
    }
}

static void messages_of_different_codes_differ(void)
{
    char text[300];
    for (int code = -33; code >= -78; code--)
        for (int other = code - 1; other >= -78; other--) {
            snprintf(text, sizeof text, "%s", ncmpi_strerror(code));
            if (strcmp(ncmpi_strerror(other), text) == 0)
                CHECK_STR("a text of its own", text);
        }
}

static void positive_codes_are_errors_of_the_system(void)
{
    CHECK_STR(strerror(ENOSPC), ncmpi_strerror(ENOSPC));
    CHECK_STR(strerror(EACCES), ncmpi_strerror(EACCES));
}

static bool begins(const char *text, const char *words)
{
    return strncmp(text, words, strlen(words)) == 0;
}

/* The beginnings of these messages must not change, because programs compare them. */
static void messages_that_programs_compare_are_unchanged(void)
{
    CHECK(begins(ncmpi_strerror(-9999), "Unknown Error"));
    CHECK(begins(ncmpi_strerror(99999), "Unknown Error"));
    CHECK(begins(ncmpi_strerror(NC_EMULTIDEFINE_VAR_NUM), "Number of variables is"));
    CHECK_STR("Attribute value is inconsistent among processes.",
              ncmpi_strerror(NC_EMULTIDEFINE_ATTR_VAL));
    CHECK_STR("No error", ncmpi_strerror(NC_NOERR));
}

static void unknown_codes_are_reported_as_unknown(void)
{
    CHECK(strstr(ncmpi_strerror(-9999), "9999") != NULL);
    CHECK(strstr(ncmpi_strerrno(-9999), "9999") != NULL);
}

static void the_version_is_reported(void)
{
    const char *text = ncmpi_inq_libvers();
    char number[64];
    snprintf(number, sizeof number, "%d.%d.%d", PNETCDF_VERSION_MAJOR,
             PNETCDF_VERSION_MINOR, PNETCDF_VERSION_SUB);
    CHECK_STR(PNETCDF_VERSION, number);
    CHECK(text != NULL && strstr(text, "(ncmpi " NCMPI_VERSION ") of ") != NULL);
    /* Programs parse the version string up to its first blank. */
    CHECK(strcspn(text, " ") == strlen(number) &&
          strncmp(text, number, strlen(number)) == 0);
    snprintf(number, sizeof number, "%d.%d.%d", NCMPI_VERSION_MAJOR, NCMPI_VERSION_MINOR,
             NCMPI_VERSION_SUB);
    CHECK_STR(NCMPI_VERSION, number);
    CHECK(strlen(text) < 80); /* result length of the Fortran function */
    CHECK_STR(PNETCDF_VERSION, PNETCDF_VERSION_PRE);
    CHECK(strstr(text, PNETCDF_RELEASE_DATE) != NULL);
}

static const struct check_test tests[] = {
    {"every code has a name and a message", every_code_has_a_name_and_a_message, 0},
    {"messages of different codes differ", messages_of_different_codes_differ, 0},
    {"positive codes are errors of the system", positive_codes_are_errors_of_the_system,
     0},
    {"unknown codes are reported as unknown", unknown_codes_are_reported_as_unknown, 0},
    {"messages that programs compare are unchanged",
     messages_that_programs_compare_are_unchanged, 0},
    {"the version is reported", the_version_is_reported, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1");
}
