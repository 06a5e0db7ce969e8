# Sourced by scripts that want one file system mounted several times, as nodes mount it: each
# mount caches for itself. After test/support/tap.sh; they are skipped where there can be none.
mounts=$(scratch mounts) || exit 99
trap 'unmount; rm -rf "$mounts"' EXIT
mkdir "$mounts"/{store,m1,m2,m3,here}
nodefs=test/support/nodefs

# How it is mounted; what comes first in the name is what serves it.
#   bindfs         pages are dropped when a file is opened, sizes are kept for a second
#   bindfs-direct  no pages
#   through        pages outlive openings, sizes are kept for five seconds
#   back           pages are written back, and the node takes its own size for the file's
mount_one() { # KIND K
    local at=$mounts/m$2
    local -x NCMPI_TEST_RUN= # no process of the test's: it outlives them
    case $1 in
    bindfs) bindfs "$mounts/store" "$at" ;;
    bindfs-direct) bindfs -o direct_io "$mounts/store" "$at" ;;
    through) "$nodefs" "$mounts/store" through "$at" -o kernel_cache,attr_timeout=5,entry_timeout=5 ;;
    back) "$nodefs" "$mounts/store" back "$at" ;;
    esac
}
mount_all() { for k in 1 2 3; do mount_one "$1" $k || return 1; done; }
unmount() {
    for k in 1 2 3; do umount -l "$mounts/m$k" 2>/dev/null; done
    rm -rf "$mounts"/store/*
}

# can_mount KIND: silent, or why not.
can_mount() {
    case $1 in
    bindfs*) command -v bindfs >/dev/null || { echo "there is no bindfs"; return 1; } ;;
    *) [ -x $nodefs ] || { echo "there is no libfuse3"; return 1; } ;;
    esac
    mount_all "$1" >/dev/null 2>&1 || { unmount; echo "it cannot be mounted"; return 1; }
}

if [ "$(id -u)" != 0 ] || [ ! -w /dev/fuse ]; then
    echo "1..0 # SKIP mounting needs root and /dev/fuse"
    exit
fi
