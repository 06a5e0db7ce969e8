#!/bin/bash
# Tests datasets whose redefinition was interrupted and whose journal is missing or damaged, or
# belongs to another dataset. The library and the validator must refuse such a dataset with a
# message, without changing anything. A journal that is no longer needed must not make any call
# fail, and one that may still be needed must not be removed. In each case, test/mpio/redef_killed
# is killed while it moves data, and then one of the two files is damaged.
. "${srcdir:-.}/test/support/tap.sh"
where=$(scratch redef) || exit 99
trap 'rm -rf "$where"' EXIT
program=test/mpio/redef_killed
validator=./ncvalidator
file=$where/a.nc journal=$where/a.nc.redef

play() { timeout 60 "$program" "$@" >"$where/out" 2>"$where/err"; }

# interrupt CHANGE POINT: creates a.nc with the mode $mode and the group $group, interrupts its
# redefinition while data is being moved, and saves copies of the dataset and the journal.
mode=644 group=$(id -g)
interrupt() {
    rm -rf "$file" "$journal"
    play make "$file" && chgrp "$group" "$file" && chmod "$mode" "$file" && cp "$file" "$where/made" || return 1
    { BURST_CALLS_DIR=$where BURST_PIDS=$where/pids BURST_KILL_AT=$2 play try "$file" "$1"; } 2>/dev/null
    rm -f "$where/pids"
    [ "$(head -c 3 "$file")" = RDF ] && cp "$file" "$where/kept" && cp "$journal" "$where/kept.redef"
}

# Restores the saved contents of the dataset and the journal. a.nc keeps its inode.
put_back() {
    rm -rf "$journal"
    cat "$where/kept" >"$file" && cp "$where/kept.redef" "$journal"
}

# unchanged WORDS: checks that both opening the dataset and validating it fail with a message that
# contains WORDS, and change nothing.
unchanged() {
    cp "$file" "$where/now"
    if play open "$file" 0; then echo "it was opened"; return 1; fi
    grep -q "$1" "$where/err" || { cat "$where/err"; return 1; }
    "$validator" -f "$file" >"$where/out" 2>"$where/err" && return 1
    grep -q "$1" "$where/err" || { cat "$where/err"; return 1; }
    cmp "$file" "$where/now"
}

refused() { # WORDS COMMAND...: COMMAND damages the journal
    local words=$1
    shift
    put_back && "$@" && unchanged "$words"
}
set_byte() { printf "$2" | dd of="$journal" bs=1 seek="$1" conv=notrunc 2>/dev/null; }
replaced() { rm "$journal" && "$@"; }
damaged_owner() { set_byte 12300 X; }
damaged_state() { set_byte 4100 X && set_byte 8200 X; }

check "a program is killed while it moves data" interrupt 0 60
reader_gets_message() {
    put_back
    if play read "$file"; then return 1; fi
    grep -q 'interrupted' "$where/err" && grep -q 'for writing' "$where/err" && cmp "$file" "$where/kept"
}
check "an open for reading explains an interrupted redefinition" reader_gets_message
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
check "other netCDF readers refuse an interrupted redefinition" others_refuse
check "a missing journal is refused" refused 'No such file' rm "$journal"
check "a truncated journal is refused" refused 'truncated' truncate -s 9000 "$journal"
check "an empty journal is refused" refused 'not the journal' truncate -s 0 "$journal"
check "a journal of another version is refused" refused 'another version' set_byte 7 9
check "a journal with a damaged first page is refused" refused 'first page is corrupt' set_byte 30 X
check "a journal with a damaged state is refused" refused 'state is corrupt' damaged_state
check "a journal with a damaged owner is refused" refused 'owner is corrupt' damaged_owner
check "a journal with damaged headers is refused" refused 'headers are corrupt' set_byte 16500 X
check "a symbolic link is refused as a journal" refused 'symbolic link' replaced ln -s kept.redef "$journal"
check "a pipe is refused as a journal" refused 'not a regular file' replaced mkfifo "$journal"
check "a directory is refused as a journal" refused 'directory' replaced mkdir "$journal"
if [ "$(id -u)" = 0 ]; then
    check "another user's journal is refused" refused 'another user' chown 12345 "$journal"
else
    skip "another user's journal is refused" "only root can make one"
fi
another_file() {
    put_back && cp "$file" "$where/b.nc" && cp "$journal" "$where/b.nc.redef"
    file=$where/b.nc unchanged 'belongs to another file'
}
check "copies of a dataset and its journal are refused" another_file
shorter() { put_back && truncate -s 5000 "$file" && unchanged 'shorter'; }
check "a truncated dataset is refused" shorter
header_changed() {
    put_back
    printf X | dd of="$file" bs=1 seek=600 conv=notrunc 2>/dev/null
    unchanged 'a different header'
}
check "a dataset with a different header is refused" header_changed

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
    check "nothing changes if there is no space for a journal" no_room
else
    skip "nothing changes if there is no space for a journal" "there is no fault.so"
fi

sound() { play check "$file" "$1" "" && grep -qE '^(old|new)$' "$where/out"; }
by_opening() { put_back && play open "$file" 0 && ! [ -e "$journal" ] && sound 0; }
check "an intact journal completes the redefinition" by_opening
by_validator() {
    put_back && "$validator" -f "$file" >"$where/out" 2>"$where/err" || { cat "$where/err"; return 1; }
    grep -q 'was completed' "$where/out" && ! [ -e "$journal" ] && play read "$file" && sound 0
}
check "ncvalidator -f completes a redefinition" by_validator
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
check "ncvalidator -f completes a redefinition that was killed at any point" each_point

# ---- torn first bytes ----

just_marked() {
    local point
    for point in $(seq 16 60); do interrupt 0 "$point" && return; done
    return 1
}
# torn CUT old|mark: simulates a torn write of the first 12 bytes of a.nc. If the second argument is
# `old`, the first CUT bytes come from the old header and the rest from the journal's mark;
# otherwise it is the other way round.
torn() {
    put_back
    if [ "$2" = old ]; then
        dd if="$where/made" of="$file" bs=1 count="$1" conv=notrunc 2>/dev/null
    else
        dd if="$where/made" of="$file" bs=1 skip="$1" seek="$1" count=$((12 - $1)) conv=notrunc 2>/dev/null
    fi
    cp "$file" "$where/torn"
}
each_tear() { # COMMAND
    local cut side
    for cut in 1 4 6 9 11; do
        for side in old mark; do
            torn $cut $side && "$@" || { echo "cut $cut, first $side"; return 1; }
        done
    done
}
torn_refused() {
    if play read "$file"; then echo "it was read"; return 1; fi
    grep -q 'interrupted' "$where/err" || { cat "$where/err"; return 1; }
    if ./ncmpidump -h "$file" >"$where/out" 2>&1; then echo "ncmpidump takes it"; return 1; fi
    if "$validator" "$file" >"$where/out" 2>&1; then echo "it is valid"; return 1; fi
    cmp "$file" "$where/torn" && cmp "$journal" "$where/kept.redef"
}
torn_opened() { play open "$file" 0 && ! [ -e "$journal" ] && play read "$file" && sound 0; }
torn_finished() { "$validator" -q -f "$file" && ! [ -e "$journal" ] && play read "$file" && sound 0; }
check "a program is killed when it has marked the dataset" just_marked
check "readers refuse a torn mark" each_tear torn_refused
check "opening for writing completes the redefinition of a torn mark" each_tear torn_opened
check "ncvalidator -f completes the redefinition of a torn mark" each_tear torn_finished
check "a program is killed while it moves data: journal of another owner" interrupt 0 60

# permissions

rights() {
    local group=$group mode
    if [ "$(id -u)" = 0 ]; then group=1; fi
    for mode in 600 640 644 660; do
        interrupt 0 60 || return 1
        [ "$(stat -c %a:%g "$journal")" = "$mode:$group" ] || { ls -l "$journal"; return 1; }
    done
}
check "a journal has its dataset's permissions" rights
# of_another MODE: interrupts a redefinition, and makes another member of the dataset's group the
# owner of the journal. The dataset has mode MODE.
of_another() {
    local group=1 mode=$1
    interrupt 0 60 && chown 12345:1 "$journal"
}
member() { of_another 660 && "$validator" -q -f "$file" && ! [ -e "$journal" ] && sound 0; }
no_member() { of_another 660 && chgrp 2 "$journal" && unchanged 'another user'; }
only_a_reader() { of_another 640 && unchanged 'another user'; }
writable() { of_another 660 && chmod 666 "$journal" && unchanged 'another user'; }
if [ "$(id -u)" = 0 ]; then
    check "the journal of another user with write permission is accepted" member
    check "the journal of a user in another group is refused" no_member
    check "the journal of a user with read permission only is refused" only_a_reader
    check "a journal with more permissions than its dataset is refused" writable
else
    skip "the journal of another user with write permission is accepted" "only root can make one"
    skip "the journal of a user in another group is refused" "only root can make one"
    skip "the journal of a user with read permission only is refused" "only root can make one"
    skip "a journal with more permissions than its dataset is refused" "only root can make one"
fi
mode=644

# ---- journals that are not needed ----

check "a program is killed while it moves data: stale journals" interrupt 0 60
stale() { put_back && play open "$file" 0 && cp "$where/kept.redef" "$journal" && sound 0 && ! [ -e "$journal" ]; }
check "a stale journal of an intact dataset is removed" stale
blank() { put_back && play open "$file" 0 && : >"$journal" && sound 0 && ! [ -e "$journal" ]; }
check "an empty journal of an intact dataset is removed" blank
of_another() {
    rm -f "$where"/c.nc*
    play make "$where/c.nc" && cp "$where/kept.redef" "$where/c.nc.redef" && play check "$where/c.nc" 0 "" || return 1
    cat "$where/err"
    ! [ -e "$where/c.nc.redef" ] && cmp "$where/kept.redef" "$where"/c.nc.redef.*
}
check "another file's journal is renamed" of_another
of_somebody() {
    rm -f "$where"/c.nc*
    play make "$where/c.nc" && echo 'my notes' >"$where/c.nc.redef" || return 1
    if play check "$where/c.nc" 0 ""; then return 1; fi
    grep -q 'already exists (it is not the journal' "$where/err" && grep -qx 'my notes' "$where/c.nc.redef"
}
check "a file that is no journal is reported and kept" of_somebody
made_anew() { put_back && play make "$file" && ! [ -e "$journal" ] && sound 0; }
check "creating the dataset again removes its journal" made_anew
not_emptied() {
    put_back
    if LD_PRELOAD=$PWD/test/support/.libs/fault.so NCMPI_FAULT='truncate:1+:EIO:*a.nc' play make "$file"; then return 1; fi
    cmp "$file" "$where/kept" && cmp "$journal" "$where/kept.redef" && play open "$file" 0 && sound 0
}
if [ -e test/support/.libs/fault.so ]; then
    check "a program is killed while it moves data: failing create" interrupt 0 60
    check "a create that fails keeps the journal" not_emptied
else
    skip "a create that fails keeps the journal" "there is no fault.so"
fi
deleted() { interrupt 0 60 && play delete "$file" && ! [ -e "$file" ] && ! [ -e "$journal" ]; }
check "deleting the dataset removes its journal" deleted
# The dataset's name is so long that the usual journal name would be too long.
longest_name() {
    local file
    file=$where/$(printf 'n%.0s' {1..250})
    play make "$file" || return 1
    { BURST_CALLS_DIR=$where BURST_PIDS=$where/pids BURST_KILL_AT=60 play try "$file" 0; } 2>/dev/null
    [ "$(head -c 3 "$file")" = RDF ] && compgen -G "$where/nnn*.redef" >/dev/null || return 1
    play check "$file" 0 '' && ! compgen -G "$where/nnn*.redef"
}
check "a dataset with a long name has a journal, too" longest_name

finish
