#!/bin/bash
# Tests nodes with separate mounts of a file system that caches pages, sizes and names of files, or
# delays writes. After a sync, every node must get the values put on any other node, and a new mount
# must show the same values. dev/realfs runs this test on real file systems, with more rounds.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/launch.sh"
. "$top/test/support/on_nodes.sh"
. "$top/test/support/mounting.sh"
export NCMPI_TEST_MOUNTS=$mounts
file=0

# reference PROCESSES: creates, on a single node, the file that all others are compared with.
reference() { # PROCESSES
    [ -e "$mounts/$1.nc" ] || launch "$1" test/file/stale "$mounts/$1.nc"
}

# stale NODES PROCESSES [HINTS]: checks all values that gets return, and the contents of the file.
stale() {
    reference "$2" && PNETCDF_HINTS=${3-} on_nodes "$1" "$2" test/file/stale "$mounts/here/$file.nc" |
        tee "$mounts/out"
    grep -qx '0 values are wrong' "$mounts/out" && ./ncmpidiff "$mounts/$2.nc" "$mounts/m3/$file.nc" &&
        { [ -n "${3-}" ] || cmp "$mounts/$2.nc" "$mounts/m3/$file.nc"; }
}

# beside HINTS: runs a job that writes. After each of its syncs, another job reads the file through
# the third mount.
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

# on NODES PROCESSES [HINTS]: runs the test $NCMPI_TEST_ROUNDS times (default: 1).
on() {
    local i
    for i in $(seq "${NCMPI_TEST_ROUNDS:-1}"); do
        file=$((file + 1))
        check "$mounted: $1 nodes x $(($2 / $1))${3:+, $3}" stale "$1" "$2" "${3-}"
        rm -rf "$mounts/m1/$file".nc*
    done
}

# Hints that make the library bypass MPI-IO. MPI-IO accesses the file through each node's page
# cache, and does not notice changes by other nodes.
own_way='nc_file_io=auto;nc_transfer=auto;romio_no_indep_rw=false'

# body NODES PROCESSES TEST [ONLY]: runs a test of another module on the mounts.
body() {
    TMPDIR=$mounts/here PNETCDF_HINTS=$own_way check "$mounted: $1 nodes, $3" here "$1" "$2" "$3" "${4-}"
}

# warned_and_right HINTS: if a node cannot determine the file's size, the library must print a
# warning. A read beyond the size that the node sees must return an error instead of wrong values.
warned_and_right() { # HINTS
    file=$((file + 1))
    PNETCDF_HINTS="nc_report=1;$1" on_nodes 2 4 test/file/stale "$mounts/here/$file.nc" 2>&1 | tee "$mounts/out"
    grep -q 'nodes do not see data that other nodes have written' "$mounts/out" &&
        grep -qE '^0 values are wrong|Reading from the file failed' "$mounts/out" &&
        ! grep -qE '[1-9][0-9]* of [a-z]* are wrong' "$mounts/out"
}

# Checks that the library's report warns about MPI-IO on this mount.
warned() {
    PNETCDF_HINTS='nc_file_io=mpi;nc_report=1' on_nodes 2 2 test/file/stale "$mounts/here/w.nc" 1 2>&1 |
        tee "$mounts/out"
    grep -q 'MPI-IO treats this file system as local to one node' "$mounts/out"
}

# pages UNIT: prints how many bytes are wrong when the nodes write alternate pieces of UNIT bytes
# with plain system calls.
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
        check "$mounted: a reader sees synced values${hints:+, $hints}" beside "$hints"
    done
    # On GlusterFS, reading a file that was just written takes a second, until the caches have
    # expired. Therefore only a part of this test is run.
    case $kind in
    glusterfs*) body 2 4 api/redefine move ;;
    *) body 2 4 api/redefine ;;
    esac
    for test in api/collective api/records api/fill api/data_modes api/consistency \
        api/nonblocking_data api/promises; do
        body 2 4 $test
    done
    body 2 4 blob/blob_data 'values of blobs are read back'
    # Random programs with faults are excluded, because on a mount with delayed writes, the fault is
    # reported by the call after the faulty one.
    body 2 4 random/random_program 'agree with'
    body 2 4 random/random_program turns
}

for kind in ${NCMPI_TEST_KINDS:-bindfs bindfs-direct through through+bare back back+bare late late+locks}; do
    reason=$(can_mount $kind) || { skip "$kind" "$reason"; continue; }
    mounted=$kind
    case $kind:${NCMPI_TEST_KINDS-} in
    *:?*) all ;;
    back+bare:)
        check "$kind: a warning reports that nodes see stale data" warned_and_right ''
        check "$kind: a warning reports that nodes see stale data, with logs" warned_and_right nc_burst_buf=enable
        check "$kind: a warning reports that nodes see stale data, in subfiles" warned_and_right 'nc_blob=enable;nc_num_subfiles=2'
        ;;
    bindfs:)
        some
        body 2 4 api/collective
        check "$kind: a warning is printed for MPI-IO" warned
        ;;
    back:)
        some
        check "$kind: whole pages that two nodes write are kept" whole_pages
        check "$kind: parts of a page that two nodes write lose one part" parts_of_pages
        ;;
    through: | late:)
        some
        check "$kind: a reader sees synced values" beside ''
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
