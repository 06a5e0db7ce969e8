# Prints tables of results from `run`: awk [-v markdown=1] -f table.awk RESULTS. The first table
# shows the measurements. For workloads that ran with several process counts, the second table shows
# how the values grow: the exponent e of P^e from one count to the next, or `.` for 0. If the bytes
# per process are constant and the machine's total bandwidth is fixed and exhausted, time grows with
# exponent 1.
function cell(text, width) {
    if (markdown) return " " text " |"
    return sprintf(width < 0 ? "%-" (-width) "s " : "%" width "s ", text)
}
function titles(names, widths,    n, name, width, i, line, rule) {
    n = split(names, name, " ")
    split(widths, width, " ")
    line = rule = markdown ? "|" : ""
    for (i = 1; i <= n; i++) {
        gsub("_", " ", name[i])
        line = line cell(name[i], width[i])
        rule = rule (i < 3 ? "---|" : "---:|")
    }
    print line
    if (markdown) print rule
}
function number(format, value) { return sprintf(format, value) }
function exponent(key, name, p, q,    a, b) {
    a = value[key, p, name]
    b = value[key, q, name]
    return a > 0 && b > 0 ? sprintf("%.2f", log(b / a) / log(q / p)) : "."
}
/^result / {
    for (i = 2; i < NF; i += 2) r[$i] = $(i + 1)
    if (!titled++)
        titles("workload phase procs ms GB/s of_it messages KiB_sent on_node KiB_there reads" \
            " writes locks opens MiB window", "-15 -6 6 9 7 5 8 9 7 9 7 7 6 6 7 6")
    print (markdown ? "|" : "") cell(r["workload"], -15) cell(r["phase"], -6) \
        cell(r["procs"], 6) cell(number("%.3f", r["seconds"] * 1e3), 9) \
        cell(number("%.2f", r["rate"] / 1e9), 7) cell(number("%.2f", r["fraction"]), 5) \
        cell(number("%.1f", r["messages"]), 8) \
        cell(number("%.1f", r["message_bytes"] / 1024), 9) \
        cell(number("%.1f", r["node_messages"]), 7) \
        cell(number("%.1f", r["node_message_bytes"] / 1024), 9) cell(r["reads"], 7) \
        cell(r["writes"], 7) cell(r["locks"], 6) cell(r["opens"], 6) \
        cell(number("%.2f", r["memory"] / 1048576), 7) \
        cell(number("%.2f", r["window"] / 1048576), 6)
    fflush()
    key = r["workload"] " " r["phase"]
    if (!(key in sizes)) order[++keys] = key
    sizes[key] = sizes[key] " " r["procs"]
    for (name in r) value[key, r["procs"], name] = r[name]
    next
}
{ print }
END {
    for (k = 1; k <= keys; k++) {
        n = split(sizes[order[k]], procs, " ")
        split(order[k], part, " ")
        for (i = 2; i <= n; i++) {
            if (procs[i] == procs[i - 1]) continue
            if (!grown++) {
                print ""
                titles("workload phase from to time messages KiB_sent reads writes locks" \
                    " opens MiB", "-15 -6 6 6 6 8 8 6 6 6 6 6")
            }
            line = (markdown ? "|" : "") cell(part[1], -15) cell(part[2], -6) \
                cell(procs[i - 1], 6) cell(procs[i], 6)
            m = split("seconds messages message_bytes reads writes locks opens memory", name_of, " ")
            split("6 8 8 6 6 6 6 6", width_of, " ")
            for (j = 1; j <= m; j++)
                line = line cell(exponent(order[k], name_of[j], procs[i - 1], procs[i]), width_of[j])
            print line
        }
    }
}
