#!/bin/bash
# Checks which files the library and the tools create, and how they open these files later, against
# the table "Files we create" in SECURITY.md. A file that is created and later opened by name may
# have been replaced by another user who can write to the directory.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
top=$(cd "${srcdir:-.}" && pwd)
where=$(scratch names) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=$PWD/test/file/file_names files=$where/files a=$where/files/a.nc
export NCMPI_TEST_OPENS=$where/opens
umask 022

# traced COMMAND...: runs the command with opens.so preloaded, ahead of other preloaded libraries.
traced() {
    rm -f "$where/opens"
    LD_PRELOAD=$PWD/test/support/.libs/opens.so${LD_PRELOAD:+:$LD_PRELOAD} "$@"
}
agrees() {
    [ -s "$where/opens" ] || { echo "no calls were written down"; return 1; }
    awk -v dir="$files" -v given="a.nc o.nc trace.json report.txt refs.json dump.cdl program.c" \
        -f "$top/test/file/names.awk" "$top/SECURITY.md" "$where/opens"
}
# all COMMAND...: checks that the command succeeds, and that the table allows all of its calls.
all() { traced "$@" && agrees; }
fresh() { rm -rf "$files" && mkdir -p "$files/logs" "$files/stage"; }

# ---- the library ----

# stack PROCESSES HINTS: writes, extends and reads a dataset, and checks the calls of each step.
stack() {
    local n=$1
    export PNETCDF_HINTS=$2
    fresh
    all launch "$n" "$program" write "$a" && all launch "$n" "$program" add "$a" &&
        all launch "$n" "$program" read "$a"
    local status=$?
    unset PNETCDF_HINTS
    return $status
}
log="nc_burst_buf=enable;nc_burst_buf_dirname=$files/logs"
check "a dataset is opened safely" stack 2 nc_redef_wait_seconds=5
check "a dataset is opened safely by MPI-IO" stack 2 nc_file_io=mpi
check "subfiles are opened safely" stack 2 'nc_blob=enable;nc_num_subfiles=2'
check "one compressed subfile is opened safely" stack 2 'nc_blob=enable;nc_num_subfiles=1;nc_compress=zstd'
check "files of a join at close are opened safely" stack 2 'nc_blob=enable;nc_blob_join=close'
check "files of a deferred join are opened safely" stack 2 'nc_blob=enable;nc_blob_join=behind;nc_deferred_close=enable'
check "staged files are opened safely" stack 2 "nc_stage=enable;nc_stage_dirname=$files/stage"
over_used() {
    export PNETCDF_HINTS=$1
    fresh
    launch 2 "$program" write "$a" && all launch 2 "$program" over "$a" && launch 2 "$program" read "$a" &&
        grep -q 'a.nc.creating-' "$where/opens" && [ -z "$(ls "$files" | grep creating)" ]
    local status=$?
    unset PNETCDF_HINTS
    return $status
}
check "a dataset in use is replaced safely" over_used nc_redef_wait_seconds=5
check "a dataset in use is replaced safely by MPI-IO" over_used nc_file_io=mpi
check "a dataset in use with stripes is replaced safely" over_used 'striping_unit=65536;striping_factor=2'
check "traces and reports are opened safely" stack 2 "nc_trace=$files/trace.json;nc_report=$files/report.txt"
if [ -e ncmpilog ]; then
    check "logs are opened safely" stack 2 "$log"
    check "shared logs are opened safely" stack 2 "$log;nc_burst_buf_shared_logs=enable"
    check "a dataset in use is replaced safely with logs" over_used "$log"
    check "logs of subfiles are opened safely" stack 2 "$log;nc_blob=enable"
    check "logs of a deferred close are opened safely" stack 2 "$log;nc_deferred_close=enable"
fi

# ---- the tools ----

# some HINTS: creates a dataset for the tools, without tracing.
some() { fresh && PNETCDF_HINTS=$1 launch 2 "$program" write "$a"; }
tool() {
    local hints=$1
    shift
    some "$hints" && all "$@"
}
plain=nc_blob=disable blobs='nc_blob=enable;nc_num_subfiles=2'
check "ncmpicopy opens files safely" tool $plain launch 2 ./ncmpicopy -k 5 "$a" "$files/o.nc"
over() { some $plain && cp "$a" "$files/o.nc" && all launch 2 ./ncmpicopy -f -k 5 "$a" "$files/o.nc"; }
check "ncmpicopy replaces a file safely" over
into_blobs() { some $plain && PNETCDF_HINTS=$blobs all launch 2 ./ncmpicopy "$a" "$files/o.nc"; }
check "ncmpicopy writes subfiles safely" into_blobs
check "ncmpijoin opens files safely" tool "$blobs" launch 2 ./ncmpijoin "$a" "$files/o.nc"
check "ncmpijoin --remove opens files safely" tool "$blobs" ./ncmpijoin --remove "$a" "$files/o.nc"
check "ncmpijoin --compact opens files safely" tool "$blobs;nc_compress=zstd" ./ncmpijoin --compact "$a"
check "ncvalidator -r opens files safely" tool $plain ./ncvalidator -q -r "$files/o.nc" "$a"
check "ncvalidator -x opens files safely" tool $plain ./ncvalidator -q -x "$a"
check "ncvalidator -f opens files safely" tool $plain ./ncvalidator -q -f "$a"
check "ncmpirefs opens files safely" tool $plain ./ncmpirefs -o "$files/refs.json" "$a"
gen() {
    some $plain && ./ncmpidump "$a" >"$files/dump.cdl" && all ./ncmpigen -b -o "$files/o.nc" "$files/dump.cdl" &&
        all ./ncmpigen -c -o "$files/program.c" "$files/dump.cdl"
}
check "ncmpigen opens files safely" gen
reads() {
    some $plain && cp "$a" "$files/o.nc" && all ./ncmpidump -v more "$a" && all ./ncoffsets "$a" && all ./cdfdiff "$a" "$files/o.nc" &&
        all launch 2 ./ncmpidiff "$a" "$files/o.nc"
}
check "tools that read open files safely" reads
if [ -e ncmpilog ]; then
    replay() {
        some "$log" && PNETCDF_HINTS="$log;nc_burst_buf_del_on_close=enable" launch 2 "$program" leave "$a"
        all launch 2 ./ncmpilog replay -r "$files/logs"
    }
    check "ncmpilog replay opens files safely" replay
fi

# ---- deletion ----

keeps() {
    some "$blobs" && ! LD_PRELOAD=$PWD/test/support/.libs/fault.so NCMPI_FAULT='unlink:1:EACCES:*a.nc.0001' \
        "$program" delete "$a" && [ -e "$a" ] && "$program" delete "$a" && [ -z "$(ls "$files" | grep a.nc)" ]
}
check "ncmpi_delete keeps the file if a subfile cannot be removed" keeps

# ---- the test itself ----

# Checks that calls that the table forbids are detected.
refused() {
    printf "1\t$1\t$files/$2\t${3:+$files/$3}\n" >"$where/opens"
    ! agrees
}
twice() {
    printf "1\topen\tok\twrite,create,exclusive,new\t0600\t$files/a.nc.0000\t\n%s\n" \
        "1	open	ok	write	0000	$files/a.nc.0000	" >"$where/opens"
    ! agrees && sed -i '2s/write/write,nofollow/' "$where/opens" && agrees
}
check "this test detects a name that is not listed" refused "open\tok\twrite,create,new\t0600" a.nc.other
check "this test detects wider permissions" refused "open\tok\twrite,create,exclusive,new\t0644" a.nc.0000
check "this test detects chmod by name" refused "chmod\tok\t\t0600" a.nc
check "this test detects a second open by name" twice
finish
