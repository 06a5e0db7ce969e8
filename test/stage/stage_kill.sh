#!/bin/bash
# Kills a program that reads a staged dataset, before and after each of its calls on the staged
# file. The dataset must remain unchanged, and no files may remain in the directory after the next
# job has staged something there. If a number of processes is given as an argument (by
# stage_nodes.sh), the program runs on that many processes, and all of them are killed at the same
# call, unless the launcher ends them first.
. "${srcdir:-.}/test/support/tap.sh"
where=$(scratch stage) || exit 99
trap 'rm -rf "$where"' EXIT
. "${srcdir:-.}/test/support/launch.sh"
procs=${1:-1}
program=test/stage/stage_killed
stage=$where/stage
mkdir "$stage"

# read_it CALL: runs the program, which is killed at this call.
read_it() {
    if [ "$procs" = 1 ]; then
        timeout 60 "$program" read "$where/a.nc" "$stage" "$1"
    else
        launch "$procs" "$program" read "$where/a.nc" "$stage" "$1"
    fi
}

# after: checks that the next job removes leftover files once they are old enough.
after() {
    local left
    find "$stage" -name '.ncmpi-stage-*' -exec touch -d '5 minutes ago' {} +
    left=$(ls -A "$stage" | wc -l)
    [ "$left" -le 1 ] || { echo "$left files after a kill"; return 1; }
    read_it 0 >/dev/null && cmp "$where/a.nc" "$where/copy" || return 1
    [ -z "$(ls -A "$stage")" ] || { ls -A "$stage"; return 1; }
}

every_call() {
    local total point rc named=0
    "$program" make "$where/a.nc" && cp "$where/a.nc" "$where/copy" || return 1
    read_it 0 >"$where/out" || return 1
    total=$(sort -n "$where/out" | tail -n 1)
    [ "$total" -ge 20 ] || { echo "only $total calls"; return 1; }
    for ((point = 1; point <= total; point += point < 12 ? procs : 5 * procs)); do
        { read_it "$point"; } >"$where/out" 2>&1
        rc=$?
        [ $rc = 137 ] || [ "$procs" -gt 1 ] && [ $rc != 0 ] && [ $rc != 124 ] || { cat "$where/out"; echo "not killed at $point of $total"; [ "$point" -gt $((total / 2)) ] || return 1; }
        [ -z "$(ls -A "$stage")" ] || named=$((named + 1))
        after || { echo "killed at $point"; return 1; }
    done
    [ "$named" -gt 0 ] || { echo "no file was ever left"; return 1; }
}
check "files of a killed program are removed by the next one" every_call
finish
