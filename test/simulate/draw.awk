# Draws the trace of a dev/simulate run as SVG. Time runs downward. Processes have columns on the
# left, files on the right. A line between two columns represents a step, or several consecutive
# steps of the same kind. Other lines in the trace, such as results and faults, are printed next to
# the column of the process.
#
#   awk -f draw.awk TRACE >FILE.svg      (dev/simulate --seed S --run N --draw FILE.svg)
#
# Each line of a trace contains the time and job.rank@node, followed either by text or by a step
# number, a call, a path, an offset and a length.
function lane(list, name) {
    if (!(name in list)) list[name] = count[list["kind"]]++
    return list[name]
}
function escaped(s) {
    gsub(/&/, "\\&amp;", s)
    gsub(/</, "\\&lt;", s)
    return s
}
function kind_of(call) {
    if (call ~ /write|truncate|fallocate/) return "#c0392b"
    if (call ~ /sync/) return "#1e8449"
    if (call ~ /lock/) return "#b9770e"
    if (call ~ /rename|unlink/) return "#7d3c98"
    return "#aab7b8"
}
# Returns the file's name without the long numbers that make log names unique.
function short_name(path, parts, words, n, i, name) {
    n = split(path, parts, "/")
    if (parts[n] == "." || parts[n] == "") return parts[n - 1] "/"
    n = split(parts[n], words, ".")
    name = words[1]
    for (i = 2; i <= n; i++) if (length(words[i]) < 16) name = name "." words[i]
    return name
}
BEGIN {
    processes["kind"] = "p"
    files["kind"] = "f"
}
$5 ~ /^\/proc/ {
    next
}
/^[0-9.]+ -?[0-9]+\.[0-9]+@[0-9]+ / {
    who = $2
    said = $0
    sub(/^[^ ]+ [^ ]+ /, "", said)
    step = $3 ~ /^[0-9]+$/ && $5 ~ /^\//
    if (!step && $3 ~ /^[0-9]+$/) next # a step that accesses no file
    if (step && n > 0 && from[n] == who && path[n] == $5 && call[n] == $4) {
        times[n]++
        next
    }
    n++
    from[n] = who
    time[n] = $1
    times[n] = 1
    if (who !~ /^-1/) lane(processes, who)
    if (step) {
        path[n] = $5
        call[n] = $4
        label[n] = $4 ($4 ~ /^p(read|write)|truncate|allocate/ ? " " $6 " +" $7 : "")
        lane(files, $5)
    } else {
        words[n] = said
    }
}
END {
    wide = 110
    left = 90
    right = left + wide * count["p"] + 60
    width = right + 190 * count["f"] + 20
    high = 60 + 15 * n
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" " \
           "font-family=\"sans-serif\" font-size=\"10\">\n", width, high
    printf "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
    for (p in processes) if (p != "kind") {
        x = left + wide * processes[p]
        printf "<text x=\"%d\" y=\"16\" font-weight=\"bold\">job %s</text>\n", x - 20, p
        printf "<line x1=\"%d\" x2=\"%d\" y1=\"24\" y2=\"%d\" stroke=\"#ddd\"/>\n", x, x, high
    }
    for (f in files) if (f != "kind") {
        x = right + 190 * files[f]
        printf "<text x=\"%d\" y=\"16\" font-weight=\"bold\">%s</text>\n", x - 10, short_name(f)
        printf "<line x1=\"%d\" x2=\"%d\" y1=\"24\" y2=\"%d\" stroke=\"#ddd\"/>\n", x, x, high
    }
    for (i = 1; i <= n; i++) {
        y = 40 + 15 * i
        x = left + wide * processes[from[i]]
        printf "<text x=\"4\" y=\"%d\" fill=\"#888\">%.6f</text>\n", y + 3, time[i]
        if (i in words) {
            bad = words[i] ~ /fault injected|no memory|^(lost|wrong|hung|left|broken):/
            if (bad) printf "<rect x=\"0\" y=\"%d\" width=\"%d\" height=\"14\" fill=\"#fadbd8\"/>\n", y - 8, width
            printf "<circle cx=\"%d\" cy=\"%d\" r=\"3\"/><text x=\"%d\" y=\"%d\"%s>%s</text>\n", x, y,
                x + 6, y + 3, bad ? " font-weight=\"bold\"" : "", escaped(substr(words[i], 1, 160))
            continue
        }
        to = right + 190 * files[path[i]]
        colour = kind_of(call[i])
        printf "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" stroke=\"%s\"/>\n", x, to, y, y, colour
        printf "<circle cx=\"%d\" cy=\"%d\" r=\"2\" fill=\"%s\"/>", x, y, colour
        printf "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s%s</text>\n", to + 4, y + 3, colour,
            label[i], (times[i] > 1 ? ", and " times[i] - 1 " more" : "")
    }
    print "</svg>"
}
