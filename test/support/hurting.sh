# Sourced behind mounting.sh: what may happen to the servers of a file system, and to a node's
# client, while programs run.
#
#   kill   servers of data end at once, with what they had not written; they start again
#   lost   one of those that keep a copy each does, and stays away
#   stop   they stand still, then go on
#   cut    the first node's client ends: all that the node asks for is ENOTCONN, for good
#   full   there is no room left, then there is
#   slow   the servers' network lets 2 MB/s through, and drops what comes faster
#
# MooseFS' clients try 30 times, which takes them minutes; here they do less often.
patience=5

# hurts FAULT: whether that can happen to what is mounted. hurt FAULT does it, heal FAULT ends it.

# The processes that serve data, those of CephFS the metadata too: its objects are in memory.
servers() {
    case $mounted in
    moosefs*) cat "$mounts"/servers/chunks?/.mfschunkserver.lock ;;
    glusterfs*) cat /var/run/gluster/vols/v/*.pid ;;
    cephfs) cat "$mounts"/servers/run/{mds,osd}.?.pid ;;
    *) pgrep -f "^$nodefs $mounts/store" ;;
    esac
}
start_servers() {
    local k
    case $mounted in
    moosefs*) for k in 1 2 3; do until_it inside mfschunkserver -c "$mounts/servers/chunks$k.cfg" start; done ;;
    glusterfs*) volume volume start v force ;;
    cephfs) inside ceph-mds -c "$mounts/servers/conf" -i a ;;
    esac
}

# Takes what room there is, but for a little that is gone in the middle of a put: nearly all first, as
# that takes time in which the program goes on.
ballast() {
    local spare room
    for spare in 20000000 300000; do
        room=$(df --output=avail -B1 "$mounts/store" | tail -n 1)
        fallocate -l $((room - spare)) "$mounts/store/ballast$spare"
    done
    return 0 # where the program was there first, it has met that
}

hurts() { # FAULT
    case $1:$mounted in
    kill:moosefs* | kill:glusterfs* | kill:cephfs | slow:glusterfs* | slow:cephfs) ;;
    slow:moosefs*) false ;; # what it sends a second time may come over what was put since
    lost:moosefs-copies | lost:glusterfs-replica) ;;
    stop:through+bare | cut:through+bare) false ;; # as without
    stop:* | cut:*) ;;
    full:cephfs) false ;; # its monitor says so only when all is over
    # It gives up chunks of which no copy had room, and its clients' fsync() waits for ever once
    # they have met a quota.
    full:moosefs*) false ;;
    full:*) ;;
    *) false ;;
    esac
}

hurt() { # FAULT
    case $1 in
    kill)
        case $mounted in
        cephfs) kill -KILL "$(cat "$mounts/servers/run/mds.a.pid")" ;;
        *) kill -KILL $(servers) ;;
        esac
        ;;
    lost) kill -KILL "$(servers | shuf -n 1)" ;;
    stop) kill -STOP $(servers) ;;
    cut) kill -KILL "$(pgrep -f " $mounts/m1([ )]|\$)" | tail -n 1)" ;;
    full) ballast ;;
    slow) inside tc qdisc add dev lo root tbf rate 16mbit burst 32k limit 48k ;;
    esac
}
heal() { # FAULT
    case $1 in
    kill) start_servers ;;
    stop) kill -CONT $(servers) ;;
    full) rm "$mounts"/store/ballast* ;;
    slow) inside tc qdisc del dev lo root ;;
    esac
}
