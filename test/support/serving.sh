# Sourced by mounting.sh. Runs real distributed file systems with all servers on this machine. The
# servers run as root, without systemd, in a network namespace of their own. Each file system has
# three client mounts. Each of these is a process with its own cache, as if on a separate node. All
# files of a file system are below $mounts.
#
# serve KIND starts a file system and mounts it on $mounts/m1, m2 and m3; unserve KIND ends it.
# Run `dev/setup realfs` to install the packages. Empties /var/lib/glusterd, in which GlusterFS stores its state.

served=10.88.0.1 # not a loopback address: clients must distinguish servers from this machine
inside() { nsenter --net=/run/netns/ncmpi-served "$@"; }

serve_network() {
    [ ! -e /run/netns/ncmpi-served ] || return 0
    ip netns add ncmpi-served && ip -n ncmpi-served link set lo up &&
        ip -n ncmpi-served link add bridge type bridge &&
        ip -n ncmpi-served addr add $served/24 dev bridge && ip -n ncmpi-served link set bridge up
}

# until_it COMMAND...: repeats the command until it succeeds, but for no more than a minute.
until_it() {
    local i
    for i in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.2; done
    return 1
}

# takes FILE: returns whether the file can be written to.
takes() { head -c 10000 /dev/zero >"$1" && sync "$1" && rm "$1"; }

# ---- MooseFS: a master, chunk servers, mfsmount ----
moosefs_start() { # COPIES
    local k dir=$mounts/servers
    mkdir -p "$dir/master" && printf 'MFSM NEW' >"$dir/master/metadata.mfs"
    echo '* / rw,alldirs,admin,maproot=0:0' >"$dir/exports"
    : >"$dir/topology"
    cat >"$dir/master.cfg" <<END
WORKING_USER = root
WORKING_GROUP = root
DATA_PATH = $dir/master
EXPORTS_FILENAME = $dir/exports
TOPOLOGY_FILENAME = $dir/topology
MATOML_LISTEN_HOST = $served
MATOCS_LISTEN_HOST = $served
MATOCL_LISTEN_HOST = $served
LOCK_MEMORY = 0
END
    inside mfsmaster -c "$dir/master.cfg" start || return
    for k in 1 2 3; do
        mkdir -p "$dir/chunks$k" "$mounts/store/disk$k"
        echo "$mounts/store/disk$k 4GiB" >"$dir/chunks$k/disks"
        cat >"$dir/chunks$k.cfg" <<END
WORKING_USER = root
WORKING_GROUP = root
DATA_PATH = $dir/chunks$k
HDD_CONF_FILENAME = $dir/chunks$k/disks
HDD_LEAVE_SPACE_DEFAULT = 16MiB
MASTER_HOST = $served
CSSERV_LISTEN_HOST = $served
CSSERV_LISTEN_PORT = $((9430 + k))
BIND_HOST = $served
LOCK_MEMORY = 0
END
        inside mfschunkserver -c "$dir/chunks$k.cfg" start || return
    done
    for k in 1 2 3; do
        inside mfsmount ${patience:+-o mfsioretries=$patience} -H $served "$mounts/m$k" || return
    done
    until_it takes "$mounts/m1/ready" && inside mfssetgoal -r "$1" "$mounts/m1"
}
moosefs_stop() {
    local k
    for k in 1 2 3; do inside mfschunkserver -c "$mounts/servers/chunks$k.cfg" stop; done
    inside mfsmaster -c "$mounts/servers/master.cfg" stop
}

# ---- GlusterFS: glusterd, bricks, glusterfs ----
volume() { inside gluster --mode=script "$@"; }
glusterfs_start() { # CLIENT-OPTION [ARGUMENT-OF-VOLUME-CREATE ...]
    local k dir=$mounts/servers option=$1 bricks=
    shift
    mkdir -p "$dir/log" /var/run/gluster /var/lib/glusterd /var/log/glusterfs
    rm -rf /var/lib/glusterd/*
    inside glusterd -p "$dir/glusterd.pid" --log-file "$dir/log/glusterd"
    until_it volume volume list || return
    for k in 1 2 3; do mkdir -p "$mounts/store/brick$k" && bricks+=" $served:$mounts/store/brick$k"; done
    # shellcheck disable=SC2086  # lists of words
    volume volume create v "$@" $bricks force && volume volume set v network.ping-timeout 5 &&
        volume volume start v force || return
    for k in 1 2 3; do
        # shellcheck disable=SC2086
        inside glusterfs --volfile-server=$served --volfile-id=v -l "$dir/log/m$k" \
            -p "$dir/m$k.pid" $option "$mounts/m$k" || return
    done
    for k in 1 2 3; do until_it mountpoint -q "$mounts/m$k" || return; done
}
glusterfs_stop() {
    local pid
    volume volume stop v force
    volume volume delete v
    for pid in "$mounts"/servers/*.pid /var/run/gluster/vols/v/*.pid; do
        [ ! -e "$pid" ] || kill "$(cat "$pid")"
    done
    rm -rf /var/lib/glusterd/*
}

# ---- CephFS: a monitor, a manager, object servers in memory, a metadata server, ceph-fuse ----
cluster() { inside timeout 60 ceph -c "$mounts/servers/conf" --connect-timeout 20 "$@"; }
cephfs_start() {
    local k uuid dir=$mounts/servers id
    id=$(cat /proc/sys/kernel/random/uuid)
    mkdir -p "$dir"/{monitor,manager,metadata,log,run}
    cat >"$dir/conf" <<END
[global]
fsid = $id
mon host = [v2:$served:3300,v1:$served:6789]
public network = 10.88.0.0/24
auth cluster required = none
auth service required = none
auth client required = none
run dir = $dir/run
log file = $dir/log/\$name.log
admin socket = $dir/run/\$name.\$pid.asok
pid file = $dir/run/\$name.pid
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
osd objectstore = memstore
memstore device bytes = 600000000
mon data avail warn = 1
mon data avail crit = 1
ms bind ipv6 = false
[mon]
mon data = $dir/monitor
[mgr]
mgr data = $dir/manager
mgr modules =
mgr initial modules =
[osd]
osd data = $dir/objects\$id
[mds]
mds data = $dir/metadata
[client]
log file = $dir/log/client.\$pid.log
END
    monmaptool --create --clobber --fsid "$id" --addv a "[v2:$served:3300,v1:$served:6789]" \
        "$dir/monmap" && inside ceph-mon -c "$dir/conf" -i a --mkfs --monmap "$dir/monmap" &&
        inside ceph-mon -c "$dir/conf" -i a && cluster -s &&
        inside ceph-mgr -c "$dir/conf" -i x || return
    for k in 0 1 2; do
        uuid=$(cat /proc/sys/kernel/random/uuid)
        mkdir -p "$dir/objects$k" && cluster osd new "$uuid" $k &&
            inside ceph-osd -c "$dir/conf" -i $k --mkfs --osd-uuid "$uuid" &&
            inside ceph-osd -c "$dir/conf" -i $k || return
    done
    cluster osd pool create meta 8 && cluster osd pool create data 16 &&
        cluster fs new fs meta data && inside ceph-mds -c "$dir/conf" -i a || return
    until_it cephfs_active || return
    for k in 1 2 3; do
        inside ceph-fuse -c "$dir/conf" -n client.admin --pid-file="$dir/run/m$k.pid" \
            "$mounts/m$k" || return
    done
}
cephfs_active() { cluster mds stat | grep -q up:active; }
cephfs_stop() {
    local pid
    for pid in "$mounts"/servers/run/*.pid; do [ ! -e "$pid" ] || kill "$(cat "$pid")"; done
    sleep 2
}

# Ends the first node's client session, whose process has already ended. Otherwise the client's
# locks would remain for five minutes (CephFS) or a day (MooseFS's master).
end_session() {
    local id
    case $mounted in
    cephfs) cluster tell mds.a session evict client_metadata.mount_point="$mounts/m1" ;;
    moosefs*)
        for id in $(inside mfscli -H $served -p -s ' ' -SMS | awk '/^inactive/ { print $4 }'); do
            inside mfscli -H $served -CRS/$id
        done
        ;;
    esac
}

serve() { # KIND
    serve_network || return
    case $1 in
    moosefs) moosefs_start 1 ;;
    moosefs-copies) moosefs_start 2 ;;
    glusterfs) glusterfs_start '' ;;
    glusterfs-direct) glusterfs_start --direct-io-mode=enable ;;
    glusterfs-replica) glusterfs_start '' replica 3 ;;
    cephfs) cephfs_start ;;
    *) return 1 ;;
    esac
}
unserve() { # KIND
    "${1%%-*}_stop"
    sleep 1
    rm -rf "$mounts/servers"
}
