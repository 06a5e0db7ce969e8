# Prints the prototypes in a C header, one per line, with each run of blanks reduced to one.
/^#/ { continued = /\\$/; next }
continued { continued = /\\$/; next }
{ text = text " " $0 }
END {
    while (start = index(text, "/*")) {
        rest = substr(text, start + 2)
        text = substr(text, 1, start - 1) " " substr(rest, index(rest, "*/") + 2)
    }
    gsub(/extern "C" \{/, " ", text)
    n = split(text, statement, ";")
    for (i = 1; i <= n; i++) {
        s = statement[i]
        gsub(/[ \t]+/, " ", s)
        gsub(/^ | $/, "", s)
        if (s ~ /\(/) print s
    }
}
