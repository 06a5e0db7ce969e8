#!/bin/bash
# Nodes that mount a file system each for itself, and keep pages and sizes of a file: after a sync
# all get what any of them has put, and the file has it, through a mount that has never seen it.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/launch.sh"
. "$top/test/support/on_nodes.sh"
. "$top/test/support/mounting.sh"
export NCMPI_TEST_MOUNTS=$mounts

# What the program writes on one node.
reference() { # PROCESSES
    [ -e "$mounts/$1.nc" ] || launch "$1" test/file/stale "$mounts/$1.nc"
}

# stale NODES PROCESSES [HINTS]: all that is got is right, and all that is in the file.
stale() {
    rm -rf "$mounts"/store/*
    reference "$2" && PNETCDF_HINTS=${3-} bash "$nodes" "$1" bash -c \
        '. "$0/test/support/launch.sh"; launch "$@"' "$top" "$2" test/file/stale "$mounts/here/a.nc" |
        tee "$mounts/out"
    grep -qx '0 values are wrong' "$mounts/out" && ./ncmpidiff "$mounts/$2.nc" "$mounts/m3/a.nc" &&
        { [ -n "${3-}" ] || cmp "$mounts/$2.nc" "$mounts/m3/a.nc"; }
}

# on KIND NODES PROCESSES [HINTS]
on() {
    if reason=$(can_mount "$1"); then
        check "$1, $2 nodes${4:+, $4}" stale "$2" "$3" "${4-}"
        unmount
    else
        skip "$1, $2 nodes${4:+, $4}" "$reason"
    fi
}

# What is asked of MPI-IO goes through the pages of nodes, which it knows nothing of.
own_way='nc_file_io=auto;nc_transfer=auto;romio_no_indep_rw=false'

# body KIND NODES PROCESSES TEST [ONLY]: a body of another room.
body() {
    if reason=$(can_mount "$1"); then
        TMPDIR=$mounts/here PNETCDF_HINTS=$own_way check "$4, $1, $2 nodes" here "$2" "$3" "$4" "${5-}"
        unmount
    else
        skip "$4, $1, $2 nodes" "$reason"
    fi
}

for kind in bindfs bindfs-direct through; do on $kind 2 4; done
on through 3 6
on through 2 4 'nc_blob=enable;nc_num_subfiles=2'
on bindfs 3 3 'nc_blob=enable;nc_num_subfiles=3'
on through 2 4 'nc_burst_buf=enable'
on bindfs 3 6 'nc_burst_buf=enable;nc_burst_buf_shared_logs=enable'
body bindfs 2 4 api/collective
body through 2 4 api/redefine move
body through 2 4 random/random_program
finish
