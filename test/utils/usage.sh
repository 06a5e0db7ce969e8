#!/bin/bash
# Tests what all tools have in common. The table in doc/tools.md must list every tool, whether it
# prints JSON, and its exit status after wrong usage. Each tool must have --help with examples,
# --version and -V. It must also have -h for help, unless that letter has another meaning. No tool
# may print colours unless its output is a terminal. The manual pages and the shell's completion must
# have the options that --help lists, and no others.
. "${srcdir:-.}/test/utils/tool_lib.sh"
export TERM=xterm
unset NO_COLOR

# Writes a line "TOOL JSON STATUS" for each table row.
sed -nE 's/^\| `([^`]*)` \|[^|]*\|[^|]*\| (yes)? ?\| ([12]) \|$/\1 \2 \3/p' "$here/doc/tools.md" |
    awk '{ print $1, NF == 3, $NF }' >"$work/tools"
built() {
    ls "$here"/src/utils/*/*.1 | sed 's|.*/||; s/\.1$//' | sort >"$work/pages"
    sort "$work/tools" | cut -d ' ' -f 1 | diff "$work/pages" -
}
check "the table has every tool" built
where() {
    if [ -x "$PWD/$1" ]; then echo "$PWD/$1"; else echo "$PWD/src/utils/$1/$1"; fi
}
# help_of TOOL: checks that --help prints examples, no escape sequences, no long lines, and nothing
# on standard error.
help_of() {
    local tool=$1
    status 0 "$tool" --help && ! [ -s "$work/err" ] && grep -q '^Examples:$' "$work/out" &&
        ! grep -q $'\033' "$work/out" && awk 'NR > 1 && length > 110 { print; bad = 1 } END { exit bad }' "$work/out"
}
version_of() {
    status 0 "$1" --version && [ -s "$work/out" ] && cp "$work/out" "$work/long" &&
        status 0 "$1" -V && diff "$work/long" "$work/out"
}
# -h must print the help, unless the tool uses this letter for another option.
short_help() {
    "$1" --help | grep -qE '^ +-h' || return 0
    "$1" --help | grep -qE '^ +-h.*(help|this text)' || { "$1" --help | grep -qE '^ +-h.*header' && return 0; }
    "$1" --help >"$work/long" && "$1" -h | diff "$work/long" -
}
json_of() { [ "$("$1" --help | grep -c -- '-j, --json')" = "$2" ]; }
wrong_usage() {
    status "$2" "$1" --no-such-option && ! [ -s "$work/out" ] && [ -s "$work/err" ] &&
        status "$2" "$1" -@ && ! grep -q $'\033' "$work/err"
}
# Reads options, one to a line or separated by blanks, and prints them sorted, without their values.
sorted() { grep -oE -- '(^| )--?[a-zA-Z0-9][-a-z0-9+]*' | tr -d ' ' | sort -u; }
# listed TOOL: prints the options that --help lists.
listed() { "$1" --help | sed -nE 's/^ +(-[^ ,]+)(, (--[^ ]+))?.*/\1 \3/p' | sorted; }
# section FILE NAME...: prints these sections of a manual page, without font changes.
section() {
    awk -v names=" ${*:2} " '/^\.SH/ { on = index(names, " " $2 " ") } on' "$1" |
        sed -E -e ':a' -e '/\\$/{N;s/\\\n//;ta' -e '}' -e 's/\\f[A-Z]//g; s/\\-/-/g; s/\\ / /g; s/"//g'
}
# The manual page must have a paragraph for each option, and the same synopsis as --help.
manual() {
    local page=$here/src/utils/$1/$1.1
    grep -q '^\.so' "$page" && page=$here/src/utils/cdfdiff/cdfdiff.1
    grep -q '^\.SH EXIT STATUS$' "$page" && grep -q '^\.SH EXAMPLE' "$page" || return
    section "$page" DESCRIPTION OPTIONS | sed -nE '/^\.TP/{n;s/^\.[A-Z]+ //;s/,/ /g;p}' | sorted >"$work/manual"
    listed "$2" | diff - "$work/manual" || return
    section "$page" SYNOPSIS | awk '/^\.B.* --help$/ { exit } !/mpiexec/' | tr '[],|' ' ' | sorted >"$work/manual"
    "$2" --help | sed -n '1p' | tr '[],|' ' ' | sorted | diff - "$work/manual"
}
# Prints the completions that bash offers for the word -.
completed() {
    bash -c 'complete() { :; }; compopt() { :; }; . "$1"; COMP_WORDS=("$2" -); COMP_CWORD=1
        _pnetcdf_tool "$2"; printf "%s\n" "${COMPREPLY[@]}"' - "$here/src/utils/completion/pnetcdf.bash" "$1"
}
completes() { listed "$1" | grep . >"$work/options" && completed "$1" | sort -u | diff "$work/options" -; }
for file in pnetcdf.bash _pnetcdf local.mk; do
    in_file() { while read -r name _; do grep -qw -e "$name" "$here/src/utils/completion/$file" || { echo "$name"; return 1; }; done <"$work/tools"; }
    check "completion in $file has every tool" in_file
done
while read -r name json wrong; do
    tool=$(where "$name")
    [ -x "$tool" ] || { skip "$name" "it is not built"; continue; }
    check "$name: --help" help_of "$tool"
    check "$name: --version, -V" version_of "$tool"
    check "$name: -h" short_help "$tool"
    check "$name: --json" json_of "$tool" "$json"
    check "$name: wrong usage is refused" wrong_usage "$tool" "$wrong"
    check "$name: the manual page agrees with --help" manual "$name" "$tool"
    check "$name: completion agrees with --help" completes "$tool"
done <"$work/tools"
finish
