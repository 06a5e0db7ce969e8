# Compares a program's calls that take a file name, as recorded by test/support/opens.c, with the
# table "Files we create" in SECURITY.md:
#
#     awk -v dir=FOLDER -v given='NAME ...' -f names.awk SECURITY.md LINES
#
# FOLDER contains all the files. The names in `given` were chosen by the user. Prints every recorded
# call that the table does not allow, and fails if it finds any.

function wrong(what) {
    print what ": " $0
    bad = 1
}

# Returns a regular expression for the last part of a path, given a pattern from the table.
function regex(pattern,    r) {
    r = pattern
    sub(/^DIR\//, "", r)
    gsub(/\./, "\\.", r)
    gsub(/XXXXXX/, "[A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9]", r)
    gsub(/NAME|OUT/, names, r)
    gsub(/HEX/, "[0-9a-f]+", r)
    gsub(/NUMBER/, "[0-9]+", r)
    return "^" r "$"
}

function last(path) {
    sub(/.*\//, "", path)
    return path
}

function below(path) { return substr(path, 1, length(dir) + 1) == dir "/" }

# Returns the number of the table's row that matches the path, or 0 if none does.
function row_of(path,    i) {
    for (i = 1; i <= rows; i++)
        if (last(path) ~ pattern[i]) return i
    return 0
}

function creates(path, mode,    i) {
    i = row_of(path)
    if (i == 0)
        wrong("SECURITY.md does not list it")
    else if (mode != "0600" && mode != modes[i])
        wrong("SECURITY.md has the mode " modes[i])
    created[path] = 1
}

BEGIN {
    FS = "\t"
    n = split(given, list, " ")
    for (i = 1; i <= n; i++) {
        user[list[i]] = 1
        gsub(/\./, "\\.", list[i])
        names = names (i > 1 ? "|" : "") list[i]
    }
    names = "(" names ")"
}

FNR == 1 { file++ }
file == 1 && /^## / { listing = /Files we create/ }
file == 1 {
    if (!listing || $0 !~ /^\| `/) next
    split($0, cell, "|")
    mode = cell[3]
    gsub(/[^0-7]/, "", mode)
    m = split(cell[2], quoted, "`")
    for (i = 2; i <= m; i += 2) {
        pattern[++rows] = regex(quoted[i])
        modes[rows] = substr(mode, 1, 4)
    }
    next
}

$2 ~ /^(chmod|chown|truncate|setxattr)$/ { wrong("a file is changed by its name") }
$2 ~ /^(symlink|bind)$/ { wrong("SECURITY.md lists no such thing") }
$3 != "ok" { next }
$2 ~ /^(open|fopen|mkstemp|mkdir)$/ && $4 ~ /create/ && $4 ~ /new/ {
    if ($6 ~ /^\/(dev|proc)\/(null|self|stdout|stderr)/) next
    if (!below($6)) wrong("it is created elsewhere")
    else creates($6, $5)
    opens++
    next
}
$2 ~ /open/ && $4 ~ /write/ && ($6 in created) && $4 !~ /nofollow/ && !(last($6) in user) {
    wrong("it is opened again by its name")
}
$2 == "rename" { delete created[$6] }
$2 == "unlink" { delete created[$6] }
$2 == "rename" || $2 == "link" {
    if (below($7)) creates($7, "0600")
}
{ opens++ }
END {
    if (rows == 0) print "SECURITY.md has no table"
    if (opens == 0) print "no call was seen"
    exit bad || rows == 0 || opens == 0
}
