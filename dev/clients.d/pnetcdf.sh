# Sourced by dev/clients. Runs PnetCDF's test programs, examples and benchmarks. A program is
# named FOLDER/NAME, as in PnetCDF's source tree, but without test/.

source=$dir/pnetcdf
made=$dir/made          # generated files
bin=$dir/bin
out=$dir/out

# ---- compiling ----

# Defines the results that PnetCDF's configure would find for this library and machine.
defines=(-DRELAX_COORD_BOUND -DENABLE_LARGE_SINGLE_REQ -DENABLE_BURST_BUFFER -DENABLE_THREAD_SAFE
    -DHAVE_STRDUP -DHAVE_STRCASECMP -DHAVE_DECL_MPI_OFFSET)
types=(-Dschar='signed char' -Duchar='unsigned char' -Dlonglong='long long'
    -Dulonglong='unsigned long long')
flash=(-DN_DIM=3 -DMAXBLOCKS=100 -DIONMAX=13)

cc() {
    $("$inst/bin/pnetcdf-config" --cc) -w -O1 -g "${defines[@]}" "${types[@]}" -I"$made" \
        -I"$inst/include" -I"$source/test/common" "$@"
}
fc() {
    $("$inst/bin/pnetcdf-config" --fc) -w -O1 -g -fallow-argument-mismatch "${defines[@]}" \
        "${flash[@]}" -I"$made" -I"$inst/include" "$@"
}
cxx() {
    $("$inst/bin/pnetcdf-config" --c++) -w -O1 -g "${defines[@]}" -I"$inst/include" \
        -I"$source/test/common" "$@"
}
libs() { echo "$("$inst/bin/pnetcdf-config" --libs) -lm -lpthread"; }

# Compiles the files that several tests share. The Fortran tests contain C files, which include
# private headers of PnetCDF.
prepare() {
    mkdir -p "$made" "$bin" "$out"
    cat "$inst"/include/* >"$dir/headers.new"
    cmp -s "$dir/headers.new" "$dir/headers" || cp "$dir/headers.new" "$dir/headers"
    echo '#include <mpi.h>
#include <pnetcdf.h>' >"$made/mpinetcdf_impl.h"
    echo '#define FORTRAN_API
#define FORT_CALL' >"$made/mpifnetcdf.h"
    m4 -DPNETCDF -I"$source/m4" "$source/test/nc_test/tests.h.m4" >"$made/tests.h" &&
        cc -c -o "$made/testutils.o" "$source/test/common/testutils.c" &&
        fc -J"$made" -c -o "$made/testutilsf.o" "$source/test/common/testutilsf.F90" &&
        fc -J"$made" -c -o "$made/utils.o" "$source/examples/F90/utils.F90"
}

# Edits three large programs that stop at the first unexpected result, so that the rest of their
# tests also run. The edited programs do not check error messages, expect the same errors from the
# burst buffer as from the file, and flush before they sync. See doc/clients.md for the reasons.
spare() {
    sed -E "/NC_TEST\(ncmpi_strerror\)/d; /call test\(.*strerror/d; s/bb_enabled = 1/bb_enabled = 0/
        s/(bb_enabled?) = \(hint .eq. 'enable'\)/\1 = .FALSE./
        s/err = ncmpi_sync\(ncidw\)/err = ncmpi_flush(ncidw), &/
        s/^( *)err = (nf|nf90)mpi_sync\(ncidw\)/\1err = \2mpi_flush(ncidw)\n&/"
}

# made TO FILE: prints FILE. If FILE is a template, prints the name of the file in TO that is
# generated from it.
made() {
    local as=.c to=$1/$(basename "$2" .m4)
    case $2 in */nf_test/*) as=.F ;; */nf90_test/*) as=.F90 ;; esac
    case $2 in
    */n*_test/*.m4) m4 -DPNETCDF -I"$source/m4" "$2" | spare >"$to$as" && echo "$to$as" ;;
    */n*_test/*) spare <"$2" >"$to" && echo "$to" ;;
    *.m4) m4 -DPNETCDF -I"$source/m4" "$2" >"$to$as" && echo "$to$as" ;;
    *) echo "$2" ;;
    esac
}

# tests_inc FOLDER TO: generates the header that configure would make from FOLDER/tests.inc.in.
tests_inc() {
    [ ! -e "$1/tests.inc.in" ] ||
        sed 's/@NF_INT\([128]\)_T@/integer*\1/; s/@PNF_X_INT8_MIN@/-9223372036854775807_8/
            s/@PNF_X_INT8_MAX@/9223372036854775807_8/; s/@PNF_X_UINT_MAX@/4294967295_8/' \
            "$1/tests.inc.in" >"$2/tests.inc"
}

# form NAME FILE: prints the compiler option for the source form, fixed or free.
form() {
    case $1 in
    fandc/fixedform) echo -ffixed-form ;;
    fandc/freeform) echo -ffree-form ;;
    *) case $2 in *.f | *.F) echo -ffixed-form ;; *) echo -ffree-form ;; esac ;;
    esac
}

# compile NAME SOURCE...: compiles the program. The compiler's output is in NAME/log.
compile() {
    local name=$1 to=$made/$1 files=() file
    shift
    [ ! "$bin/$name" -nt "$dir/headers" ] || return 0
    mkdir -p "$to" "$(dirname "$bin/$name")"
    rm -f "$bin/$name"
    tests_inc "$(dirname "$1")" "$to" || return 1
    for file in "$@"; do
        case $file in
        *.o) files+=("$file") ;;
        *) files+=("$(made "$to" "$file")") || return 1 ;;
        esac
    done
    case ${files[0]} in
    *.c) cc $(netcdf_flags "$name") -I"$(dirname "$1")" -o "$bin/$name" "${files[@]}" "$made/testutils.o" $(libs) $(netcdf_libs "$name") ;;
    *.cpp) cxx -o "$bin/$name" "${files[@]}" "$made/testutils.o" $(libs) ;;
    *) fc "$(form "$name" "$1")" -J"$to" -I"$to" -I"$(dirname "$1")" -o "$bin/$name" "${files[@]}" \
        $(case $name in examples/*) echo "$made/utils.o" ;; *) echo "$made"/testutils{f,}.o ;; esac) \
        $(libs) ;;
    esac >"$to/log" 2>&1
}

# Lists the programs in these directories that consist of one source file. Programs that write
# precede those that read what they wrote.
singles() {
    local folder file cxx=
    [ "$("$inst/bin/pnetcdf-config" --has-c++)" = no ] || cxx='CXX examples/CXX'
    for folder in $cxx testcases nonblocking burst_buffer subfile cdf_format header fandc C F90 \
        examples/{C,F77,F90,tutorial,burst_buffer} benchmarks/C largefile; do
        for file in $(ls -r "$source/$folder"/*.{c,m4,f,F,f90,cpp} \
            "$source/test/$folder"/*.{c,m4,f,F,f90,cpp} \
            2>/dev/null); do
            echo "$folder/$(basename "${file%.*}") $file"
        done
    done
    for file in t_nc tst_atts tst_atts3 tst_misc tst_names tst_nofill tst_norm tst_small; do
        echo "nc_test/$file $source/test/nc_test/$file.c"
    done
}

# Lists the programs that consist of several source files.
joined() {
    local t=$source/test b=$source/benchmarks/FLASH-IO
    echo nc_test/nc_test "$t"/nc_test/{nc_test,error,util}.c "$t"/nc_test/test_*.m4
    echo nf_test/nf_test "$t"/nf_test/*.F "$t"/nf_test/test_*.m4 "$made/nf_test/fortlib.o"
    echo nf90_test/nf90_test "$t"/nf90_test/*.F90 "$t"/nf90_test/test_*.m4 "$made/nf90_test/fortlib.o"
    echo benchmarks/FLASH-IO/flash_benchmark_io "$b"/{get_mfluid_property,flash_release}.F90 \
        "$b"/{flash_benchmark_io,checkpoint_ncmpi_parallel,plotfile_ncmpi_parallel}.F90
}

pnetcdf_programs() { { singles; joined; } | grep -E "^[^ ]*($pattern)"; }

compile_all() {
    local name files folder
    for folder in nf_test nf90_test; do
        mkdir -p "$made/$folder"
        cc -c -DF77_NAME_LOWER_USCORE -o "$made/$folder/fortlib.o" "$source/test/$folder/fortlib.c" || return 1
    done
    while read -r name files; do
        compile "$name" $files </dev/null || {
            echo "$name does not compile: $made/$name/log"
            note "$name" 1 plain failed
        }
    done <"$dir/programs"
}

# ---- running ----

# counts NAME: prints the process counts of the program. Some programs run only on one process, and
# others only on several.
counts() {
    case $1 in
    header/*) echo 4 ;;
    nc_test/* | nf_test/* | nf90_test/* | F90/tst_io) echo 1 ;;
    nc4/* | testcases/nc4/*) if parallel_netcdf; then echo 1 4; else echo 1; fi ;;
    *) echo 1 4 ;;
    esac
}

# ways NAME: prints the ways to run the program, such as plain or burst.
ways() {
    case $1 in
    burst_buffer/*) echo plain burst safe shared ;;
    largefile/* | nc4/* | */nc4/*) echo plain burst ;;
    *) echo plain burst safe ;;
    esac
}

# variants NAME: prints the program's arguments, one line per run. @ stands for the directory, and
# @@ for a file in it.
variants() {
    case $1 in
    cdf_format/test_inq_format | cdf_format/tst_corrupt) echo "$source/test/cdf_format" ;;
    cdf_format/tst_open_cdf5) echo "$source/test/cdf_format/bad_begin.nc5" ;;
    nc_test/nc4/nc_test) echo -4 -d @ ;;
    nc_test/nc_test | nf_test/nf_test | nf90_test/nf90_test) printf '%s\n' '-d @' '-2 -d @' '-5 -d @' ;;
    F90/tst_io) echo @ ;;
    C/pres_temp_4D_*) echo @/pres_temp_4D.nc ;;
    subfile/*) echo -f @@ -s 2 ;;
    examples/*/get_vara) echo -q @/put_vara.nc ;;
    examples/burst_buffer/*) echo -q -b @ @@ ;;
    examples/tutorial/pnetcdf-read-*) echo "@/pnetcdf-write-${1##*-read-}.nc" ;;
    examples/tutorial/*) echo @@ ;;
    examples/*) echo -q @@ ;;
    benchmarks/C/*) echo -q -l 10 @@ ;;
    benchmarks/FLASH-IO/*) echo -q @/flash. ;;
    netcdf/tst_addvar) echo tst_pnetcdf.nc ;;
    netcdf/* | fandc/*) echo ;;
    *) echo @@ ;;
    esac
}

# started NAME N WAY FOLDER ARGUMENT...: runs the program once, on N processes in FOLDER.
started() {
    local name=$1 n=$2 way=$3 at=$4 limit=60
    local burst="nc_burst_buf=enable;nc_burst_buf_dirname=$at;nc_burst_buf_overwrite=enable"
    shift 4
    case $name in
    largefile/*) limit=600 ;;
    nf_test/*) ln -sf "$bin/$name" "$at" ;; # nf_test detects PnetCDF by this link
    nf90_test/*) ln -sf "$made/$name/test_get.F90" "$at" ;;
    esac
    (
        cd "$at" || exit
        case $way in
        burst) export PNETCDF_HINTS=$burst ;;
        shared) export PNETCDF_HINTS="$burst;nc_burst_buf_shared_logs=enable" ;;
        safe) export PNETCDF_SAFE_MODE=1 ;;
        esac
        launch -t $limit "$n" "$bin/$name" "$@"
    )
}

# log_reports_failure LOG: succeeds if the program printed a failure. Some programs exit with status 0
# even if they fail.
log_reports_failure() {
    grep -E '\bfail(ed|ures)?\b|^Error|^ERROR|### .*FAIL|Failed with' "$1" | grep -qvE 'failures: +0$'
}
tells_skip() { grep -qE -- '--- *(\S*m)?skip' "$1"; }

# may_differ NAME: succeeds if the program's files may differ, either because its processes put
# different values to the same element, or because the program behaves differently with the burst
# buffer.
may_differ() { case $1 in F90/test_fill | nonblocking/i_varn_indef) true ;; *) false ;; esac }

# left NAME N WAY FOLDER LOG: succeeds if the files that the program wrote are valid, and are the
# same with and without the burst buffer.
left() {
    local file other
    for file in "$4"/*; do
        [ -f "$file" ] && [ "$file" -nt "$5.began" ] || continue
        case $(head -c 3 "$file" | tr -d '\0') in CDF) ;; *) continue ;; esac
        "$inst/bin/ncvalidator" -q "$file" >>"$5" 2>&1 || { echo "$file is not valid" >>"$5"; return 1; }
        other=$out/plain.$2/${file#"$out/$3.$2/"}
        if [ "$3" = burst ] && ! may_differ "$1" && [ -e "$other" ] && [ "$(stat -c %s "$file")" -lt 100000000 ]; then
            launch "$2" "$inst/bin/ncmpidiff" -q "$file" "$other" >>"$5" 2>&1 ||
                { echo "$file differs from $other" >>"$5"; return 1; }
        fi
    done
}

# meant NAME FOLDER: makes the additional checks that PnetCDF's scripts make.
meant() {
    local file
    case $1 in
    testcases/redef1)
        "$inst/bin/ncmpigen" -v 5 -o "$2/redef-good.nc" "$source/test/testcases/redef-good.ncdump" &&
            launch 1 "$inst/bin/ncmpidiff" -q "$2/redef1.nc" "$2/redef-good.nc" ;;
    cdf_format/tst_corrupt)
        for file in "$source"/test/cdf_format/bad_*; do
            ! "$inst/bin/ncvalidator" -q "$file" || { echo "$file is valid"; return 1; }
        done ;;
    esac
}

# outcome NAME N WAY: runs the program and prints passed, failed, hangs or skipped.
outcome() {
    local folder=$out/$3.$2/$(dirname "$1") log=$out/$3.$2/$1.log line rc result=passed
    mkdir -p "$folder"
    : >"$log"
    touch "$log.began"
    while IFS= read -r line; do
        line=${line//@@/$folder/$(basename "$1").nc}
        rc=0
        started "$1" "$2" "$3" "$folder" ${line//@/$folder} >>"$log" 2>&1 </dev/null || rc=$?
        if [ $rc = 124 ]; then
            echo hangs
            return
        fi
        [ $rc = 0 ] || result=failed
    done < <(variants "$1")
    if [ $result = failed ] || log_reports_failure "$log" || ! left "$1" "$2" "$3" "$folder" "$log" ||
        ! meant "$1" "$folder" >>"$log" 2>&1; then
        echo failed
    elif tells_skip "$log"; then
        echo skipped
    else
        echo passed
    fi
    case $1 in largefile/*) rm -f "$folder/${1##*/}.nc"* ;; esac
}

# Runs each program that was compiled successfully.
run_programs() {
    local name rest n way
    while read -r name rest; do
        [ -x "$bin/$name" ] || continue
        for n in $(counts "$name"); do
            for way in $(ways "$name"); do
                note "$name" "$n" "$way" "$(outcome "$name" "$n" "$way")"
            done
        done
    done <"$dir/programs"
}

pnetcdf_all() {
    pnetcdf_programs >"$dir/programs"
    prepare >"$dir/prepare.log" 2>&1 || die "PnetCDF's common parts do not compile: $dir/prepare.log"
    compile_all || die "PnetCDF's programs do not compile"
    run_programs
}
