# Sourced by scripts that want one file system mounted several times, as nodes mount it: each
# mount caches for itself. After test/support/tap.sh; they are skipped where there can be none.
mounts=$(scratch mounts) || exit 99
trap 'unmount; rm -rf "$mounts"' EXIT
mkdir "$mounts"/{store,m1,m2,m3,here}
nodefs=test/support/nodefs
mounted=
. "$top/test/support/serving.sh"

# How it is mounted; what comes first in the name is what serves it.
#   bindfs         pages are dropped when a file is opened, sizes are kept for a second
#   bindfs-direct  no pages
#   through        pages outlive openings, sizes and names are kept for five seconds
#   back           pages are written back, and the node takes its own size for the file's
#   late           what is written is kept until a sync, what was read for a second
# and each of the last three with +bare: there is no fallocate(), by which a node that writes back
# can be told another size; and with +locks: locks of a node hold on the others.
# Others are real ones: see serving.sh.
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
    local -x NCMPI_TEST_RUN= # what serves is no process of the test's: it outlives them
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

# can_mount KIND: silent, or why not.
can_mount() {
    mounted=$1
    case $1 in
    bindfs*) command -v bindfs >/dev/null || { echo "there is no bindfs"; return 1; } ;;
    through* | back* | late*) [ -x $nodefs ] || { echo "there is no libfuse3"; return 1; } ;;
    esac
    mount_all "$1" >"$mounts/log" 2>&1 && return
    tail -n 5 "$mounts/log" >&2
    unmount
    echo "it cannot be mounted"
    return 1
}

if [ "$(id -u)" != 0 ] || [ ! -w /dev/fuse ]; then
    echo "1..0 # SKIP mounting needs root and /dev/fuse"
    exit
fi
