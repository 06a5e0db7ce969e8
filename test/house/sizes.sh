#!/bin/bash
# Checks that files and functions are short enough to be read in one sitting.
top=${srcdir:-.}
. "$top/test/support/tap.sh"
export LC_ALL=C

files() {
    find "$top"/{src,include,test,benchmarks,examples} -type f "$@" | sort |
        while read -r file; do
            # skip files that an in-tree build generated, and files that a scanner or grammar
            # produced
            head -n 3 "$file" | grep -qi 'generated from' || [ -e "${file%.[ch]}.l" ] ||
                [ -e "${file%.[ch]}.y" ] || echo "$file"
        done
}

files_are_short() {
    files \( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.sh' -o -name '*.m4' -o -name '*.in' -o -name '*.awk' \
        -o -name '*.l' -o -name '*.y' -o -name '*.f90' -o -name '*.py' \) |
        tr '\n' '\0' | xargs -0 wc -l |
        awk '$2 != "total" { n++; if ($1 >= ($2 ~ "/(src|include)/" ? 650 : 800)) { print; bad = 1 } }
            END { exit bad || n == 0 }'
}

# Prints "LENGTH FILE:LINE" for every function. The length includes the braces, which clang-format
# puts on separate lines at the left margin. No other braces are in the first column.
functions() {
    files \( -name '*.c' -o -name '*.cpp' \) | tr '\n' '\0' | xargs -0 awk '
        /^\{$/ { start = FNR }
        /^\}$/ && start { print FNR - start + 1, FILENAME ":" start; start = 0 }'
}

functions_are_short() {
    functions | awk '{ n++; if ($1 > 80) { print; bad = 1 } } END { exit bad || n == 0 }'
}

most_fit_a_screen() {
    functions | awk '$1 > 60 { print; long++ } END { exit long * 20 > NR }'
}

half_are_shorter_still() {
    functions | sort -n | awk '{ length_[NR] = $1 } END {
        print "median " length_[int((NR + 1) / 2)]; exit length_[int((NR + 1) / 2)] > 20 }'
}

# Checks functions in the library and its tools. The Fortran interface is excluded, because its
# functions have prescribed parameters.
parameters_are_few() {
    find "$top"/src/{lib,utils} -name '*.c' | sort | tr '\n' '\0' | xargs -0 awk '
        /^[a-z].*\(/ && !/;$/ { head = ""; inside = 1; line = FNR }
        inside { head = head $0 }
        inside && /;$/ { inside = 0 }
        /^\{$/ && inside {
            inside = 0
            n++
            if (gsub(",", ",", head) >= 8) { print FILENAME ":" line ": " head; bad = 1 }
        }
        END { exit bad || n == 0 }'
}

# Each file in the guided tour (doc/tour.md) must be short.
tour_is_short() {
    grep -oE '\]\(\.\./src/[^)]*\)' "$top/doc/tour.md" | sed 's/^](..//; s/)$//' | while read -r file; do
        echo "$(wc -l <"$top$file") $file"
    done | awk '{ n++; if ($1 > 300) { print; bad = 1 } } END { exit bad || n != 5 }'
}

check "files have fewer than 650 lines, tests fewer than 800" files_are_short
check "functions have at most 80 lines" functions_are_short
check "95 of 100 functions have at most 60 lines" most_fit_a_screen
check "functions have at most eight parameters" parameters_are_few
check "half of the functions have at most 20 lines" half_are_shorter_still
check "the five files of doc/tour.md have at most 300 lines" tour_is_short
finish
