#!/bin/bash
# Tests pnetcdf-config and pnetcdf_version. Every option must print one line in the form that build
# systems expect, with the same values as pnetcdf.h and pnetcdf.pc. Paths must remain correct after
# the installed tree is moved.
. "${srcdir:-.}/test/support/tap.sh"
config=src/utils/pnetcdf-config/pnetcdf-config
version=src/utils/pnetcdf_version/pnetcdf_version
configure=$(realpath "${srcdir:-.}/configure")

# answers FORM OPTION...: succeeds if each option prints a single line that matches the regular
# expression FORM.
answers() {
    local form=$1 option out
    shift
    for option in "$@"; do
        out=$("$config" "--$option") && [[ $out =~ $form ]] && [ "$(wc -l <<<"$out")" = 1 ] ||
            { echo "--$option: $out"; return 1; }
    done
}
# is MACRO OPTION ON OFF: succeeds if the option prints ON when the macro in pnetcdf.h is not 0, and
# OFF otherwise.
is() {
    local value
    value=$(sed -n "s/^#define PNETCDF_$1 //p" include/pnetcdf.h)
    [ "$("$config" "--$2")" = "$([ "$value" = 0 ] && echo "$4" || echo "$3")" ] ||
        { echo "--$2: $("$config" "--$2"), $1 $value"; return 1; }
}
features_agree() {
    is ENABLE_FORTRAN has-fortran yes no && is ENABLE_CXX has-c++ yes no || return 1
    local pair
    for pair in RELAX_COORD_BOUND:relax-coord-bound BYTE_SWAP_IN_PLACE:in-place-swap \
        ERANGE_FILL:erange-fill SUBFILING:subfiling \
        NULL_BYTE_HEADER_PADDING:null-byte-header-padding \
        BURST_BUFFERING:burst-buffering PROFILING:profiling THREAD_SAFE:thread-safe \
        DEBUG_MODE:debug DRIVER_NETCDF4:netcdf4 DRIVER_ADIOS:adios; do
        is "${pair%:*}" "${pair#*:}" enabled disabled || return 1
    done
}
# Some programs link with the output of --libs, others with -L and the output of --libdir. Even if
# the linker also searches a directory that contains another PnetCDF, it must link this one.
libs_lead_here() {
    set -- $("$config" --libs)
    [ "$1" = "-L$("$config" --libdir)" ] && [ "$2" = -lpnetcdf ]
}
date_agrees() { grep -q "^#define PNETCDF_RELEASE_DATE \"$("$config" --release-date)\"$" include/pnetcdf.h; }
# stage DIR: creates a copy of the installed tree in DIR.
stage() {
    local prefix
    prefix=$("$config" --prefix)
    case $("$config" --libdir),$("$config" --includedir) in
    "$prefix"/*,"$prefix/include") libdir=$("$config" --libdir) libdir=${libdir#"$prefix"/} ;;
    *) return 1 ;;
    esac
    mkdir -p "$1/bin" "$1/include" "$1/$libdir/pkgconfig" && cp "$config" "$1/bin" &&
        cp include/pnetcdf.h "$1/include" && cp pnetcdf.pc "$1/$libdir/pkgconfig"
}
# is_place TREE SCRIPT: succeeds if SCRIPT prints the same directories as TREE's pnetcdf.pc, and if
# all of them are in TREE.
is_place() {
    local name place
    for name in prefix includedir libdir; do
        place=$("$2" --$name) &&
            [ "$place" = "$(realpath -m "$(PKG_CONFIG_PATH=$1/$libdir/pkgconfig \
                pkg-config --variable=$name pnetcdf)")" ] && [[ $place/ = "$1/"* ]] ||
            { echo "--$name: $place"; return 1; }
    done
}
by_path() { PATH=$1/bin:$PATH pnetcdf-config "$2"; }
moves() {
    stage "$scratch/first" && is_place "$scratch/first" "$scratch/first/bin/pnetcdf-config" &&
        mv "$scratch/first" "$scratch/moved" &&
        is_place "$scratch/moved" "$scratch/moved/bin/pnetcdf-config" &&
        ln -s moved/bin/pnetcdf-config "$scratch/link" && is_place "$scratch/moved" "$scratch/link" &&
        [ "$(by_path "$scratch/moved" --prefix)" = "$scratch/moved" ]
}
# The manual page and --help must document every option that --all prints.
is_described() {
    local option
    "$config" --all | sed -n 's/^  --\([^ ]*\) .*/\1/p' >"$scratch/options"
    [ "$(wc -l <"$scratch/options")" -ge 30 ] || return 1
    while read -r option; do
        "$config" --help | grep -qE -- "--${option//+/\\+}( |$)" &&
            sed 's/\\-/-/g' "${srcdir:-.}/src/utils/pnetcdf-config/pnetcdf-config.1" |
            grep -qE -- "--${option//+/\\+}( |\$)" || { echo "--$option"; return 1; }
    done <"$scratch/options"
}
# configure must take what mpicc is, even if there are compilers of several MPIs. The compilers here
# do not work, so configure stops soon.
takes_mpicc() {
    mkdir "$scratch/mpis" || return
    for name in mpicc mpicc.mpich mpicc.openmpi; do
        printf '#!/bin/sh\nexit 1\n' >"$scratch/mpis/$name" && chmod +x "$scratch/mpis/$name" || return
    done
    (cd "$scratch/mpis" && env -u MPICC -u CC PATH="$scratch/mpis:$PATH" "$configure" >said 2>&1)
    grep '^checking for mpi.*mpicc' "$scratch/mpis/said" | diff - <(echo 'checking for mpicc... mpicc')
}
fails() { ! "$@"; }
two_options() { [ "$("$config" --cc --version | wc -l)" = 2 ]; }
version_says() { "$version" "${@:2}" | grep -E -e "$1"; }
only_says() { version_says "$@" && [ "$("$version" "${@:2}" | wc -l)" = 1 ]; }

scratch=$(realpath "$(mktemp -d)") || exit 99
trap 'rm -rf "$scratch"' EXIT
own=$(sed -n 's/^#define NCMPI_VERSION  *"\([^"]*\)".*/\1/p' include/pnetcdf_ext.h)
number=$(sed -n 's/^#define PNETCDF_VERSION "\(.*\)"$/\1/p' include/pnetcdf.h)

check "configure uses mpicc" takes_mpicc
check "--version prints the version" answers "^PnetCDF ${number//./\\.}$" version
check "--ncmpi-version prints the version of ncmpi" answers "^ncmpi ${own//./\\.}$" ncmpi-version
check "compilers and flags are printed" answers '' cc cflags ldflags f77 fflags fc fcflags c++ cxxflags
check "the header's directory is printed" answers '^-I/' cppflags fppflags
check "the library's flags and directory are printed" libs_lead_here
check "dates are printed" answers '^[0-9]{1,2} [A-Z][a-z]{2} [0-9]{4}$' release-date config-date
check "installation directories are printed" answers '^/' prefix includedir libdir
check "features are printed as yes or no" answers '^(yes|no)$' has-fortran has-c++
check "the release date agrees with pnetcdf.h" date_agrees
check "features agree with pnetcdf.h" features_agree
if command -v pkg-config >/dev/null; then
    check "directories agree with pnetcdf.pc, and are relocatable" moves
else
    skip "directories agree with pnetcdf.pc, and are relocatable" "no pkg-config"
fi
check "several options may be given" two_options
check "--help describes every option" is_described
check "pnetcdf-config refuses an unknown option" fails "$config" --no-such-thing
check "pnetcdf-config refuses an empty command line" fails "$config"
check "pnetcdf_version prints the version first" version_says "^PnetCDF Version:[[:blank:]]*${number//./\\.}$"
check "-v prints only the version" only_says '^PnetCDF Version:' -v
check "-n prints only the version of ncmpi" only_says "^ncmpi Version:[[:blank:]]*${own//./\\.}$" -n
check "without options both versions are printed" version_says '^ncmpi Version:'
check "-d prints only the date" only_says '^PnetCDF Release date:' -d
check "-c prints the options of configure" version_says '^PnetCDF configure:' -c
check "-b prints the compilers" version_says "^MPICC:[[:blank:]]*${MPICC%% *}" -b
check "pnetcdf_version refuses an unknown option" fails "$version" -x
check "pnetcdf_version refuses an argument" fails "$version" word
check "--version is the same as -v" only_says '^PnetCDF Version:' --version
check "--help describes --version" version_says '--version' --help
finish
