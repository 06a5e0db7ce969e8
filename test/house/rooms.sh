#!/bin/bash
# The rooms keep to themselves: who includes whom, whose names are whose, and what the
# library never does. doc/architecture.md tells why.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
export LC_ALL=C

# Each room, and the rooms whose headers it may include.
laws='base base
cdf cdf base
conv conv base
journal journal cdf base
cdl cdl cdf conv base
region region base
trace trace dataset base cdf
dataset dataset base cdf
access access base cdf conv region
driver driver access dataset trace base cdf conv region
node node dataset base
file file node dataset trace base journal
twophase twophase file node access dataset trace base cdf conv region
nc4 nc4 driver file node access dataset trace base cdf conv region
mpio mpio driver twophase file node access dataset trace base cdf conv region journal
blob blob driver file node access dataset trace base cdf conv region
burst burst driver file node access dataset trace base cdf conv region
stage stage driver file node access dataset trace base cdf conv region
api api driver file node access dataset trace base cdf cdl conv region'

# A dataset has its counters, and its agreements are traced. <sys/file.h> is the system's.
exceptions='dataset.h trace_stats.h
dataset.c trace_record.h
base_lock.c sys/file.h'

# The sources of the library, generated ones too.
sources() {
    find "$top/src/lib" src/lib -name '*.[ch]' | sed 's|^\./||' | sort -u
}

# A line "FILE ROOM HEADER" for every include.
includes() {
    sources | while read -r file; do
        room=${file#*src/lib/}
        sed -nE "s|^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*[<\"]([^>\"]*)[>\"].*|$file ${room%%/*} \1|p" "$file"
    done
}

every_room_has_a_law() {
    local room bad=0
    for room in $(sources | sed 's|.*src/lib/||; s|/.*||' | sort -u); do
        grep -q "^$room " <<<"$laws" || { echo "no law for $room"; bad=1; }
    done
    return $bad
}

# A header's room is the folder it lies in.
includes_keep_the_law() {
    {
        echo "$laws" | sed 's/^/law /'
        echo "$exceptions" | sed 's/^/but /'
        sources | sed -nE 's|.*src/lib/([^/]*)/.*/?([^/]*\.h)$|home \1 &|p'
        includes | sed 's/^/inc /'
    } | awk '
        $1 == "law" { for (i = 3; i <= NF; i++) may[$2, $i] = 1 }
        $1 == "but" { but[$2, $3] = 1 }
        $1 == "home" { name = $3; sub(".*/", "", name); home[name] = $2 }
        $1 == "inc" {
            n++
            name = $4; sub(".*/", "", name)
            file = $2; sub(".*/", "", file)
            if (name in home && !(($3, home[name]) in may) && !((file, name) in but) && !((file, $4) in but)) {
                print $2 " includes " $4
                bad = 1
            }
        }
        END { exit bad || n == 0 }'
}

# By any way: through headers of theirs, or of base.
no_mpi_where_none_belongs() {
    includes | awk '
        { from = $1; sub(".*/", "", from); room[from] = $2
          to = $3; sub(".*/", "", to); edge[++n] = from " " to }
        END {
            reach["mpi.h"] = 1
            for (again = 1; again;) {
                again = 0
                for (i = 1; i <= n; i++) {
                    split(edge[i], e, " ")
                    if ((e[2] in reach) && !(e[1] in reach)) { reach[e[1]] = 1; again = 1 }
                }
            }
            for (f in room)
                if ((f in reach) && room[f] ~ /^(cdf|cdl|conv|journal|nc4|region)$/ &&
                    f !~ /^(region_mpi|nc4_driver|nc4_transfer)\.[ch]$/) {
                    print f " reaches mpi.h"
                    bad = 1
                }
            exit bad || n == 0
        }'
}

files_carry_their_rooms_name() {
    sources | awk '
        { n++; room = $1; sub(".*src/lib/", "", room); file = room
          sub("/.*", "", room); sub(".*/", "", file)
          if (index(file, room "_") != 1 && file != room ".c" && file != room ".h") {
              print; bad = 1
          } }
        END { exit bad || n == 0 }'
}

file_names_are_unique() {
    find "$top/src" "$top/include" "$top/test" "$top/benchmarks" "$top/examples" \
        -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.sh' -o -name '*.m4' -o -name '*.awk' |
        sed 's|.*/||' | sort | uniq -d | awk '{ print; bad = 1 } END { exit bad }'
}

# ---- what the compiler made of it: "OBJECT KIND SYMBOL" ----

symbols() {
    find src/lib -name '*.o' ! -name 'test_*' -print0 | xargs -0 nm -A |
        sed -nE 's/^([^:]*):[0-9a-f ]* ([A-Za-z]) ([^@]*).*/\1 \2 \3/p'
}

symbols_carry_their_rooms_name() {
    symbols | awk '
        $2 !~ /^[TDBRCVGS]$/ || $3 ~ /^_/ { next }
        { n++; room = $1; sub(".*src/lib/", "", room); sub("/.*", "", room)
          if (index($3, room "_") == 1) next
          if (room == "api" && $3 ~ /^(ncmpix?|cdl_hdr)_/) next
          print $1 " defines " $3; bad = 1 }
        END { exit bad || n == 0 }'
}

# unused PATTERN [OBJECT PATTERN]: no object, but those that match, uses such a symbol.
unused() {
    symbols | awk -v what="^($1)\$" -v but="/(${2:-none})\\\\.o\$" '
        $2 == "U" { n++ }
        $2 == "U" && $3 ~ what && $1 !~ but { print $1 " uses " $3; bad = 1 }
        END { exit bad || n == 0 }'
}

check "every room has a law" every_room_has_a_law
check "rooms include whom they may" includes_keep_the_law
check "cdf, cdl, conv, journal, region and most of nc4 never see mpi.h" no_mpi_where_none_belongs
check "files carry their room's name" files_carry_their_rooms_name
check "file names are unique" file_names_are_unique
check "symbols carry their room's name" symbols_carry_their_rooms_name
check "only file calls MPI_File functions" unused 'P?MPI_File_.*' 'file_(open|transfer)'
check "only node finds the node, and allocates its memory" \
    unused 'P?MPI_(Comm_split_type|Win_.*)' 'node_(find|shared)'
# What is cut by a size that another process has passed since is lost: base_extend makes
# files longer, and these have theirs alone.
check "nobody cuts a file that others write" \
    unused 'f?truncate(64)?|base_resize' \
    '(base_io|file_scatter|file_transfer|journal_file|stage_space)'
# CDL may come through a pipe, which is waited for, as hints may; flex reads for itself; a
# socket is no file.
check "only base and file open, read, write and lock files" \
    unused '(open|openat|creat|p?readv?|p?writev?|fsync|fdatasync|sync_file_range|flock|fcntl|lockf)(64)?' \
    '(base_(io|fs|lock|hints_file)|file_[a-z]*|api_cdl|cdl_scanner|stage_(ask|serve))'
# Of types made with large counts, ordinary questions end the program.
check "only region_mpi asks what a datatype is made of" \
    unused 'P?MPI_Type_get_(envelope|contents)(_c)?' 'region_mpi'
# cdf_name has to free what utf8proc took.
check "only base_worker makes threads" unused 'pthread_(create|join|detach)|thrd_create' 'base_worker'
check "memory is taken through base_mem" \
    unused 'malloc|calloc|realloc|free|strdup|strndup|asprintf' 'base_mem|cdf_name'
check "the library never ends the program" \
    unused 'exit|_exit|abort|__assert_fail|quick_exit|P?MPI_Abort'
# base_hints warns of a PNETCDF_HINTS that cannot be read.
check "the library prints nothing" \
    unused 'v?printf|v?fprintf|__f?printf_chk|puts|fputs|putchar|perror|std(out|err)' \
    'base_hints'
finish
