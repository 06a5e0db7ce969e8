# Sourced after mounting.sh. Makes a file system's servers, or a node's client, fail while programs
# run.
#
#   kill   data servers are killed before they write their caches, and then restarted
#   lost   one of several servers with a copy is killed, and not restarted
#   stop   the servers are stopped, and continued later
#   cut    the first node's client ends: every later call on that node fails with ENOTCONN
#   full   the device is full for a while
#   slow   the servers' network is limited to 2 MB/s, and drops excess packets
#
# Number of retries by MooseFS's clients. The default of 30 would take minutes.
patience=5

# hurts FAULT: returns whether the fault can be caused on the mounted file system. hurt FAULT causes
# the fault, and heal FAULT ends it.

# servers: prints the ids of the server processes that store data. For CephFS these include the
# metadata server, because there the objects are in memory.
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

# ballast: fills the device, except for a little space that runs out in the middle of a put. Most of
# it is filled in advance, because the program would continue while the device is being filled.
ballast() {
    local spare room
    for spare in 20000000 300000; do
        room=$(df --output=avail -B1 "$mounts/store" | tail -n 1)
        fallocate -l $((room - spare)) "$mounts/store/ballast$spare"
    done
    return 0 # fallocate fails if the program has already filled the device
}

hurts() { # FAULT
    case $1:$mounted in
    kill:moosefs* | kill:glusterfs* | kill:cephfs | slow:glusterfs* | slow:cephfs) ;;
    slow:moosefs*) false ;; # its retransmissions may overwrite later puts
    lost:moosefs-copies | lost:glusterfs-replica) ;;
    stop:through+bare | cut:through+bare) false ;; # covered by the same kind without +bare
    stop:* | cut:*) ;;
    full:cephfs) false ;; # its monitor reports a full device too late
    # MooseFS gives up on chunks for which no server has space. In its clients, fsync() never
    # returns after a quota error.
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
