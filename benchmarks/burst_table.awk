# Medians of what burst_bench prints, as a table in Markdown; with -v plot=1 what burst.gp
# draws: visible time by gap of each library and way.
BEGIN { FS = OFS = "\t" }

function median(key, column,    n, i, j, t, v) {
    n = split(values[key, column], v, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j] + 0 < v[j - 1] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

NF == 10 {
    key = $1 OFS $2 OFS $3 OFS $4 OFS $5
    raw[key] = $1 OFS $2 OFS $3 OFS "raw" OFS $5
    if (!(key in mb)) { keys[++nkeys] = key; mb[key] = $6 / 1e6 }
    for (c = 7; c <= 10; c++) values[key, c] = values[key, c] " " $c
}

# How many times as long as writing the bytes to the log's device.
function times(key, column,    r) {
    r = raw[key] in mb ? median(raw[key], column) : 0
    return r > 0 ? sprintf("%.2f", median(key, column) / r) : "-"
}

function rate(key) { return times(key, 7) > 0 ? sprintf("%.2f", 1 / times(key, 7)) : "-" }

function table(    i, key, f) {
    print "| library | pattern | gap | way | processes | MB each | puts, ms | of raw's rate | visible, ms | times raw | total, ms | log, MB |"
    print "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= nkeys; i++) {
        key = keys[i]
        split(key, f, OFS)
        printf "| %s | %s | %s | %s | %s | %.1f | %.2f | %s | %.2f | %s | %.1f | %.1f |\n",
            f[1], f[2], f[3], f[4], f[5], mb[key], median(key, 7) * 1e3, rate(key),
            median(key, 8) * 1e3, times(key, 8), median(key, 9) * 1e3, median(key, 10) / 1e6
    }
}

# A column for each library and way that has gaps, a line for each gap.
function columns(    i, f, name, line, g, n) {
    for (i = 1; i <= nkeys; i++) {
        split(keys[i], f, OFS)
        if (f[2] != "checkpoint") continue
        name = f[1] "-" f[4]
        if (!(name in seen)) { seen[name]; names[++n] = name }
        if (!(f[3] in at)) { at[f[3]]; gaps[++g] = f[3] }
        cell[f[3], name] = median(keys[i], 8) * 1e3
    }
    line = "gap"
    for (i = 1; i <= n; i++) line = line OFS names[i]
    print line
    for (f[1] = 1; f[1] <= g; f[1]++) {
        line = gaps[f[1]]
        for (i = 1; i <= n; i++) line = line OFS ((gaps[f[1]], names[i]) in cell ? cell[gaps[f[1]], names[i]] : "?")
        print line
    }
}

END { if (plot) columns(); else table() }
