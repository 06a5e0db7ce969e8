#!/bin/bash
# A dataset whose redefinition was interrupted, and a journal that is not the right one: it
# is refused with words, and nothing is changed. A journal that nobody needs is in nobody's
# way, and one that may be somebody's is not removed.
. "${srcdir:-.}/test/support/tap.sh"
where=$(scratch redef) || exit 99
trap 'rm -rf "$where"' EXIT
program=test/mpio/redef_killed
validator=./ncvalidator
file=$where/a.nc journal=$where/a.nc.redef

play() { timeout 60 "$program" "$@" >"$where/out" 2>"$where/err"; }

# interrupt CHANGE POINT: a.nc, of that mode and group, is left half moved, both files are
# kept.
mode=644 group=$(id -g)
interrupt() {
    rm -rf "$file" "$journal"
    play make "$file" && chgrp "$group" "$file" && chmod "$mode" "$file" || return 1
    { BURST_CALLS_DIR=$where BURST_PIDS=$where/pids BURST_KILL_AT=$2 play try "$file" "$1"; } 2>/dev/null
    rm -f "$where/pids"
    [ "$(head -c 3 "$file")" = RDF ] && cp "$file" "$where/kept" && cp "$journal" "$where/kept.redef"
}

# In place: it is the same file.
put_back() {
    rm -rf "$journal"
    cat "$where/kept" >"$file" && cp "$where/kept.redef" "$journal"
}

# unchanged WORDS: opening and the validator refuse with these words.
unchanged() {
    cp "$file" "$where/now"
    if play open "$file" 0; then echo "it was opened"; return 1; fi
    grep -q "$1" "$where/err" || { cat "$where/err"; return 1; }
    "$validator" -f "$file" >"$where/out" 2>"$where/err" && return 1
    grep -q "$1" "$where/err" || { cat "$where/err"; return 1; }
    cmp "$file" "$where/now"
}

refused() { # WORDS COMMAND...: the journal is spoilt so
    local words=$1
    shift
    put_back && "$@" && unchanged "$words"
}
set_byte() { printf "$2" | dd of="$journal" bs=1 seek="$1" conv=notrunc 2>/dev/null; }
replaced() { rm "$journal" && "$@"; }
damaged_owner() { set_byte 12300 X; }
damaged_state() { set_byte 4100 X && set_byte 8200 X; }

check "a program is killed while data move" interrupt 0 60
reader_is_told() {
    put_back
    if play read "$file"; then return 1; fi
    grep -q 'interrupted' "$where/err" && grep -q 'for writing' "$where/err" && cmp "$file" "$where/kept"
}
check "a reader is told why, and what to do" reader_is_told
others_refuse() {
    local reader
    put_back
    for reader in './ncmpidump -h' 'ncdump -h' ncdump 'ncks -M' ncks 'nccopy -k cdf5' 'ncks -O -h -v fixed'; do
        command -v "${reader%% *}" >/dev/null || continue
        if $reader "$file" "$where/copy.nc" >"$where/out" 2>&1; then echo "$reader takes it"; return 1; fi
        if $reader "$file" >"$where/out" 2>&1; then echo "$reader takes it"; return 1; fi
    done
    cmp "$file" "$where/kept"
}
check "other readers refuse it" others_refuse
check "a missing journal is refused" refused 'No such file' rm "$journal"
check "one that is cut off is refused" refused 'cut off' truncate -s 9000 "$journal"
check "an empty one is refused" refused 'no journal' truncate -s 0 "$journal"
check "one of another version is refused" refused 'another version' set_byte 7 9
check "one whose first page is damaged is refused" refused 'damaged' set_byte 30 X
check "one whose state is damaged is refused" refused 'state is damaged' damaged_state
check "one whose owner is damaged is refused" refused 'owner is damaged' damaged_owner
check "one whose headers are damaged is refused" refused 'headers are damaged' set_byte 16500 X
check "a symbolic link is refused" refused 'symbolic link' replaced ln -s kept.redef "$journal"
check "a pipe is refused" refused 'no regular file' replaced mkfifo "$journal"
check "a directory is refused" refused 'directory' replaced mkdir "$journal"
if [ "$(id -u)" = 0 ]; then
    check "another user's is refused" refused 'another user' chown 12345 "$journal"
else
    skip "another user's is refused" "only root can make one"
fi
another_file() {
    put_back && cp "$file" "$where/b.nc" && cp "$journal" "$where/b.nc.redef"
    file=$where/b.nc unchanged 'of another file'
}
check "a copy of both is refused" another_file
shorter() { put_back && truncate -s 5000 "$file" && unchanged 'shorter'; }
check "a dataset that was cut is refused" shorter
header_changed() {
    put_back
    printf X | dd of="$file" bs=1 seek=600 conv=notrunc 2>/dev/null
    unchanged 'another header'
}
check "a dataset with another header is refused" header_changed

no_room() {
    local fault=test/support/.libs/fault.so
    play make "$where/d.nc" && cp "$where/d.nc" "$where/d.was" || return 1
    for plan in 'allocate:1+:ENOSPC:*d.nc' 'allocate:1+:ENOSPC:*.redef' 'write:1+:ENOSPC:*.redef' \
        'open:1+:EACCES:*.redef'; do
        if LD_PRELOAD=$PWD/$fault NCMPI_FAULT=$plan play try "$where/d.nc" 0; then return 1; fi
        cmp "$where/d.nc" "$where/d.was" && ! [ -e "$where/d.nc.redef" ] || { echo "$plan"; return 1; }
    done
}
if [ -e test/support/.libs/fault.so ]; then
    check "without room for a journal nothing changes" no_room
else
    skip "without room for a journal nothing changes" "there is no fault.so"
fi

sound() { play check "$file" "$1" "" && grep -qE '^(old|new)$' "$where/out"; }
by_opening() { put_back && play open "$file" 0 && ! [ -e "$journal" ] && sound 0; }
check "the right one is taken" by_opening
by_validator() {
    put_back && "$validator" -f "$file" >"$where/out" 2>"$where/err" || { cat "$where/err"; return 1; }
    grep -q 'brought to its end' "$where/out" && ! [ -e "$journal" ] && play read "$file" && sound 0
}
check "the validator brings it to its end" by_validator
each_point() {
    local change point tried=0
    for change in 0 2 3; do
        for point in $(seq 34 12 130); do
            interrupt "$change" "$point" || continue
            tried=$((tried + 1))
            "$validator" -q -f "$file" && sound "$change" && continue
            echo "change $change, point $point"
            return 1
        done
    done
    [ "$tried" -gt 5 ] || { echo "only $tried"; return 1; }
}
check "so it does wherever it was interrupted" each_point

# ---- rights ----

rights() {
    local group=$group mode
    if [ "$(id -u)" = 0 ]; then group=1; fi
    for mode in 600 640 644 660; do
        interrupt 0 60 || return 1
        [ "$(stat -c %a:%g "$journal")" = "$mode:$group" ] || { ls -l "$journal"; return 1; }
    done
}
check "a journal has its dataset's rights" rights
# of_another MODE: the journal is a member's of the group that the dataset of that mode has
of_another() {
    local group=1 mode=$1
    interrupt 0 60 && chown 12345:1 "$journal"
}
member() { of_another 660 && "$validator" -q -f "$file" && ! [ -e "$journal" ] && sound 0; }
no_member() { of_another 660 && chgrp 2 "$journal" && unchanged 'another user'; }
only_a_reader() { of_another 640 && unchanged 'another user'; }
writable() { of_another 660 && chmod 666 "$journal" && unchanged 'another user'; }
if [ "$(id -u)" = 0 ]; then
    check "one of another who may write the dataset is taken" member
    check "one of another group is refused" no_member
    check "so is one of a user who may only read the dataset" only_a_reader
    check "so is one that more people may write" writable
else
    skip "one of another who may write the dataset is taken" "only root can make one"
    skip "one of another group is refused" "only root can make one"
    skip "so is one of a user who may only read the dataset" "only root can make one"
    skip "so is one that more people may write" "only root can make one"
fi
mode=644

# ---- journals that nobody waits for ----

check "a program is killed once more" interrupt 0 60
stale() { put_back && play open "$file" 0 && cp "$where/kept.redef" "$journal" && sound 0 && ! [ -e "$journal" ]; }
check "a journal left beside a sound dataset is removed" stale
blank() { put_back && play open "$file" 0 && : >"$journal" && sound 0 && ! [ -e "$journal" ]; }
check "and an empty one" blank
of_another() {
    rm -f "$where"/c.nc*
    play make "$where/c.nc" && cp "$where/kept.redef" "$where/c.nc.redef" && play check "$where/c.nc" 0 "" || return 1
    cat "$where/err"
    ! [ -e "$where/c.nc.redef" ] && cmp "$where/kept.redef" "$where"/c.nc.redef.*
}
check "one of another file gets another name" of_another
of_somebody() {
    rm -f "$where"/c.nc*
    play make "$where/c.nc" && echo 'my notes' >"$where/c.nc.redef" || return 1
    if play check "$where/c.nc" 0 ""; then return 1; fi
    grep -q 'already exists (it is no journal' "$where/err" && grep -qx 'my notes' "$where/c.nc.redef"
}
check "a file that is none stays, and is told of" of_somebody
made_anew() { put_back && play make "$file" && ! [ -e "$journal" ] && sound 0; }
check "making the dataset anew removes it" made_anew
deleted() { interrupt 0 60 && play delete "$file" && ! [ -e "$file" ] && ! [ -e "$journal" ]; }
check "deleting the dataset removes it" deleted
# The journal's own name would be too long.
longest_name() {
    local file
    file=$where/$(printf 'n%.0s' {1..250})
    play make "$file" || return 1
    { BURST_CALLS_DIR=$where BURST_PIDS=$where/pids BURST_KILL_AT=60 play try "$file" 0; } 2>/dev/null
    [ "$(head -c 3 "$file")" = RDF ] && compgen -G "$where/nnn*.redef" >/dev/null || return 1
    play check "$file" 0 '' && ! compgen -G "$where/nnn*.redef"
}
check "a dataset whose name is long has one, too" longest_name

finish
