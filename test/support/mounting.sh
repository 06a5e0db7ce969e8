# Sourced, after test/support/tap.sh, by scripts that need several mounts of one file system, each
# with its own cache, as on separate nodes. Skips the tests if that is impossible.
mounts=$(scratch mounts) || exit 99
trap 'unmount; rm -rf "$mounts"' EXIT
mkdir "$mounts"/{store,m1,m2,m3,here}
nodefs=test/support/nodefs
mounted=
. "$top/test/support/serving.sh"

# Kinds of mounts. The first part of the name is the program that serves the mount.
#   bindfs         drops cached pages when a file is opened; caches sizes for a second
#   bindfs-direct  caches no pages
#   through        keeps cached pages when a file is opened; caches sizes and names for five seconds
#   back           writes pages back later; each node caches a file's size and never refreshes it
#   late           delays writes until a sync; caches data for a second after they are read
# The last three kinds have two variants. +bare lacks fallocate(), which a node with a
# write-back cache needs to learn that a file has grown. With +locks, a lock taken on one node is
# visible on the others. serving.sh provides real file systems.
mount_one() { # KIND K
    local at=$mounts/m$2
    case $1 in
    bindfs) bindfs "$mounts/store" "$at" ;;
    bindfs-direct) bindfs -o direct_io "$mounts/store" "$at" ;;
    through*) "$nodefs" "$mounts/store" "$1" "$at" -o kernel_cache,attr_timeout=5,entry_timeout=5 ;;
    back* | late*) "$nodefs" "$mounts/store" "$1" "$at" ;;
    esac
}
mount_all() { # KIND
    local k
    local -x NCMPI_TEST_RUN= # servers do not belong to the test, because they outlive its processes
    case $1 in
    bindfs* | through* | back* | late*) for k in 1 2 3; do mount_one "$1" $k || return; done ;;
    *) serve "$1" ;;
    esac
}
unmount() {
    local k
    for k in 1 2 3; do umount -l "$mounts/m$k" 2>/dev/null; done
    [ ! -e "$mounts/servers" ] || unserve "$mounted" >/dev/null 2>&1
    rm -rf "$mounts"/store/*
    mounted=
}

# can_mount KIND: succeeds if this kind of file system can be mounted. Otherwise prints the reason.
can_mount() {
    mounted=$1
    case $1 in
    bindfs*) command -v bindfs >/dev/null || { echo "bindfs is not installed"; return 1; } ;;
    through* | back* | late*) [ -x $nodefs ] || { echo "libfuse3 is missing"; return 1; } ;;
    esac
    mount_all "$1" >"$mounts/log" 2>&1 && return
    tail -n 5 "$mounts/log" >&2
    unmount
    echo "$1 cannot be mounted"
    return 1
}

if [ "$(id -u)" != 0 ] || [ ! -w /dev/fuse ]; then
    echo "1..0 # SKIP mounting needs root and /dev/fuse"
    exit
fi
