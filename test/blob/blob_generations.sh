#!/bin/bash
# Copies all files of a dataset in subfiles at each generation, and combines copies of different
# generations. The tools, and the library with several process counts, must refuse such a mixture
# with a message and must not remove any file. Files of a single generation must read correctly.
#
#   BLOB_GENERATIONS=N    N rounds with different histories, each with all mixtures (make
#                     check-blob-generations); otherwise one history, and mixtures of two
#                     generations
#   BLOB_GENERATIONS_SEED number of the first round
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
where=$(mktemp -d "${TMPDIR:-/tmp}/ncmpi-generations.XXXXXX") || exit 99
trap 'launch_kill; rm -rf "$where"' EXIT
program=test/blob/blob_history
files=(a.nc a.nc.0000 a.nc.0001)
a=$where/a.nc

# copies: prints the number of generations copied so far.
copies() { ls "$where" | grep -c '^[0-9]*$'; }
# keep: copies all files as the next generation.
keep() {
    local n
    n=$where/$(copies)
    mkdir "$n" && cp "$where"/a.nc* "$n/"
}
# mix I J K: combines the master file of generation I with subfiles of generations J and K.
mix() {
    cp "$where/$1/a.nc" "$a" && cp "$where/$2/a.nc.0000" "$a.0000" && cp "$where/$3/a.nc.0001" "$a.0001"
}
begin() {
    rm -rf "$where"/a.nc* "$where"/[0-9]*
    PNETCDF_HINTS='nc_blob=enable;nc_num_subfiles=2' launch 2 "$program" make "$a" && keep
}
# job PROCESSES WHAT: runs a job and copies the resulting generation.
job() {
    local status=0
    { launch "$1" "$program" "$2" "$a" >"$where/said" 2>&1 || status=1; } 2>/dev/null
    [ "$status" = 0 ] || [ "$2" = kill ] || { cat "$where/said"; return 1; }
    keep
}
# synced: runs a job that adds three generations: two by syncs, and the last one by its close.
synced() {
    local last=$(($(copies) - 1)) next
    mix "$last" "$last" "$last" || return
    next="$where/\$(ls $where | grep -c '^[0-9]*\$')"
    launch 2 "$program" sync "$a" "n=$next && mkdir \$n && cp $where/a.nc* \$n/" && keep
}
# names_subfile STATUS COMMAND...: succeeds if the command fails and its message names a subfile. If STATUS
# is 3, the command must fail with a different status.
names_subfile() {
    local want=$1 got=0
    shift
    "$@" >"$where/said" 2>&1 || got=$?
    [ "$got" != 0 ] && { [ "$want" != 3 ] || [ "$got" != 3 ]; } && grep -q 'a\.nc\.000[01]: ' "$where/said" && return
    echo "$*: status $got"
    cat "$where/said"
    return 1
}
# reads PROCESSES: succeeds if the dataset reads correctly or is refused with a message. Returns the
# status of `check`.
reads() {
    local got=0
    if [ "$1" = 1 ]; then "$program" check "$a"; else launch "$1" "$program" check "$a"; fi >"$where/said" 2>&1 || got=$?
    [ "$got" = 0 ] && return 0
    grep -q 'a\.nc\.000[01]: ' "$where/said" && ! grep -q 'wrong values' "$where/said" && return 1
    cat "$where/said"
    return 3
}
# mixed I J K PROCESSES: checks that the library and all tools refuse the mixture.
mixed() {
    mix "$1" "$2" "$3" || return
    rm -f "$where/o.nc"
    names_subfile 3 "$program" check "$a" && { [ "$4" = 1 ] || names_subfile 3 launch "$4" "$program" check "$a"; } &&
        names_subfile 0 ./ncvalidator "$a" && names_subfile 0 ./ncmpijoin --check "$a" "$where/o.nc" &&
        names_subfile 0 ./ncmpijoin --remove "$a" "$where/o.nc" && names_subfile 3 launch 2 "$program" append "$a" &&
        ! [ -e "$where/o.nc" ] && cmp "$where/$1/a.nc" "$a" && cmp "$where/$2/a.nc.0000" "$a.0000" &&
        cmp "$where/$3/a.nc.0001" "$a.0001" && return
    echo "master of $1, subfiles of $2 and $3"
    return 1
}
# pure I: checks that generation I reads correctly with any number of processes, and can be joined.
pure() {
    local n
    mix "$1" "$1" "$1" || return
    for n in 1 2 3; do reads "$n" || { echo "generation $1: status $?"; cat "$where/said"; return 1; }; done
    rm -f "$where/o.nc"
    ./ncvalidator "$a" && ./ncmpijoin --check "$a" "$where/o.nc" && "$program" check "$where/o.nc"
}
each_pure() {
    local i n
    n=$(copies)
    [ "$n" -ge 5 ] || { echo "only $n generations"; return 1; }
    for ((i = 0; i < n; i++)); do pure "$i" || return; done
}
# Combines one file of a generation with the other files of another generation, for each file and
# each pair of generations, with varying numbers of processes.
pairs() {
    local i j n=0 all
    all=$(copies)
    for ((i = 0; i < all; i++)); do
        for ((j = 0; j < all; j++)); do
            [ "$i" != "$j" ] || continue
            n=$((n + 1))
            case $((n % 3)) in
            0) mixed "$i" "$j" "$j" $((n % 9 == 0 ? 3 : 1)) ;;
            1) mixed "$j" "$i" "$j" $((n % 5 == 0 ? 2 : 1)) ;;
            2) mixed "$j" "$j" "$i" $((n % 7 == 0 ? 3 : 1)) ;;
            esac || return
        done
    done
}
# Tries every mixture of generations.
all_mixtures() {
    local i j k bad=0 all
    all=$(copies)
    for ((i = 0; i < all; i++)); do for ((j = 0; j < all; j++)); do for ((k = 0; k < all; k++)); do
        [ "$i" != "$j" ] || [ "$j" != "$k" ] || continue
        mix "$i" "$j" "$k" || return
        reads $((1 + RANDOM % 3))
        [ $? = 3 ] && ! ./ncvalidator "$a" | grep -q 'older than the last close of the dataset' && { echo "master of $i, subfiles of $j and $k"; bad=1; }
        rm -f "$where/o.nc"
        ./ncmpijoin --remove "$a" "$where/o.nc" >"$where/said" 2>&1 || { [ -e "$a" ] && [ -e "$a.0000" ] && [ -e "$a.0001" ] && continue; }
        "$program" check "$where/o.nc" || { echo "removed: master of $i, subfiles of $j and $k"; bad=1; }
    done; done; done
    return $bad
}
history() {
    local n kinds=(append append kill)
    begin || return
    for n in 1 2 3 4; do job $((1 + RANDOM % 3)) "${kinds[RANDOM % 3]}" || return; done
    [ $((RANDOM % 2)) = 0 ] || synced
}
round() { RANDOM=$1; history && each_pure && all_mixtures; }

if [ -n "${BLOB_GENERATIONS-}" ]; then
    for ((i = 0; i < BLOB_GENERATIONS; i++)); do
        check "history $((${BLOB_GENERATIONS_SEED:-1} + i))" round $((${BLOB_GENERATIONS_SEED:-1} + i))
    done
    finish
    exit
fi
lives() { begin && job 2 append && job 1 append && job 2 kill && job 3 kill && job 2 append; }
check "a dataset is written by several jobs, some of them killed" lives
check "each generation is read correctly, and joined" each_pure
check "a file of another generation is refused, and nothing is removed" pairs
check "a job syncs several times" synced
# Generations 6 and 7 were copied after syncs, generation 8 after the close. Files copied while the
# job was running are outdated.
behind() { mixed 7 6 7 2 && mixed 7 7 6 1 && mixed 8 6 8 1 && mixed 8 8 6 2; }
check "a subfile of an earlier sync is refused" behind
not_closed() {
    local said
    mix 7 7 7 && reads 1 && ./ncvalidator "$a" | grep -q 'did not close it' && rm -f "$where/o.nc" &&
        ! ./ncmpijoin --remove "$a" "$where/o.nc" 2>"$where/said" && grep -q 'did not close it' "$where/said" &&
        [ -e "$a.0001" ] && ! [ -e "$where/o.nc" ]
}
check "ncmpijoin --remove keeps a dataset that was not closed" not_closed
before_close() {
    mix 8 7 8 && ! ./ncvalidator "$a" >"$where/said" && grep -q 'a.nc.0000: it is older than the last close of the dataset' "$where/said" &&
        ! ./ncmpijoin --remove "$a" "$where/o.nc" 2>"$where/said" && grep -q 'a.nc.0000: it is older than the last close' "$where/said" &&
        [ -e "$a.0001" ] && ! [ -e "$where/o.nc" ]
}
check "ncmpijoin --remove keeps files older than the last close" before_close
finish
