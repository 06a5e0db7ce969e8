#!/bin/bash
# Tests a dataset in subfiles that several jobs or tools use at the same time: jobs that write to
# it, and jobs and tools that join it. Also tests files left by killed jobs and tools, access
# rights, and names that are too long or in use by another file. BLOB_OWNERS=all (make
# check-blob-generations) also opens a thousand datasets at the same time.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-owners.XXXXXX") || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=$PWD/test/blob/blob_history
a=$where/a.nc o=$where/o.nc
blobs='nc_blob=enable;nc_num_subfiles=2'
umask 022

fresh() {
    rm -rf "$where"/*
    PNETCDF_HINTS=$blobs launch 2 "$program" make "$a"
}
# says PATTERN COMMAND...: succeeds if the command fails with a message that matches PATTERN.
says() {
    local pattern=$1
    shift
    ! "$@" >"$where/said" 2>&1 && grep -q "$pattern" "$where/said" && return
    cat "$where/said"
    return 1
}
# beside PROCESSES MODE COMMAND...: runs the command while a job waits: `blob_history MODE`.
beside() {
    local n=$1 mode=$2 status=0 line pid
    shift 2
    mkfifo "$where/in" "$where/out" || return
    launch_prepare "$n"
    NCMPI_TEST_RUN=beside "${launch_command[@]}" "$program" "$mode" "$a" \
        <"$where/in" >"$where/out" 2>"$where/err" &
    pid=$!
    exec 7>"$where/in" 8<"$where/out"
    read -r line <&8
    "$@" || status=1
    exec 7>&-
    wait "$pid" || { cat "$where/err"; status=1; }
    exec 8<&-
    rm "$where/in" "$where/out"
    return $status
}
whole() { "$program" check "$1" >"$where/looked" 2>&1 || { cat "$where/looked"; return 1; }; }

# ---- a job that writes ----

busy='is open for writing by process [0-9]* on host [^ ]* since'
no_join() {
    says "a.nc $busy" ./ncmpijoin "$a" "$o" && says "a.nc $busy" ./ncmpijoin --remove "$a" "$o" &&
        says "a.nc $busy" launch 2 ./ncmpijoin -c "$a" "$o" &&
        ! [ -e "$o" ] && [ -e "$a.0001" ] && whole "$a"
}
writer() {
    fresh && beside 1 hold no_join && beside 2 hold no_join && whole "$a" && ./ncmpijoin -r "$a" "$o" && whole "$o"
}
check "ncmpijoin is refused while a job writes" writer
compact() {
    local blobs="$blobs;nc_compress=zstd"
    fresh && beside 1 hold says "a.nc $busy" ./ncmpijoin --compact "$a" && whole "$a"
}
check "ncmpijoin --compact is refused while a job writes" compact

second() { says "a.nc $busy" env PNETCDF_HINTS="$1" "$program" append "$a" && [ -e "$a.0001" ]; }
two_writers() {
    local hints
    for hints in nc_blob_join=close nc_blob_join=behind nc_burst_buf=enable ''; do
        fresh && beside 2 hold second "$hints" && whole "$a" && "$program" append "$a" && whole "$a" || return
    done
}
check "a second writing job is refused" two_writers

# ---- joins ----

kept_out() {
    local pid='is being joined into one file by process [0-9]* on host [^ ]* since'
    says "a.nc $pid" "$program" append "$a" && says "a.nc $pid" ./ncmpijoin "$a" "$o"
}
behind() {
    fresh && PNETCDF_HINTS=nc_blob_join=behind beside 1 behind kept_out && whole "$a" && [ "$(ls "$where" | grep -c a.nc)" = 1 ]
}
check "a deferred join refuses other jobs" behind
joiner() {
    fresh && beside 1 own says 'another job has it open' ./ncmpijoin "$a" "$o" && ! [ -e "$o" ]
}
check "ncmpijoin is refused while another one runs" joiner
two_joins() {
    local i first second n=0
    fresh || return
    for i in 1 2 3 4 5 6; do
        rm -f "$o" "$where/p.nc"
        launch 2 ./ncmpijoin "$a" "$o" >"$where/said" 2>&1 & first=$!
        # Uses a different mark, because a launch kills all processes with its own mark when it
        # ends.
        NCMPI_TEST_RUN=second ./ncmpijoin "$a" "$where/p.nc" >"$where/said2" 2>&1; second=$?
        wait $first; first=$?
        [ $first = 0 ] && { n=$((n + 1)); whole "$o" || return; }
        [ $second = 0 ] && { n=$((n + 1)); whole "$where/p.nc" || return; }
        [ $first = 0 ] || grep -q -e joined -e 'another job' "$where/said" || return
        [ $second = 0 ] || grep -q -e joined -e 'another job' "$where/said2" || return
    done
    [ $n -ge 6 ] && [ -e "$a.0001" ] && ! ls "$where" | grep joining
}
check "two concurrent ncmpijoin do not disturb each other" two_joins
read_only() {
    fresh && chmod 444 "$a"* && ./ncmpijoin "$a" "$o" && whole "$o" && [ "$(stat -c %a "$o")" = 444 ]
}
check "ncmpijoin joins a read-only dataset" read_only

# ---- after a kill ----

killed() {
    fresh
    { launch 2 "$program" kill "$a"; } >"$where/said" 2>&1
    whole "$a" && ./ncmpijoin -c "$a" "$o" && whole "$o" && ./ncvalidator "$o" &&
        says 'did not close it' ./ncmpijoin -f --remove "$a" "$o" && [ -e "$a.0000" ] &&
        launch 2 "$program" append "$a" && ./ncmpijoin -f --remove "$a" "$o" && whole "$o" && ! [ -e "$a" ]
}
check "ncmpijoin joins the files of a killed job" killed
leftovers() {
    local token name
    fresh && token=$(od -An -tx8 --endian=big -N16 -j16 "$a" | awk '{ print $1, $2 }') || return
    name=$(printf 'joining-%016x' $((0x${token% *} ^ 0x${token#* })))
    echo half >"$a.$name"
    echo half >"$o.$name"
    whole "$a" && [ -e "$a.$name" ] && launch 2 "$program" append "$a" && ! [ -e "$a.$name" ] || { echo "open"; return 1; }
    echo half >"$a.$name"
    ./ncmpijoin "$a" "$o" && [ "$(ls "$where" | grep -c joining)" = 0 ] && whole "$o" || { echo "ncmpijoin"; ls "$where"; return 1; }
    echo half >"$a.$name"
    PNETCDF_HINTS=nc_blob_join=close launch 2 "$program" append "$a" && whole "$a" &&
        [ "$(ls "$where" | grep -c -e joining -e a.nc)" = 1 ]
}
check "files of a killed join are removed" leftovers
exits() {
    fresh
    PNETCDF_HINTS='nc_blob_join=behind' "$program" exit "$a"
    whole "$a" && [ -e "$a.0001" ] && PNETCDF_HINTS='nc_blob_join=close' "$program" append "$a" && whole "$a" &&
        [ "$(ls "$where" | grep -c a.nc)" = 1 ]
}
check "nothing is lost when a program exits without a close" exits

# ---- access rights ----

rights() { stat -c '%a %g' "$@" | sort -u; }
group=$(id -G | tr ' ' '\n' | tail -1)
if [ "$(id -u)" = 0 ]; then group=1; fi
private() {
    local hints=$1
    rm -rf "$where"/*
    : >"$a" && chmod 640 "$a" && chgrp "$group" "$a" || return
    PNETCDF_HINTS=$hints launch 2 "$program" make "$a" && [ "$(rights "$a"*)" = "640 $group" ] && return
    ls -l "$where"
    return 1
}
new_files() {
    private "$blobs" && private "$blobs;nc_blob_join=close" && private "$blobs;nc_blob_join=behind"
}
check "subfiles and joined files get the master's permissions" new_files
changed() {
    private "$blobs" && chmod 600 "$a" && PNETCDF_HINTS=nc_blob_join=close launch 2 "$program" append "$a" &&
        [ "$(rights "$a")" = "600 $group" ]
}
check "a joined file gets the master's permissions at that time" changed
tools() {
    private "$blobs" && ./ncmpijoin "$a" "$o" && [ "$(rights "$o")" = "640 $group" ] || return
    rm "$o" && ./ncmpicopy "$a" "$o" && [ "$(rights "$o")" = "640 $group" ] || return
    chmod 644 "$o" && ./ncmpicopy -f "$a" "$o" && [ "$(rights "$o")" = "640 $group" ] || return
    rm "$o" && PNETCDF_HINTS=$blobs launch 2 ./ncmpicopy "$a" "$o" && [ "$(rights "$o"*)" = "640 $group" ]
}
check "ncmpijoin and ncmpicopy preserve permissions" tools

# ---- names ----

long() {
    local name
    rm -rf "$where"/*
    name=$where/$(printf 'n%.0s' {1..231})
    PNETCDF_HINTS=$blobs says 'the name is too long' launch 2 "$program" make "$name" &&
        [ "$(ls "$where")" = said ] && name=${name%n} &&
        PNETCDF_HINTS="$blobs;nc_blob_join=close" launch 2 "$program" make "$name" && whole "$name" &&
        PNETCDF_HINTS=$blobs launch 2 "$program" make "$name" && whole "$name" && ./ncmpijoin -r "$name" "$o" && whole "$o"
}
check "a name too long for subfiles is refused before a file is created" long
strangers() {
    local what
    rm -rf "$where"/*
    echo mine >"$a.0001"
    what='a.nc.0001: a file that is not a subfile has the name that a subfile of .*a.nc requires'
    PNETCDF_HINTS=$blobs says "$what" launch 2 "$program" make "$a" && [ "$(cat "$a.0001")" = mine ] || return
    fresh && mv "$a" "$where/b.nc" && cp "$a.0001" "$where/kept"
    what='a.nc.000[01]: a subfile of another dataset has the name that a subfile of .*a.nc requires'
    PNETCDF_HINTS=$blobs says "$what" launch 2 "$program" make "$a" && cmp "$a.0001" "$where/kept"
}
check "another program's file with a subfile's name is kept" strangers

# ---- many datasets ----

few_descriptors() {
    rm -rf "$where"/* && ulimit -n 100 || return
    PNETCDF_HINTS=$blobs says 'Too many open' launch 2 "$program" many "$a" 100
}
many() {
    rm -rf "$where"/* && ulimit -n "$(ulimit -H -n)" &&
        PNETCDF_HINTS=$blobs launch 2 "$program" many "$a" 1000 && whole "$a.999.nc"
}
check "too many open datasets are an error" eval '(few_descriptors)'
if [ "${BLOB_OWNERS-}" != all ]; then
    skip "a thousand datasets may be open" "BLOB_OWNERS=all has them"
elif [ "$(ulimit -H -n)" = unlimited ] || [ "$(ulimit -H -n)" -ge 4000 ]; then
    check "a thousand datasets may be open" eval '(many)'
else
    skip "a thousand datasets may be open" "ulimit -n"
fi
finish
