#!/bin/bash
# Changes a dataset after a job was killed, so that the values in the job's log are out of date.
# Whatever the file's modification time, the log must be refused and the dataset must not change.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch edited) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/burst/burst_edited file=$where/a.nc logs=$where/logs
seed=${NCMPI_TEST_SEED:-$RANDOM}
echo "# seed $seed"
hints="nc_burst_buf=enable;nc_burst_buf_dirname=$logs;nc_burst_buf_flush=flush_onclose"

with_log() { PNETCDF_HINTS=$hints timeout 60 $program "$@"; }
plain() { PNETCDF_HINTS='' timeout 60 $program "$@"; }
killed() { # [now]: leaves a dataset and a log with pending values
    rm -rf "$logs" "$file"
    mkdir "$logs" && plain make "$file" || return 1
    { with_log die "$file" "$seed" "$@"; } 2>/dev/null
    [ -n "$(ls "$logs")" ]
}
edit() { # changes bytes of the dataset without a log
    head -c 4 /dev/urandom | dd of="$file" bs=1 conv=notrunc seek=$(($(stat -c %s "$file") - 4)) 2>/dev/null
}
refused() { # TEXT
    cp "$file" "$where/before.nc" || return 1
    if with_log check "$file" "$seed" >"$where/out" 2>&1; then echo "it was opened"; return 1; fi
    grep -q "$1" "$where/out" && cmp "$file" "$where/before.nc" && [ -n "$(ls "$logs")" ] && return
    cat "$where/out"
    return 1
}
kept='has its old modification time, but was changed after its logs were written'

untouched() { killed && with_log check "$file" "$seed" && [ -z "$(ls "$logs")" ]; }
check "a log is replayed into an unchanged dataset" untouched

old_log() { killed && test/burst/burst_old_notes "$logs" && with_log check "$file" "$seed"; }
check "a log of an earlier version is replayed into an unchanged dataset" old_log

old_time() { killed && touch -r "$file" "$where/time" && edit && touch -r "$where/time" "$file" && refused "$kept"; }
check "an edit that restores the modification time is detected" old_time

restored() { killed && cp -p "$file" "$where/copy.nc" && edit && cp -p "$where/copy.nc" "$file" && refused "$kept"; }
check "a dataset restored from a copy is detected" restored

synced() { # like rsync --inplace --times
    killed && cp "$file" "$where/copy.nc" || return 1
    head -c 4 /dev/urandom | dd of="$where/copy.nc" bs=1 conv=notrunc seek=200 2>/dev/null
    touch -r "$file" "$where/copy.nc" && sleep 0.02 && cp -p "$where/copy.nc" "$file" && refused "$kept"
}
check "a copy of the same size and time is detected" synced

permitted() {
    killed && chmod g+w "$file" && refused "its permissions were changed" &&
        ./ncmpilog replay -q -f "$logs" && plain check "$file" "$seed"
}
check "a change of permissions is refused until ncmpilog -f replays the log" permitted

short_pieces() {
    local other
    rm -rf "$logs" "$file" "$where/up" "$where/go"
    mkdir "$logs" && plain make "$file" || return 1
    plain column "$file" $((seed + 1)) "$where/up" "$where/go" & other=$!
    until [ -e "$where/up" ] || ! kill -0 $other; do sleep 0.01; done
    { with_log die "$file" "$seed"; } 2>/dev/null
    : >"$where/go"
    wait $other && refused "was changed after" && plain check "$file" $((seed + 1))
}
check "later puts of another program to short pieces are detected" short_pieces

at_once() { killed now && refused "was changed after"; }
if plain make "$file" && plain tick "$file"; then
    check "an edit within the clock tick of the note is detected" at_once
else
    skip "an edit within the clock tick of the note is detected" "this kernel's file times are too coarse"
fi
finish
