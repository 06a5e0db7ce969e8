#!/bin/bash
# Servers that end, stand still or are full, and a client that is cut off, in the middle of puts:
# nobody waits for ever, errors name the file and the system's words, and what one process was told
# to be synced is read through another mount. dev/realfs runs this on real file systems.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
. "$top/test/support/launch.sh"
. "$top/test/support/on_nodes.sh"
. "$top/test/support/mounting.sh"
. "$top/test/support/hurting.sh"
export NCMPI_TEST_MOUNTS=$mounts
file=0
trap 'wait; unmount; umount "$mounts/store"; rm -rf "$mounts"' EXIT
mount -t tmpfs -o size=600m room "$mounts/store" || exit 99

# Hurts it when the program has synced a round, at another moment each time, and heals it.
meanwhile() { # FAULT NOTES
    local -x NCMPI_TEST_RUN=
    until grep -qs '^1 .*sync' "$2.0"; do sleep 0.02; done
    sleep 0.0$((RANDOM % 10))
    hurt "$1" && sleep 4 && heal "$1"
}

# Servers that were full, and clients that have lost some, find out in time that all is well: each
# name may be another server's.
writes() {
    local file
    for file in "$mounts"/m{1,2}/ready{1..9}; do takes "$file" || return; done
}

# written FAULT HINTS [moves]: writes four processes on two nodes, while that happens.
written() {
    local notes=$mounts/notes$file
    rm -rf "$notes".* "$mounts/logs"
    mkdir "$mounts/logs"
    until_it writes
    meanwhile "$1" "$notes" &
    local hurting=$!
    PNETCDF_HINTS=$2 on_nodes 2 4 test/file/told "$mounts/here/$file.nc" "$notes" ${3-}
    local rc=$?
    [ -s "$notes.0" ] || kill $hurting # it did not get so far
    wait $hurting || rc=1
    return $rc
}

# told FAULT HINTS [moves]
told() {
    written "$@" || return
    # Servers that have started again are looked for in time. What the file system itself has lost
    # (MooseFS with one copy may lose what was being written) nobody may have been told to be there.
    until_it cat "$mounts/m3/$file.nc" || {
        echo "the file system has lost the file" | tee "$mounts/said"
        ! grep ' 0 close:' "$mounts/notes$file".*
        return
    }
    [ "$1" != cut ] || end_session
    if ls "$mounts"/logs/*.meta >/dev/null 2>&1; then # an error has said so
        launch 1 ./ncmpilog replay -f -r -d "$mounts/m3/$file.nc" "$mounts/logs" || return
    fi
    if [ "${3-}" = moves ]; then # what a redefinition left is for the next who may write
        launch 1 ./ncvalidator -f "$mounts/m3/$file.nc"
    fi
    launch 1 test/file/told "$mounts/m3/$file.nc" "$mounts/notes$file" 4 | tee "$mounts/said"
    local wrong=${PIPESTATUS[0]}
    cat "$mounts/notes$file".*
    return $wrong
}

# once FAULT HINTS [moves]
once() {
    file=$((file + 1))
    : >"$mounts/said"
    check "$mounted: $1${2:+, ${2%%=*}}${3:+, $3}" told "$@"
    sed 's/^/# /' "$mounts/said"
}

# Nearly full, as any call that asks may meet it: see the program.
lost() {
    can_mount late && ballast && test/file/lost "$mounts/m1/lost"
    local rc=$?
    heal full
    unmount
    return $rc
}

# A put that finds no room, behind what another node has put.
behind() { # KIND
    can_mount "$1" && on_nodes 2 2 test/file/behind "$mounts/here/behind.nc" "$mounts/store" &&
        launch 1 test/file/behind "$mounts/m3/behind.nc"
    local rc=$?
    unmount
    return $rc
}

# A job is killed, and its logs are found ten minutes later, the file having been changed last so
# long ago: who opens it may move its time.
aged() { # KIND MINUTES
    can_mount "$1" && rm -rf "$mounts/logs" && mkdir "$mounts/logs" || return
    PNETCDF_HINTS=$logs launch 1 test/file/aged put "$mounts/m1/aged.nc"
    test/file/aged age "$mounts/logs" 600 && touch -d "$2 minutes ago" "$mounts/m1/aged.nc" &&
        PNETCDF_HINTS=$logs launch 1 test/file/aged get "$mounts/m1/aged.nc" >"$mounts/out"
    local rc=$?
    cat "$mounts/out"
    unmount
    return $rc
}
newer() { # KIND
    ! aged "$1" 5 && grep -q 'was changed since its logs were left' "$mounts/out"
}

# A node goes that moves data: who is to finish that waits until it stands still, and does not take
# for its work what looking for it leaves.
left() { # KIND
    local killed=test/mpio/redef_killed name=$mounts/m1/left.nc at rc=1
    can_mount "$1" || return
    for at in 30 40 50 60 70 80; do # which call that is, the mount decides
        rm -f "$name"* && launch 1 $killed make "$name" || break
        BURST_CALLS_DIR=$mounts/m1 BURST_KILL_AT=$at \
            unshare -u bash -c "hostname elsewhere && exec \"\$@\"" - $killed try "$name" 1
        [ "$(head -c 3 "$name")" = RDF ] || continue # it is not marked
        launch -t 10 1 ./ncvalidator -f "$mounts/m3/left.nc" && launch 1 $killed check "$mounts/m3/left.nc" 1 '' && rc=0
        break
    done
    unmount
    return $rc
}

logs="nc_burst_buf=enable;nc_burst_buf_shared_logs=enable;nc_burst_buf_dirname=$mounts/logs"
for kind in ${NCMPI_TEST_KINDS:-through through+bare late}; do
    up=
    for fault in ${NCMPI_TEST_FAULTS:-kill lost stop full slow cut}; do
        for way in plain moves subfile logs; do
            mounted=$kind
            hurts $fault || continue
            if [ -z "$up" ]; then
                reason=$(can_mount $kind) || { skip "$kind" "$reason"; continue 3; }
                up=1
            fi
            case $way in
            plain) once $fault '' ;;
            moves) once $fault '' moves ;;
            subfile) once $fault nc_blob=enable ;;
            logs) once $fault "$logs" ;;
            esac
            case $fault in lost | cut) unmount; up= ;; esac # what is gone stays away
        done
    done
    unmount
    case $kind in bindfs* | through* | back | late*)
        check "$kind: without room nothing is cut off" behind $kind
        check "$kind: logs of a job that was killed are found much later" aged $kind 10
        check "$kind: and are refused when the file was changed meanwhile" newer $kind
        check "$kind: a redefinition that a node left is finished by another one" left $kind
        ;;
    esac
    [ $kind != late ] || check "$kind: who asks is told of what is lost" lost
done
finish
