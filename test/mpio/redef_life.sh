#!/bin/bash
# Interrupts a redefinition, and then restores, copies, renames, links or rolls back the dataset or
# its journal. When the dataset is next opened for writing, it must have all of its values, or else
# opening it must fail with a message and change nothing. A leftover journal must not prevent an
# intact dataset from being redefined.
#
#   REDEF_LIFE=all     interrupts at all points, not only at a sample. The following require it:
#   REDEF_LIFE_WHAT    only these changes (0 1 2 3 4 5); see redef_change.c
#   REDEF_LIFE_STEP    only at every Nth point
#   REDEF_LIFE_CASE    only this case, which is the name of a function below
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(scratch life) || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/mpio/redef_killed
files=$where/files file=$where/files/a.nc journal=$where/files/a.nc.redef

play() { timeout 60 "$program" "$@" >"$where/out" 2>"$where/err"; }
# crash POINT ARGUMENT...: runs the program and kills it when it reaches POINT.
crash() {
    local point=$1
    shift
    rm -f "$where/pids"
    { BURST_CALLS_DIR=$files BURST_PIDS=$where/pids BURST_KILL_AT=$point play "$@"; } 2>/dev/null
    return 0
}
marked() { [ "$(head -c 3 "$1")" = RDF ]; }

# sound FILE [WORD]: checks that the dataset can be opened for writing and redefined, and that it
# has all of its values. WORD is `old` or `new` if only that state is correct.
sound() {
    play check "$1" "$change" "" || { cat "$where/err"; return 1; }
    grep -qE "^(${2:-old|new})$" "$where/out" || { echo "it is not ${2:-whole}"; return 1; }
}
# refused FILE: checks that opening FILE fails with a message and changes nothing.
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

# The functions below change the files after a redefinition of a.nc was interrupted.

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
# Creates another dataset under the old name. The journal must survive.
renamed_and_made() {
    mv "$file" "$files/b.nc" && cp "$where/made.nc" "$file" && sound "$file" old && no_journal "$file" || return 1
    mv "$files"/a.nc.redef.* "$files/b.nc.redef" && sound "$files/b.nc"
}
symbolic() { ln -s a.nc "$files/b.nc" && sound "$files/b.nc" && no_journal "$file"; }
linked() { ln "$file" "$files/b.nc" && refused "$files/b.nc" && sound "$file" && sound "$files/b.nc"; }
made_anew() { play make "$file" && no_journal "$file" && sound "$file" old; }
# Leaves the journal next to another hard link to the dataset.
left_elsewhere() {
    cp "$journal" "$where/kept" && sound "$file" && mv "$where/kept" "$files/b.nc.redef" && ln "$file" "$files/b.nc" || return 1
    cat "$where/made.nc" >"$file"
    crash "$point" try "$file" "$change"
    marked "$file" || return 0
    refused "$files/b.nc" && sound "$file"
}
# Opens the dataset for writing, which may change it, and then restores its earlier contents.
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
# Restores one of the two files to an earlier state from the same job.
earlier() { # dataset|journal
    local now=$((point + 12 + point % 9))
    cp "$file" "$where/kept" && cp "$journal" "$where/kept.redef" || return 1
    cat "$where/made.nc" >"$file" && rm "$journal"
    run_to "$now" || return 0
    if [ "$1" = dataset ]; then cat "$where/at" >"$file"; else cat "$where/at.redef" >"$journal"; fi
    right_or_refused "$file"
}
# run_to NEXT: stops the job at $point, copies its files, and then resumes the job until it is
# killed at NEXT.
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

# ---- the cases ----

# points CASE STEP CHANGE...: runs the case after interrupting the change at every STEP-th point.
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
restored_again:the dataset is restored, and interrupted once more
replaced_again:the dataset is replaced, and interrupted once more
copied:copies of the dataset and its journal are refused
copied_alone:a copy of the dataset is refused
renamed:the dataset and its journal are renamed
renamed_alone:the dataset is renamed, and later the journal
renamed_and_made:another dataset takes the old name
symbolic:the dataset is opened through a symbolic link
linked:the dataset is opened by another name
made_anew:the dataset is created again
left_elsewhere:a journal is left under another name of the file
dataset_of_before:an earlier copy of the dataset is restored
journal_of_before:an earlier copy of the journal is restored
earlier_dataset:a copy of the dataset from earlier in the same job is restored
earlier_journal:a copy of the journal from earlier in the same job is restored
END
cat "$where/summary"
finish
