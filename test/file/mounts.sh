#!/bin/bash
# Nodes that mount a file system each for itself, and keep pages, sizes and names of files, or
# what was written: after a sync all get what any of them has put, and the file has it, through a
# mount that has never seen it. dev/realfs runs this on real file systems, and says more often.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/launch.sh"
. "$top/test/support/on_nodes.sh"
. "$top/test/support/mounting.sh"
export NCMPI_TEST_MOUNTS=$mounts
file=0

# What the program writes on one node.
reference() { # PROCESSES
    [ -e "$mounts/$1.nc" ] || launch "$1" test/file/stale "$mounts/$1.nc"
}

# stale NODES PROCESSES [HINTS]: all that is got is right, and all that is in the file.
stale() {
    reference "$2" && PNETCDF_HINTS=${3-} on_nodes "$1" "$2" test/file/stale "$mounts/here/$file.nc" |
        tee "$mounts/out"
    grep -qx '0 values are wrong' "$mounts/out" && ./ncmpidiff "$mounts/$2.nc" "$mounts/m3/$file.nc" &&
        { [ -n "${3-}" ] || cmp "$mounts/$2.nc" "$mounts/m3/$file.nc"; }
}

# beside HINTS: another job reads through the third mount behind each sync of one that writes.
beside() {
    local turn=$mounts/turn round
    rm -f "$turn"
    NCMPI_TEST_RUN=writer PNETCDF_HINTS=$1 \
        on_nodes 2 4 test/file/stale "$mounts/here/$file.nc" 3 "$turn" >"$mounts/out" 2>&1 &
    local writer=$! wrong=0
    for round in 1 2 3; do
        until [ -e "$turn" ]; do
            kill -0 $writer || { cat "$mounts/out"; return 1; }
            sleep 0.05
        done
        launch 1 test/file/stale "$mounts/m3/$file.nc" -$round 4 || wrong=1
        rm "$turn"
    done
    wait $writer && cat "$mounts/out" && grep -qx '0 values are wrong' "$mounts/out" && [ $wrong = 0 ]
}

# on NODES PROCESSES [HINTS]
on() {
    local i
    for i in $(seq "${NCMPI_TEST_ROUNDS:-1}"); do
        file=$((file + 1))
        check "$mounted: $1 nodes x $(($2 / $1))${3:+, $3}" stale "$1" "$2" "${3-}"
        rm -rf "$mounts/m1/$file".nc*
    done
}

# What is asked of MPI-IO goes through the pages of nodes, which it knows nothing of.
own_way='nc_file_io=auto;nc_transfer=auto;romio_no_indep_rw=false'

# body NODES PROCESSES TEST [ONLY]: a body of another room.
body() {
    TMPDIR=$mounts/here PNETCDF_HINTS=$own_way check "$mounted: $1 nodes, $3" here "$1" "$2" "$3" "${4-}"
}

# Where a node cannot know how long a file is, that is told, and what it cannot see is an error:
# never a wrong value.
warned_and_right() { # HINTS
    file=$((file + 1))
    PNETCDF_HINTS="nc_report=1;$1" on_nodes 2 4 test/file/stale "$mounts/here/$file.nc" 2>&1 | tee "$mounts/out"
    grep -q 'a node does not see here what another one has written' "$mounts/out" &&
        grep -qE '^0 values are wrong|Reading from the file failed' "$mounts/out" &&
        ! grep -qE '[1-9][0-9]* of [a-z]* are wrong' "$mounts/out"
}

# The report names the mount, and what to leave out.
warned() {
    PNETCDF_HINTS='nc_file_io=mpi;nc_report=1' on_nodes 2 2 test/file/stale "$mounts/here/w.nc" 1 2>&1 |
        tee "$mounts/out"
    grep -q 'MPI-IO takes it for a file system of one node' "$mounts/out"
}

# How many bytes a program without this library leaves wrong whose nodes write by turns of so many.
pages() { # UNIT
    file=$((file + 1))
    on_nodes 2 2 test/file/pages "$mounts/here/$file" "$1" &&
        launch 1 test/file/pages "$mounts/m3/$file" "$1" 2
}
whole_pages() { [ "$(pages 4096)" = '0 bytes are wrong' ]; }
parts_of_pages() { [[ $(pages 1000) == [1-9]*' bytes are wrong' ]]; }

shared='nc_burst_buf=enable;nc_burst_buf_shared_logs=enable'
some() {
    on 2 4
    on 3 6
    on 2 4 'nc_blob=enable;nc_num_subfiles=2'
    on 2 4 'nc_burst_buf=enable'
    on 3 6 "$shared"
}
all() {
    some
    on 3 9
    on 3 3 'nc_blob=enable;nc_num_subfiles=3'
    on 3 6 'nc_blob=enable;nc_blob_join=close'
    on 2 4 "$shared;nc_deferred_close=enable"
    on 2 4 'nc_stage=enable'
    on 2 4 'nc_blob=enable;nc_burst_buf=enable'
    for hints in '' nc_blob=enable; do
        file=$((file + 1))
        check "$mounted: a reader beside it${hints:+, $hints}" beside "$hints"
    done
    # Each reading of a file that was just written waits there until caches are a second old.
    case $kind in
    glusterfs*) body 2 4 api/redefine move ;;
    *) body 2 4 api/redefine ;;
    esac
    for test in api/collective api/records api/fill api/data_modes api/consistency \
        api/nonblocking_data api/promises; do
        body 2 4 $test
    done
    body 2 4 blob/blob_data 'blobs come back'
    # Not in trouble: on a late mount a fault is told by the call behind the one that has it.
    body 2 4 random/random_program 'agree with'
    body 2 4 random/random_program turns
}

for kind in ${NCMPI_TEST_KINDS:-bindfs bindfs-direct through through+bare back back+bare late late+locks}; do
    reason=$(can_mount $kind) || { skip "$kind" "$reason"; continue; }
    mounted=$kind
    case $kind:${NCMPI_TEST_KINDS-} in
    *:?*) all ;;
    back+bare:)
        check "$kind: it is warned of" warned_and_right ''
        check "$kind: with logs, too" warned_and_right nc_burst_buf=enable
        check "$kind: in subfiles, too" warned_and_right 'nc_blob=enable;nc_num_subfiles=2'
        ;;
    bindfs:)
        some
        body 2 4 api/collective
        check "$kind: MPI-IO that is asked for is warned of" warned
        ;;
    back:)
        some
        check "$kind: whole pages of two nodes are kept" whole_pages
        check "$kind: of parts of one page those of one node are lost" parts_of_pages
        ;;
    through: | late:)
        some
        check "$kind: a reader beside it" beside ''
        body 2 4 api/redefine move
        body 2 4 random/random_program 'agree with'
        body 2 4 random/random_program turns
        ;;
    late+locks:)
        on 3 6 "$shared"
        body 2 4 random/random_program turns
        ;;
    *) some ;;
    esac
    unmount
done
finish
