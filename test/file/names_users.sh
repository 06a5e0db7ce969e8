#!/bin/bash
# Tests attacks by another user who may write to the directory. As fast as possible, that user
# replaces all files that the library and the tools create there with links, pipes and other files.
# A private file of the user who runs the library must remain unchanged, and each call must either
# succeed or return an error that names a file. This test must be run by root, so that it can act as
# both users.
. "${srcdir:-.}/test/support/tap.sh"
. "${srcdir:-.}/test/support/launch.sh"
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
    skip "two users" "needs root, and setpriv"
    finish
fi
where=$(scratch users) || exit 99
trap 'launch_kill; [ -z "${attacker-}" ] || kill "$attacker"; rm -rf "$where"' EXIT
shared=$where/shared home=$where/home bin=$where/bin
a=$shared/a.nc o=$shared/o.nc key=$home/key
umask 022
chmod 755 "$where"
mkdir "$bin" "$home" "$where/opens"

# ---- the users ----

victim=60001 other=60002
as() { local user=$1; shift; setpriv --reuid "$user" --regid "$user" --clear-groups "$@"; }
cp test/file/file_names test/file/file_attack ncmpijoin ncvalidator ncmpirefs "$bin"
if [ -e .libs/ncmpicopy ]; then cp .libs/ncmpicopy .libs/libpnetcdf.so* "$bin"; else cp ncmpicopy "$bin"; fi
if [ -e "${NCMPI_YIELD-}" ]; then cp "$NCMPI_YIELD" "$bin/yield.so" && NCMPI_YIELD=$bin/yield.so; fi
cat >"$bin/mpiexec" <<END
#!/bin/sh
cd "$shared"
exec setpriv --reuid $victim --regid $victim --clear-groups env HOME="$home" LD_LIBRARY_PATH="$bin" $(command -v "${MPIEXEC:-mpiexec}") "\$@"
END
chmod 755 "$bin/mpiexec"
MPIEXEC=$bin/mpiexec
if ! as $victim "$bin/file_attack" 2>/dev/null && [ $? -gt 1 ]; then
    skip "two users" "other users cannot run programs in $where"
    finish
fi

state() { sha256sum <"$key"; stat -c '%a %u %g %s %Y' "$key"; }
fresh() {
    rm -rf "$shared" "$home"
    mkdir "$shared" "$home" && chmod 777 "$shared" && chmod 700 "$home"
    head -c 5003 /dev/urandom >"$key" && chmod 600 "$key"
    ln "$key" "$shared/mine" # for the other user to rename
    chown -R $victim:$victim "$home" && chown $victim:$victim "$key"
    state >"$where/state"
}
intact() { state | diff "$where/state" -; }

# ---- attacks ----

# attacked HOW LEFT... -- COMMAND...: runs the command under attack and checks the result. The
# attacker leaves the files LEFT alone.
attacked() {
    local how=$1 left=() status=0 what=$key
    shift
    while [ "$1" != -- ]; do left+=("$1"); shift; done
    shift
    [ "$how" != other ] || what=mine
    rm -f "$where/in" && mkfifo "$where/in"
    as $other env -u NCMPI_TEST_RUN "$bin/file_attack" "$shared" "$what" "$how" mine "${left[@]}" <"$where/in" >"$where/attack" &
    attacker=$!
    exec 9>"$where/in"
    "$@" >"$where/said" 2>&1 9>&- || status=$?
    exec 9>&-
    wait $attacker
    attacker=
    intact || { cat "$where/attack" "$where/said"; return 1; }
    [ $status != 124 ] || { cat "$where/said"; return 1; }
    [ $status = 0 ] || grep -q "$shared/\|a\.nc\|o\.nc" "$where/said" || { cat "$where/said"; return 1; }
}
writes() { PNETCDF_HINTS=$1 launch 2 "$bin/file_names" "${2:-write}" "$a"; }
# job HOW HINTS LEFT...: attacks a program that writes a dataset. The attacker leaves the dataset
# itself and the files LEFT alone.
job() {
    local how=$1 hints=$2
    shift 2
    fresh && attacked "$how" a.nc "$@" -- writes "$hints"
}
burst="nc_burst_buf=enable;nc_burst_buf_dirname=$shared"
blobs='nc_blob=enable;nc_num_subfiles=2'
join="$blobs;nc_blob_join=close"
for how in link pipe other; do
    check "$how: an attack on a dataset fails" job $how nc_blob=disable
    check "$how: an attack on subfiles fails" job $how "$blobs"
    check "$how: an attack on a join at close fails" job $how "$join"
    check "$how: an attack on the file of a join at close fails" job $how "$join" a.nc.0000 a.nc.0001 a.nc.redef
    check "$how: an attack on logs fails" job $how "$burst"
    check "$how: an attack on shared logs fails" job $how "$burst;nc_burst_buf_shared_logs=enable" a.nc.redef
done
over() { fresh && writes nc_blob=disable && attacked "$1" a.nc -- writes "$2" over; }
for how in link pipe other; do
    check "$how: an attack on replacing a dataset in use fails" over $how nc_blob=disable
    check "$how: an attack on replacing a dataset with stripes fails" over $how 'striping_unit=65536;striping_factor=2'
    check "$how: an attack on replacing a dataset with logs fails" over $how "$burst"
done
staged() { fresh && writes nc_blob=disable && attacked "$1" a.nc -- writes "nc_stage=enable;nc_stage_dirname=$shared" read; }
check "link: an attack on staged files fails" staged link
check "other: an attack on staged files fails" staged other

# ---- tools ----

# tool HOW HINTS LEFT... -- COMMAND...: attacks a tool. The attacker leaves the dataset and the
# files LEFT alone.
tool() {
    local how=$1 hints=$2
    shift 2
    fresh && writes "$hints" && attacked "$how" a.nc a.nc.0000 a.nc.0001 "$@"
}
for how in link other; do
    check "$how: an attack on ncmpijoin fails" tool $how "$blobs" -- launch 2 "$bin/ncmpijoin" "$a" "$o"
    check "$how: an attack on ncmpicopy fails" tool $how nc_blob=disable -- launch 2 "$bin/ncmpicopy" "$a" "$o"
    check "$how: an attack on ncvalidator -r fails" tool $how nc_blob=disable -- launch 1 "$bin/ncvalidator" -r "$o" "$a"
    check "$how: an attack on ncmpirefs fails" tool $how nc_blob=disable -- launch 1 "$bin/ncmpirefs" -o "$o" "$a"
done
compact() { tool "$1" "$blobs;nc_compress=zstd" -- launch 1 "$bin/ncmpijoin" --compact "$a"; }
check "link: an attack on ncmpijoin --compact fails" compact link

# ---- existing files ----

# planted HOW HINTS NAME...: writes a dataset where each NAME already exists, as another user's file
# or pipe, or as that user's link to the private file.
planted() {
    local how=$1 hints=$2 name status=0
    shift 2
    fresh
    for name; do
        case $how in
        link) as $other ln -s "$key" "$shared/$name" ;;
        pipe) as $other mkfifo "$shared/$name" ;;
        file) as $other cp /proc/self/comm "$shared/$name" ;;
        esac
    done
    writes "$hints" >"$where/said" 2>&1 || status=$?
    intact && [ $status != 124 ] || { cat "$where/said"; return 1; }
    [ $status = 0 ] || grep -q "$shared/\|a\.nc" "$where/said"
}
for how in link pipe file; do
    check "$how: an existing file with a journal's name is not followed" planted $how nc_blob=disable a.nc.redef
    check "$how: existing files with subfiles' names are not followed" planted $how "$blobs" a.nc.0000 a.nc.0001
done
finish
