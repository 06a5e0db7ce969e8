#!/bin/bash
# Kills a job while it drains its log. Another program then recreates the dataset without the burst
# buffer, in the same file and with the same definitions. The log must never be replayed into the
# new dataset, however soon after the kill the dataset is created. An open that finds the log fails
# with a message that names it. If the dataset is not recreated, the log is replayed.
. "${srcdir:-.}/test/support/tap.sh"
where=$(scratch recreated) || exit 99
trap 'rm -rf "$where"' EXIT
program=test/burst/burst_recreated
file=$where/a.nc logs=$where/logs

run() { timeout 60 "$program" "$@" >"$where/out" 2>&1; }

killed() {
    rm -rf "$file" "$logs" && mkdir "$logs"
    { run killed "$file" 11 "$logs"; } 2>/dev/null
    [ $? = 137 ] && [ -n "$(ls "$logs")" ]
}

is_replayed() {
    killed || return 1
    run open "$file" "$logs" && run check "$file" 11 || { cat "$where/out"; return 1; }
}

stays_out() {
    local inode
    killed || return 1
    inode=$(stat -c %i "$file")
    run create "$file" 23 || { cat "$where/out"; return 1; }
    [ "$(stat -c %i "$file")" = "$inode" ] || { echo "it is another file"; return 1; }
    if run open "$file" "$logs"; then echo "it was replayed"; return 1; fi
    grep -q "log $logs/.* belongs to another file that had this name" "$where/out" || { cat "$where/out"; return 1; }
    run check "$file" 23 || { cat "$where/out"; return 1; }
}

check "a log is replayed into its dataset" is_replayed
check "a log is not replayed into a new dataset in the same file" stays_out
finish
