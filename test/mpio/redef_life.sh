#!/bin/bash
# A redefinition is interrupted, and then the dataset or its journal is restored, copied,
# renamed, linked, or put back as it was at another time. Whoever opens the dataset for
# writing then finds all its values, or is refused with words and nothing is changed. And
# what is left of a journal keeps nobody from redefining a sound dataset.
#
#   REDEF_LIFE=all     wherever it can be interrupted; else a sample. Of these:
#   REDEF_LIFE_WHAT    only these changes, by number: see redef_change.c (0 1 2 3 4 5)
#   REDEF_LIFE_STEP    only each so-manieth point
#   REDEF_LIFE_CASE    only this case, the name of a function below
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch life) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/mpio/redef_killed
files=$where/files file=$where/files/a.nc journal=$where/files/a.nc.redef

play() { timeout 60 "$program" "$@" >"$where/out" 2>"$where/err"; }
# crash POINT ARGUMENT...: the program dies there; its files are left.
crash() {
    local point=$1
    shift
    rm -f "$where/pids"
    { BURST_CALLS_DIR=$files BURST_PIDS=$where/pids BURST_KILL_AT=$point play "$@"; } 2>/dev/null
    return 0
}
marked() { [ "$(head -c 3 "$1")" = RDF ]; }

# sound FILE [WORD]: it can be opened for writing, has all its values and can be redefined; it
# is the old one or the new one, if that is said.
sound() {
    play check "$1" "$change" "" || { cat "$where/err"; return 1; }
    grep -qE "^(${2:-old|new})$" "$where/out" || { echo "it is not ${2:-whole}"; return 1; }
}
# refused FILE: with words, and nothing is changed.
refused() {
    local was
    was=$(cat "$files"/* | cksum)
    if play open "$1" "$change"; then echo "it was opened"; return 1; fi
    grep -qE 'journal .* cannot be used: ' "$where/err" || { cat "$where/err"; return 1; }
    [ "$(cat "$files"/* | cksum)" = "$was" ] || { echo "something was changed"; return 1; }
}
right_or_refused() {
    local was
    was=$(cat "$files"/* | cksum)
    if play open "$1" "$change"; then sound "$1"; return; fi
    grep -qE 'journal .* cannot be used: ' "$where/err" || { cat "$where/err"; return 1; }
    [ "$(cat "$files"/* | cksum)" = "$was" ] || { echo "something was changed"; return 1; }
}
no_journal() { ! [ -e "$1.redef" ] || { echo "the journal is still there"; return 1; }; }

# ---- what becomes of them; a.nc has been interrupted ----

restored() { cat "$where/made.nc" >"$file" && sound "$file" old && no_journal "$file"; }
replaced() { cp "$where/made.nc" "$files/b" && mv "$files/b" "$file" && sound "$file" old && no_journal "$file"; }
restored_again() {
    cat "$where/made.nc" >"$file"
    crash "$point" try "$file" "$change"
    sound "$file"
}
replaced_again() {
    cp "$where/made.nc" "$files/b" && mv "$files/b" "$file"
    crash "$point" try "$file" "$change"
    sound "$file"
}
copied() { cp "$file" "$files/b.nc" && cp "$journal" "$files/b.nc.redef" && refused "$files/b.nc" && sound "$file"; }
copied_alone() { cp "$file" "$files/b.nc" && refused "$files/b.nc" && sound "$file"; }
renamed() { mv "$file" "$files/b.nc" && mv "$journal" "$files/b.nc.redef" && sound "$files/b.nc"; }
renamed_alone() {
    mv "$file" "$files/b.nc" && refused "$files/b.nc" || return 1
    mv "$journal" "$files/b.nc.redef" && sound "$files/b.nc"
}
# Another dataset under the old name must not take the journal away for good.
renamed_and_made() {
    mv "$file" "$files/b.nc" && cp "$where/made.nc" "$file" && sound "$file" old && no_journal "$file" || return 1
    mv "$files"/a.nc.redef.* "$files/b.nc.redef" && sound "$files/b.nc"
}
symbolic() { ln -s a.nc "$files/b.nc" && sound "$files/b.nc" && no_journal "$file"; }
linked() { ln "$file" "$files/b.nc" && refused "$files/b.nc" && sound "$file" && sound "$files/b.nc"; }
made_anew() { play make "$file" && no_journal "$file" && sound "$file" old; }
# One that was left under another name of the file.
left_elsewhere() {
    cp "$journal" "$where/kept" && sound "$file" && mv "$where/kept" "$files/b.nc.redef" && ln "$file" "$files/b.nc" || return 1
    cat "$where/made.nc" >"$file"
    crash "$point" try "$file" "$change"
    marked "$file" || return 0
    refused "$files/b.nc" && sound "$file"
}
# Put back as it was before what came then.
dataset_of_before() {
    cp "$file" "$where/kept"
    crash "$point" open "$file" "$change"
    if [ -e "$journal" ]; then
        cat "$where/kept" >"$file" && right_or_refused "$file"
    else
        cat "$where/kept" >"$file" && refused "$file"
    fi
}
journal_of_before() {
    cp "$journal" "$where/kept"
    crash "$point" open "$file" "$change"
    cp "$where/kept" "$journal" && right_or_refused "$file"
}
# Of the same job, at an earlier moment.
earlier() { # what: dataset or journal
    local now=$((point + 12 + point % 9))
    cp "$file" "$where/kept" && cp "$journal" "$where/kept.redef" || return 1
    cat "$where/made.nc" >"$file" && rm "$journal"
    run_to "$now" || return 0
    if [ "$1" = dataset ]; then cat "$where/at" >"$file"; else cat "$where/at.redef" >"$journal"; fi
    right_or_refused "$file"
}
# The job stands still at $point, is copied, and dies at the call $1.
run_to() {
    local job pid
    rm -f "$where/pids"
    { BURST_CALLS_DIR=$files BURST_KILL_HOW=stop BURST_KILL_AT=$point BURST_PIDS=$where/pids BURST_KILL_NEXT=$1 \
        timeout 60 "$program" try "$file" "$change" >"$where/out" 2>"$where/err"; } 2>/dev/null &
    job=$!
    while kill -0 "$job" 2>/dev/null; do
        pid=$(cat "$where/pids" 2>/dev/null)
        if [ -n "$pid" ] && [ "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -c1)" = T ]; then break; fi
        sleep 0.005
    done
    cp "$file" "$where/at" && cp "$journal" "$where/at.redef" 2>/dev/null
    kill -CONT "$pid" 2>/dev/null
    { wait "$job"; } 2>/dev/null
    [ -e "$journal" ] && [ -e "$where/at.redef" ] && marked "$file"
}
earlier_dataset() { earlier dataset; }
earlier_journal() { earlier journal; }

# ---- all of them ----

# points CASE STEP CHANGE...
points() {
    local one=$1 step=$2 total cases=0 bad=0 change point first=2
    shift 2
    for change in "$@"; do
        rm -rf "$files" && mkdir "$files" && cp "$where/made.nc" "$file"
        BURST_CALLS_DIR=$files REDEF_CALLS=$where/calls play try "$file" "$change" || return 1
        total=$(cat "$where/calls.0")
        for ((point = first; point <= 2 * total + 1; point += step)); do
            rm -rf "$files" "$where"/at* "$where"/kept* && mkdir "$files" && cp "$where/made.nc" "$file"
            crash "$point" try "$file" "$change"
            if ! [ -e "$journal" ] || ! marked "$file"; then continue; fi
            cases=$((cases + 1))
            "$one" >"$where/why" 2>&1 && continue
            bad=$((bad + 1))
            echo "change $change, point $point:"
            head -n 5 "$where/why"
        done
        first=$((2 + (first + 3) % step))
    done
    echo "# $one: $cases cases, $bad bad" | tee -a "$where/summary"
    [ "$bad" = 0 ] && [ "$cases" -gt 0 ]
}

timeout 60 "$program" make "$where/made.nc" || exit 99
step=41 changes='0 3'
if [ "${REDEF_LIFE-}" = all ]; then step=${REDEF_LIFE_STEP:-1} changes=${REDEF_LIFE_WHAT:-0 1 2 3 4 5}; fi
while IFS=: read -r one name; do
    [ "${REDEF_LIFE_CASE:-$one}" = "$one" ] || continue
    # shellcheck disable=SC2086 # a list of numbers
    check "$name" points "$one" "$step" $changes
done <<'END'
restored:the dataset is restored in place
replaced:the dataset is replaced by another file
restored_again:restored, and interrupted once more
replaced_again:replaced, and interrupted once more
copied:a copy of both is refused
copied_alone:a copy of the dataset is refused
renamed:both get another name
renamed_alone:the dataset gets another name, and later the journal
renamed_and_made:another dataset takes the old name
symbolic:it is opened through a symbolic link
linked:it is opened by another name
made_anew:the dataset is made anew
left_elsewhere:a journal is left under another name of the file
dataset_of_before:the dataset is put back as it was
journal_of_before:the journal is put back as it was
earlier_dataset:the dataset is put back as it was earlier in the same job
earlier_journal:the journal is put back as it was earlier in the same job
END
cat "$where/summary"
finish
