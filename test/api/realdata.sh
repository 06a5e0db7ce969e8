#!/bin/bash
# Reads and rewrites real files from Debian's ferret-datasets and libncarg-data on 1 to 4 processes.
# The values read must equal those that netCDF-C reads. The copies must be identical for any number
# of processes, and netCDF-C and ncdump must find them equal to the original. REALDATA=all includes
# the large files (make check-realdata). By default the test uses only a few files of each kind, of
# up to 250 kB each.
here=${srcdir:-.}/test
. "$here/support/tap.sh"
. "$here/support/launch.sh"

nc_read=test/support/nc_read
program=test/api/realdata

classic_files() {
    find /usr/share/ferret-vis/data /usr/share/ncarg/data -type f -size -"$1" \
        \( -name '*.nc' -o -name '*.cdf' \) ! -name '950318*_sao.cdf' 2>/dev/null | sort |
        while read -r file; do
            case $(head -c 3 "$file") in CDF) echo "$file" ;; esac
        done
}

[ "${REALDATA-}" = all ] && size=9999999k || size=250k
mapfile -t originals < <(classic_files $size)
if [ ${#originals[@]} = 0 ]; then
    echo "1..0 # SKIP no real data (Debian: ferret-datasets, libncarg-data)"
    exit 0
fi
if [ ! -x $nc_read ]; then
    echo "1..0 # SKIP no netCDF-C to compare with (Debian: libnetcdf-dev)"
    exit 0
fi

where=${TMPDIR:-/tmp}
scratch=$(mktemp -d "$where/ncmpi-real.XXXXXX") || exit 99
trap 'launch_kill; rm -rf "$scratch"' EXIT

# Different files may have the same base name, so each gets a link with a unique name.
files=()
mkdir "$scratch/in"
for original in "${originals[@]}"; do
    files+=("$scratch/in/${#files[@]}-$(basename "$original")")
    ln -s "$original" "${files[-1]}"
done

# rewrite FILE...: reads and rewrites the files on each number of processes, in $scratch/np1 ...
# np4.
rewrite() {
    local n
    for n in 1 2 3 4; do
        rm -rf "$scratch/np$n"
        mkdir "$scratch/np$n"
        launch -t 300 $n $program "$scratch/np$n" "$@" || return 1
    done
}

# reads_as FILE COPY...: checks that FILE, as read by netCDF-C, has the same contents as each COPY.
reads_as() {
    local file
    "$nc_read" "$1" >"$scratch/expected" || return 1
    for file in "${@:2}"; do diff "$scratch/expected" "$file" || return 1; done
}

copies_are_alike() {
    local n format
    for format in 1 2 5; do
        for n in 2 3 4; do
            cmp "$scratch/np1/$1.$format" "$scratch/np$n/$1.$format" || return 1
        done
    done
}

copies_hold_the_original() {
    local format
    for format in 1 2 5; do
        "$nc_read" "$scratch/np1/$(basename "$1").$format" >"$scratch/copy" || return 1
        reads_as "$1" "$scratch/copy" || return 1
    done
}

# Checks that all three copies have the same CDL as the original.
dumps_alike() {
    local format name
    name=$(basename "$1")
    ncdump -n x "$1" >"$scratch/original.cdl" || return 1
    for format in 1 2 5; do
        ncdump -n x "$scratch/np1/$name.$format" | cmp "$scratch/original.cdl" - || return 1
    done
}

test_file() {
    local name
    name=$(basename "$1")
    check "$name: the library and netCDF-C read the same values" reads_as "$1" "$scratch"/np[1-4]/"$name.read"
    check "$name: copies do not depend on the processes" copies_are_alike "$name"
    check "$name: netCDF-C reads the original's contents from copies" copies_hold_the_original "$1"
    if command -v ncdump >/dev/null; then
        check "$name: ncdump prints copies like the original" dumps_alike "$1"
    else
        skip "$name: ncdump prints copies like the original" "no ncdump"
    fi
}

# Small files are handled in one launch, large files one by one to save disk space.
if [ "${REALDATA-}" = all ]; then
    for file in "${files[@]}"; do
        check "$(basename "$file"): rewritten on 1 to 4 processes" rewrite "$file"
        test_file "$file"
    done
else
    check "${#files[@]} files rewritten on 1 to 4 processes" rewrite "${files[@]}"
    for file in "${files[@]}"; do test_file "$file"; done
fi
finish
