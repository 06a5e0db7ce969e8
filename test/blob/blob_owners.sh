#!/bin/bash
# Two owners of one dataset in subfiles: jobs that write to it, jobs and tools that make one
# file of it; what was killed in the middle, and what it has left. Who may read its files.
# Names: too long, or somebody else's. BLOB_OWNERS=all has a thousand datasets open at once,
# too (make check-blob-moments).
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
# says PATTERN COMMAND...: it fails, with these words.
says() {
    local pattern=$1
    shift
    ! "$@" >"$where/said" 2>&1 && grep -q "$pattern" "$where/said" && return
    cat "$where/said"
    return 1
}
# beside PROCESSES MODE COMMAND...: the command, while a job is in such a state.
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

no_join() {
    says 'a.nc: another program has it open for writing' ./ncmpijoin "$a" "$o" &&
        says 'a.nc: another program has it open for writing' ./ncmpijoin --remove "$a" "$o" &&
        says 'another program has it open' launch 2 ./ncmpijoin -c "$a" "$o" &&
        ! [ -e "$o" ] && [ -e "$a.0001" ] && whole "$a"
}
writer() {
    fresh && beside 1 hold no_join && beside 2 hold no_join && whole "$a" && ./ncmpijoin -r "$a" "$o" && whole "$o"
}
check "ncmpijoin beside a job that writes" writer

# The other job goes on with its subfiles, and closes last.
join_beside() {
    says 'a.nc: another program has it open for writing: it stays in its subfiles' \
        env PNETCDF_HINTS="nc_blob_join=$1" "$program" append "$a" && [ -e "$a.0001" ]
}
library_join() {
    local when
    for when in close behind; do
        fresh && beside 1 hold join_beside $when && whole "$a" && ! ls "$where" | grep joining || return
    done
}
check "nc_blob_join beside a job that writes" library_join

# It came while the other one was at work, which then closed: what that has defined and put is not
# known to it.
second() {
    mkfifo "$where/in2" "$where/out2" || return
    PNETCDF_HINTS=nc_blob_join=close "$program" hold "$a" \
        <"$where/in2" >"$where/out2" 2>"$where/said" 7>&- 8<&- &
    other=$!
    exec 5>"$where/in2" 6<"$where/out2"
    read -r line <&6
}
closes_last() {
    local other line
    fresh && beside 1 hold second || return
    exec 5>&-
    ! wait "$other" || return
    exec 6<&-
    grep -q 'another program had it open for writing, too' "$where/said" && [ -e "$a.0001" ] && whole "$a"
}
check "nc_blob_join by a job that came beside another" closes_last

two_writers() {
    fresh && beside 2 hold "$program" append "$a" >"$where/said" 2>&1
    "$program" append "$a" && whole "$a"
}
check "two jobs that write: no subfile is refused" two_writers

# ---- who joins ----

kept_out() {
    local pid='is being made one file by process [0-9]* on host [^ ]* since'
    says "a.nc: it $pid" "$program" append "$a" && says "a.nc: it $pid" ./ncmpijoin "$a" "$o"
}
behind() {
    fresh && PNETCDF_HINTS=nc_blob_join=behind beside 1 behind kept_out && whole "$a" && [ "$(ls "$where" | grep -c a.nc)" = 1 ]
}
check "a job that joins behind its close keeps others out" behind
joiner() {
    fresh && beside 1 own says 'joins it' ./ncmpijoin "$a" "$o" && ! [ -e "$o" ]
}
check "another ncmpijoin keeps them out" joiner
two_joins() {
    local i first second n=0
    fresh || return
    for i in 1 2 3 4 5 6; do
        rm -f "$o" "$where/p.nc"
        launch 2 ./ncmpijoin "$a" "$o" >"$where/said" 2>&1 & first=$!
        # with a mark of its own: the end of the other launch kills what carries its mark
        NCMPI_TEST_RUN=second ./ncmpijoin "$a" "$where/p.nc" >"$where/said2" 2>&1; second=$?
        wait $first; first=$?
        [ $first = 0 ] && { n=$((n + 1)); whole "$o" || return; }
        [ $second = 0 ] && { n=$((n + 1)); whole "$where/p.nc" || return; }
        [ $first = 0 ] || grep -q 'joins it' "$where/said" || return
        [ $second = 0 ] || grep -q 'joins it' "$where/said2" || return
    done
    [ $n -ge 6 ] && [ -e "$a.0001" ] && ! ls "$where" | grep joining
}
check "two of them at once" two_joins
read_only() {
    fresh && chmod 444 "$a"* && ./ncmpijoin "$a" "$o" && whole "$o" && [ "$(stat -c %a "$o")" = 444 ]
}
check "a dataset that may only be read" read_only

# ---- what was killed ----

killed() {
    fresh
    { launch 2 "$program" kill "$a"; } >"$where/said" 2>&1
    whole "$a" && ./ncmpijoin -c "$a" "$o" && whole "$o" && ./ncvalidator "$o" &&
        says 'did not close it' ./ncmpijoin -f --remove "$a" "$o" && [ -e "$a.0000" ] &&
        launch 2 "$program" append "$a" && ./ncmpijoin -f --remove "$a" "$o" && whole "$o" && ! [ -e "$a" ]
}
check "what a killed job has left is joined" killed
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
check "what a killed join has left is removed" leftovers
exits() {
    fresh
    PNETCDF_HINTS='nc_blob_join=behind' "$program" exit "$a"
    whole "$a" && [ -e "$a.0001" ] && PNETCDF_HINTS='nc_blob_join=close' "$program" append "$a" && whole "$a" &&
        [ "$(ls "$where" | grep -c a.nc)" = 1 ]
}
check "a program that ends without a close" exits

# ---- rights ----

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
check "subfiles and joined files have the rights of the master" new_files
changed() {
    private "$blobs" && chmod 600 "$a" && PNETCDF_HINTS=nc_blob_join=close launch 2 "$program" append "$a" &&
        [ "$(rights "$a")" = "600 $group" ]
}
check "as they are when it is joined" changed
tools() {
    private "$blobs" && ./ncmpijoin "$a" "$o" && [ "$(rights "$o")" = "640 $group" ] || return
    rm "$o" && ./ncmpicopy "$a" "$o" && [ "$(rights "$o")" = "640 $group" ] || return
    chmod 644 "$o" && ./ncmpicopy -f "$a" "$o" && [ "$(rights "$o")" = "640 $group" ] || return
    rm "$o" && PNETCDF_HINTS=$blobs launch 2 ./ncmpicopy "$a" "$o" && [ "$(rights "$o"*)" = "640 $group" ]
}
check "files that tools make of them" tools

# ---- names ----

long() {
    local name
    rm -rf "$where"/*
    name=$where/$(printf 'n%.0s' {1..231})
    PNETCDF_HINTS=$blobs says 'its name is too long for the files beside it' launch 2 "$program" make "$name" &&
        [ "$(ls "$where")" = said ] && name=${name%n} &&
        PNETCDF_HINTS="$blobs;nc_blob_join=close" launch 2 "$program" make "$name" && whole "$name" &&
        PNETCDF_HINTS=$blobs launch 2 "$program" make "$name" && whole "$name" && ./ncmpijoin -r "$name" "$o" && whole "$o"
}
check "a name too long for the files beside it is told before anything is made" long
strangers() {
    local what
    rm -rf "$where"/*
    echo mine >"$a.0001"
    what='a.nc.0001: a file that is no subfile has the name that a subfile of .*a.nc needs'
    PNETCDF_HINTS=$blobs says "$what" launch 2 "$program" make "$a" && [ "$(cat "$a.0001")" = mine ] || return
    fresh && mv "$a" "$where/b.nc" && cp "$a.0001" "$where/kept"
    what='a.nc.000[01]: a subfile of another dataset has the name that a subfile of .*a.nc needs'
    PNETCDF_HINTS=$blobs says "$what" launch 2 "$program" make "$a" && cmp "$a.0001" "$where/kept"
}
check "somebody's file of a subfile's name is left alone" strangers

# ---- many ----

few_descriptors() {
    rm -rf "$where"/* && ulimit -n 100 || return
    PNETCDF_HINTS=$blobs says 'Too many datasets, files or communicators' launch 2 "$program" many "$a" 100
}
many() {
    rm -rf "$where"/* && ulimit -n "$(ulimit -H -n)" &&
        PNETCDF_HINTS=$blobs launch 2 "$program" many "$a" 1000 && whole "$a.999.nc"
}
check "too many at once are told" eval '(few_descriptors)'
if [ "${BLOB_OWNERS-}" != all ]; then
    skip "a thousand datasets at once" "BLOB_OWNERS=all has them"
elif [ "$(ulimit -H -n)" = unlimited ] || [ "$(ulimit -H -n)" -ge 4000 ]; then
    check "a thousand datasets at once" eval '(many)'
else
    skip "a thousand datasets at once" "ulimit -n"
fi
finish
