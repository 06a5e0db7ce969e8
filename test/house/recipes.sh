#!/bin/bash
# Follows the recipes "How to add ..." of CONTRIBUTING.md to the letter in a copy of the tree. It
# adds a hint, an error, a function, a driver, and a test that uses all four, and then builds and
# tests the copy. A recipe must name each file that has to be changed, and every file that it names
# must exist. Since this compiles the whole library, `make check` does not run this test, but `make
# check-recipes` and dev/check do.
top=$(realpath "${srcdir:-.}")
build=$PWD
. "$top/test/support/tap.sh"
export LC_ALL=C
scratch=$(scratch recipes) || exit 99
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree

# in_recipe FILE: prints the file's path in the copy, and records that the recipe must name the
# file.
in_recipe() {
    echo "$recipe $1" >>"$scratch/needed"
    mkdir -p "$tree/$(dirname "$1")"
    echo "$tree/$1"
}

# insert before|after PATTERN FILE: inserts the text from standard input at the first line that
# matches.
insert() {
    awk -v where="$1" -v pattern="$2" '
        FNR == NR { text = text $0 "\n"; next }
        $0 ~ pattern && !done { done = 1; if (where == "before") printf "%s", text; print
                                if (where == "after") printf "%s", text; next }
        { print }
        END { exit !done }' - "$3" >"$scratch/edited" || { echo "$3 has no line '$2'"; return 1; }
    cat "$scratch/edited" >"$3"
}

copied() {
    mkdir "$tree" && tar -C "$top" --exclude=./build --exclude=./.git -cf - . | tar -C "$tree" -xf - &&
        mkdir "$tree/build"
}

# ---- the recipes ----

a_hint() {
    recipe=hint
    insert before '^HINTS_WORD\(MAIN, "nc_statistics"' "$(in_recipe src/lib/hints/hints.def)" <<'END' &&
HINTS_WORD(MAIN, "nc_sample", sample, HINTS_DISABLE, choice, true, "`enable`, `disable`",
          "`disable`", "whether the dataset has a sample layer")
END
        insert before '^    int64_t no_indep_rw;' "$(in_recipe src/lib/hints/hints_table.h)" <<'END' &&
    int64_t sample; /* enum hints_choice */
END
        insert before '^    [{]"nc_in_place_swap"' "$(in_recipe src/lib/hints/hints_effect.c)" <<'END'
    {"nc_sample", 0, HINTS_CLASSIC, "a netCDF-4 file has no sample layer"},
END
}

an_error() {
    recipe=error
    insert after '^#define NC_EFLUSHED ' "$(in_recipe include/pnetcdf_constants.h)" <<'END' &&
#define NC_ESAMPLE            (-299) /**< a sample's result has no place */
END
        insert before '^BASE_ERROR\(NC_EADIOS,' "$(in_recipe src/lib/base/base_errors.def)" <<'END' &&
BASE_ERROR(NC_ESAMPLE, "A result has no place to go to; pass the address of an int")
END
        insert after '^NC_EFLUSHED ' "$(in_recipe test/api/constants.txt)" <<'END'
NC_ESAMPLE integer -299
END
}

a_function() {
    recipe=function
    insert before '^/\*\* @defgroup ext_quantize' "$(in_recipe include/pnetcdf_ext.h.in)" <<'END' &&
/** @defgroup ext_sample A sample
 * @{ */

/** Asks whether the dataset has the sample layer. Independent.
 * @param ncid the file
 * @param has gets 1 or 0
 * @return #NC_NOERR, #NC_EBADID, #NC_ESAMPLE */
int ncmpix_inq_sample(int ncid, int *has);

/** @} */

END
        cat >"$(in_recipe src/lib/api/api_sample.c)" <<'END' &&
/* The inquiry function of the sample layer. */
#include "api_dataset.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

int ncmpix_inq_sample(int ncid, int *has)
{
    struct api_dataset *d;
    int err = api_find(ncid, &d);
    if (err != NC_NOERR) return err;
    if (has == NULL) return base_error_set(NC_ESAMPLE, "has is NULL");
    *has = d->ds.hints.sample == HINTS_ENABLE;
    return NC_NOERR;
}
END
        cat >>"$(in_recipe src/binding/f77/f77_ext.c)" <<'END' &&

int F77_NAME(nfmpix_inq_sample, NFMPIX_INQ_SAMPLE)(const int *ncid, int *has)
{
    return ncmpix_inq_sample(*ncid, has);
}
END
        insert after '^      external nfmpix_prefetch_wait' "$(in_recipe include/pnetcdf_ext.inc)" <<'END' &&
      integer nfmpix_inq_sample
      external nfmpix_inq_sample
END
        insert before '^  function nf90mpix_def_var_quantize' "$(in_recipe src/binding/f90/f90_file.m4)" <<'END' &&
  function nf90mpix_inq_sample(ncid, has)
    integer :: nf90mpix_inq_sample
    integer, external :: nfmpix_inq_sample
    integer, intent(in) :: ncid
    integer, intent(out) :: has
    nf90mpix_inq_sample = nfmpix_inq_sample(ncid, has)
  end function

END
        insert after 'ncmpix_prefetch_wait' "$(in_recipe doc/pnetcdf.3)" <<'END'
.BR ncmpix_inq_sample (),
END
}

a_driver() {
    recipe=driver
    cat >"$(in_recipe src/lib/sample/sample_driver.c)" <<'END' &&
/* A layer that adds a key to a file's info, and nothing else. */
#include "base_mem.h"
#include "driver.h"

struct sample {
    struct driver base;
};

static int close_sample_all(struct driver *self, bool abort)
{
    struct driver *lower = self->lower;
    base_free(self);
    return driver_call(lower, close_all, abort);
}

static int inq_sample_info(struct driver *self, MPI_Info info)
{
    (void)MPI_Info_set(info, "sample_layer", "here");
    return driver_call(self->lower, inq_info, info);
}

static const struct driver_ops slots = {
    .close_all = close_sample_all,
    .inq_info = inq_sample_info,
};

static bool sample_is_wanted(const struct dataset *ds, bool create)
{
    (void)create;
    return ds->hints.sample == HINTS_ENABLE;
}

/* Adds the layer on all processes, or on none if one lacks memory. */
static int add_sample_all(struct dataset *ds, int mode, struct driver *lower,
                          struct driver **self)
{
    (void)mode;
    struct sample *s = base_calloc(1, sizeof *s);
    int err = dataset_agree_all(ds, s == NULL ? NC_ENOMEM : NC_NOERR, NULL, NULL, 0);
    *self = lower;
    if (err != NC_NOERR || s == NULL) {
        base_free(s);
        return err;
    }
    driver_stack(&s->base, &slots, lower, ds);
    *self = &s->base;
    return NC_NOERR;
}

const struct driver_kind sample_driver = {
    .wanted = sample_is_wanted,
    .create_all = add_sample_all,
    .open_all = add_sample_all,
};
END
        insert after '^extern const struct driver_kind stage_driver' "$(in_recipe src/lib/driver/driver.h)" <<'END' &&
extern const struct driver_kind sample_driver;
END
        sed -i 's/&stage_driver, /&\&sample_driver, /' "$(in_recipe src/lib/driver/driver_registry.c)" &&
        grep -q sample_driver "$tree/src/lib/driver/driver_registry.c" &&
        insert before '^stage stage driver' "$(in_recipe test/house/modules.sh)" <<'END' &&
sample sample driver file node access dataset trace base cdf conv region
END
        sed -i 's/,driver,mpio,burst,stage}/,driver,mpio,burst,stage,sample}/' "$(in_recipe test/house/collective.sh)" &&
        grep -q 'stage,sample}' "$tree/test/house/collective.sh"
}

a_test() {
    recipe="test"
    echo test/sample/sample.mpi >>"$(in_recipe test/tests.list)"
    cat >"$tree/test/sample.c" <<'END' &&
/* Tests what the recipes add: a hint, an error, a function and a driver. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pnetcdf.h"
#include "pnetcdf_ext.h"

/* Creates a dataset with a value of the hint, puts a random number and reads it back. */
static void look_at(const char *hint, int expected)
{
    int ncid, varid, has = -1, there = 0, number = rand(), back = ~number;
    char value[8] = "";
    MPI_Info info, used;
    MPI_Info_create(&info);
    MPI_Info_set(info, "nc_sample", hint);
    CHECK_NC(NC_NOERR, ncmpi_create(MPI_COMM_WORLD, check_path("a.nc"), NC_CLOBBER, info, &ncid));
    MPI_Info_free(&info);
    CHECK_NC(NC_NOERR, ncmpi_def_var(ncid, "v", NC_INT, 0, NULL, &varid));
    CHECK_NC(NC_NOERR, ncmpi_enddef(ncid));
    CHECK_NC(NC_NOERR, ncmpi_put_var_int_all(ncid, varid, &number));
    CHECK_NC(NC_NOERR, ncmpi_get_var_int_all(ncid, varid, &back));
    CHECK(check.nprocs > 1 || back == number);
    CHECK_NC(NC_NOERR, ncmpix_inq_sample(ncid, &has));
    CHECK_EQ(expected, has);
    CHECK_NC(NC_ESAMPLE, ncmpix_inq_sample(ncid, NULL));
    CHECK(strstr(ncmpi_strerror(NC_ESAMPLE), "no place to go to") != NULL);
    CHECK(strcmp(ncmpi_strerrno(NC_ESAMPLE), "NC_ESAMPLE") == 0);
    CHECK_NC(NC_NOERR, ncmpi_inq_file_info(ncid, &used));
    MPI_Info_get(used, "sample_layer", 7, value, &there);
    CHECK_EQ(expected, there);
    MPI_Info_get(used, "nc_sample", 7, value, &there);
    CHECK(there && strcmp(value, hint) == 0);
    MPI_Info_free(&used);
    CHECK_NC(NC_NOERR, ncmpi_close(ncid));
}

static void the_layer_is_there_if_asked_for(void)
{
    look_at("enable", 1);
    look_at("disable", 0);
}

static const struct check_test tests[] = {
    {"the layer is there if asked for", the_layer_is_there_if_asked_for, 0},
    {NULL, NULL, 0},
};

int main(int argc, char **argv)
{
    return check_main(argc, argv, tests, "1 2");
}
END
        mkdir "$tree/test/sample" && mv "$tree/test/sample.c" "$tree/test/sample"
}

# ---- the copy ----

# Configures the copy like this build, but with less optimisation to save time.
configured() {
    sed "s|^srcdir='.*'|srcdir='$tree'|; s|^ac_pwd='.*'|ac_pwd='$tree/build'|" config.status >"$tree/build/config.status" &&
        chmod +x "$tree/build/config.status" && (cd "$tree/build" && ./config.status)
}
make_it() { make -C "$tree/build" V=0 -j"$(nproc)" CFLAGS='-O1 -Wall -Wextra' "$@"; }
passes() { make_it check-one T="$1" || { cat "$tree/build/${1%.*}.log"; return 1; }; }
for_fortran() {
    ! grep -q '^HAVE_FORTRAN_TRUE = #' "$build/Makefile" || return 0
    make_it src/binding/f77/libf77_la-f77_ext.lo
}

# The table in doc/hints.md is the output of ncmpihints.
hint_documented() {
    local doc
    recipe=hint doc=$(in_recipe doc/hints.md)
    make_it ncmpihints && "$tree/build/ncmpihints" -m main >"$scratch/table" &&
        awk -v table="$scratch/table" '
            /^## This library/ { on = 1 }
            on && /^\|/ { if (!done) while ((getline line <table) > 0) print line
                          done = 1; next }
            done { on = 0 }
            { print }' "$doc" >"$scratch/edited" && cat "$scratch/edited" >"$doc" &&
        grep -qF '| `nc_sample` |' "$doc" &&
        (cd "$tree/build" && srcdir=$tree bash "$tree/test/utils/hints_table.sh") | grep -q '^ok .*hints.md has the table'
}
header_agrees() { (cd "$tree/build" && srcdir=$tree bash "$tree/test/api/header.sh"); }
keeps_house() { (cd "$tree/build" && srcdir=$tree bash "$tree/test/house/$1.sh"); }

# ---- the document ----

# paragraph RECIPE: prints the recipe's paragraph from CONTRIBUTING.md.
paragraph() {
    awk -v begins="^[*][*]An? $1[.*]" '$0 ~ begins { on = 1 } on && /^$/ { exit } on' "$top/CONTRIBUTING.md"
}
needs_are_named() {
    local file bad=0
    [ -s "$scratch/needed" ] || return 1
    while read -r recipe file; do
        case $file in src/lib/sample/* | src/lib/api/*) file=${file%/*} ;; esac
        paragraph "$recipe" | grep -qF -e "${file/sample/NAME}" || { echo "the recipe of a $recipe does not name $file"; bad=1; }
    done < <(sort -u "$scratch/needed")
    return $bad
}
named_is_there() {
    local file found=0 bad=0
    for recipe in hint error function driver test; do
        for file in $(paragraph "$recipe" | grep -oE '`(src|test|include|doc)/[^`]*`' | tr -d '`'); do
            found=$((found + 1))
            [ -e "$tree/${file/NAME/sample}" ] || { echo "a $recipe: there is no $file"; bad=1; }
        done
    done
    [ $found -gt 15 ] && [ $bad = 0 ]
}

check "the source tree is copied" copied
check "a hint is added by its recipe" a_hint
check "an error code is added by its recipe" an_error
check "a function is added by its recipe" a_function
check "a driver is added by its recipe" a_driver
check "a test is added by its recipe" a_test
check "the copy is configured" configured
check "the added test passes" passes test/sample/sample.mpi
check "the test of hints passes with the added hint" passes test/hints/hints.unit
check "ncmpihints documents the added hint" hint_documented
check "the header has the added error code" header_agrees
check "the added Fortran function compiles" for_fortran
check "the modules keep their rules with the added code" keeps_house modules
check "the added code causes no cycle of calls" keeps_house circles
check "the recipes name every file that they need" needs_are_named
check "every file that the recipes name exists" named_is_there
finish
