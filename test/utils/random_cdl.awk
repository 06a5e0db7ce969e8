# Prints a random CDL text for CDF-5. Usage: awk -v seed=N -f random_cdl.awk. With -v ncgen=1, it
# omits features that ncgen 4.9 misinterprets: int64 (read as int), attributes whose names begin
# with _, \xff, NULs in attributes, and the sign of -0 in data.
function random(n) { # returns 0 to n - 1, the same on every machine
    state = (state * 16807) % 2147483647
    return int(state / 2147483647 * n)
}
function pick(list,    parts) {
    return parts[1 + random(split(list, parts, " "))]
}
function name(i) {
    return sprintf(names[1 + random(nnames)], i)
}
# Returns an extreme, special or ordinary value of the type.
function value(type,    any) {
    if (type == "char") return text(1)
    any = random(3)
    if (type ~ /float|double/ && any == 2)
        return sprintf("%s%d.%de%d", random(2) ? "-" : "", random(100), random(1000000), random(60) - 30)
    if (any == 2) return type ~ /^u/ ? random(250) : random(250) - 125
    return pick(extremes[type])
}
function constant(type,    v) {
    v = value(type)
    if (type == "float") return v "f"
    if (type == "double" && v !~ /[.eEyN]/) return v "."
    return v suffix[type]
}
# Returns a quoted text of n bytes.
function text(n,    i, s) {
    for (s = ""; n > 0; n -= bytes[i]) {
        i = 1 + random(nletters)
        if (bytes[i] > n) i = 1
        s = s letters[i]
    }
    return "\"" s "\""
}
# Writes the name "data" so that ncgen does not mistake "data:" for the start of the data section.
function mark(v) {
    return v == "data" && (ncgen || random(2)) ? v " " : v
}
function attribute(owner, i,    type, n, list) {
    type = types[1 + random(ntypes)]
    n = 1 + random(4)
    if (type == "char") {
        list = text(random(12))
        # Avoids trailing NULs, which are not printed, and empty text, which ncgen turns into a NUL.
        if (ncgen || list ~ /000"$/) sub(/"$/, "e\"", list)
    } else for (list = constant(type); n > 1; n--) list = list ", " constant(type)
    printf "\t\t%s:%s = %s ;\n", mark(owner), name("a" i), list
}
function fill_value(v, type) {
    if (type != "char" && type != "int64" && random(4) == 0)
        printf "\t\t%s:_FillValue = %s ;\n", mark(v), constant(type)
}
function define(i,    k, n, shape) {
    var[i] = random(12) == 0 && !("data" in used) ? "data" : name("v" i)
    used[var[i]] = 1
    type[i] = types[1 + random(ntypes)]
    rows[i] = 1
    row[i] = 1
    n = random(4)
    for (k = 0; k < n; k++) {
        d = k == 0 && random(3) == 0 ? 0 : 1 + random(ndims)
        shape = shape (k ? ", " : "") dim[d]
        if (k == n - 1) row[i] = size[d]
        else rows[i] *= size[d]
    }
    printf "\t%s %s%s ;\n", type[i], var[i], n ? "(" shape ")" : ""
    fill_value(var[i], type[i])
    for (k = random(3); k > 0; k--) attribute(var[i], k)
}
function data(i,    k, n, v) {
    printf " %s = ", var[i]
    n = type[i] == "char" ? rows[i] : rows[i] * row[i]
    for (k = 0; k < n; k++) {
        v = type[i] == "char" ? text(row[i]) : random(15) == 0 ? "_" : value(type[i])
        printf "%s%s", k ? ", " : "", v
    }
    print " ;"
}
BEGIN {
    state = seed * 7919 + 12345
    for (i = 0; i < 10; i++) random(2)
    ntypes = split("byte char short int float double ubyte ushort uint uint64 int64", types, " ")
    split("b - s - - - ub us u ull ll", suffixes, " ")
    for (i = 1; i <= ntypes; i++) suffix[types[i]] = suffixes[i] == "-" ? "" : suffixes[i]
    extremes["byte"] = "-128 127 0 -1"
    extremes["short"] = "-32768 32767 0 -1"
    extremes["int"] = "-2147483648 2147483647 0 -1"
    extremes["int64"] = "-9223372036854775807 9223372036854775807 0 4294967296"
    extremes["ubyte"] = "0 255 128"
    extremes["ushort"] = "0 65535 32768"
    extremes["uint"] = "0 4294967295 2147483648"
    extremes["uint64"] = "0 18446744073709551615 9223372036854775808"
    extremes["float"] = "NaN Infinity -Infinity 0. 3.4028235e38 1.1754944e-38 1.e-45" (ncgen ? "" : " -0.")
    extremes["double"] = "NaN Infinity -Infinity 0. 1.7976931348623157e308 2.2250738585072014e-308 4.9e-324" (ncgen ? "" : " -0.")
    nnames = split("%s|%s_x|A%s|%s.b-c@d+e|é%s|%s日本|b\\ lank%s|h\\#\\!%s|p\\(%s\\)|x\\\"%s|_%s", names, "|")
    nletters = split("a|Z|0| |\\\"|\\\\|'|\\n|\\t|\\001|{|;|//|é|\\000|\\xff", letters, "|")
    for (i = 1; i <= nletters; i++) bytes[i] = letters[i] ~ /^\/\/|é/ ? 2 : 1
    if (ncgen) {
        ntypes--
        nnames--
        nletters -= 2
    }

    print "netcdf random {\ndimensions:"
    ndims = 1 + random(4)
    for (i = 0; i <= ndims; i++) {
        dim[i] = name("d" i)
        size[i] = 1 + random(i == 0 ? 3 : 5)
        printf "\t%s = %s ;\n", dim[i], i == 0 ? "UNLIMITED" : size[i]
    }
    print "variables:"
    nvars = 1 + random(8)
    for (i = 0; i < nvars; i++) define(i)
    for (i = random(4); i > 0; i--) attribute("", i)
    print "data:"
    for (i = 0; i < nvars; i++) if (random(6)) data(i)
    print "}"
}
