# Prints the two colours that are hardest to distinguish, and their distance in Lab. Reads one
# colour (#rrggbb) a line. The distance is the smallest of those seen with normal vision,
# protanopia and deuteranopia, which are simulated by the matrices of Machado et al. (2009).
BEGIN {
    nviews = split("1 0 0 0 1 0 0 0 1|" \
        "0.152286 1.052583 -0.204868 0.114503 0.786281 0.099216 -0.003882 -0.048116 1.051998|" \
        "0.367322 0.860646 -0.227968 0.280085 0.672501 0.047413 -0.011820 0.042940 0.968881", view, "|")
}

# Returns the linear intensity of the n-th component of a colour.
function linear(colour, n,    c) {
    c = (16 * (index("0123456789abcdef", substr(colour, 2 * n, 1)) - 1) + \
        index("0123456789abcdef", substr(colour, 2 * n + 1, 1)) - 1) / 255
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ^ 2.4
}

function clamp(c) { return c < 0 ? 0 : c > 1 ? 1 : c }

function root(t) { return t > 0.008856 ? t ^ (1 / 3) : 7.787 * t + 16 / 116 }

# Stores the Lab coordinates of colour i in view v.
function convert(i, v,    m, r, g, b, x, y, z) {
    split(view[v], m, " ")
    r = clamp(m[1] * red + m[2] * green + m[3] * blue)
    g = clamp(m[4] * red + m[5] * green + m[6] * blue)
    b = clamp(m[7] * red + m[8] * green + m[9] * blue)
    x = root((0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047)
    y = root(0.2126729 * r + 0.7151522 * g + 0.0721750 * b)
    z = root((0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883)
    L[i, v] = 116 * y - 16
    A[i, v] = 500 * (x - y)
    B[i, v] = 200 * (y - z)
}

{
    colour[++n] = tolower($0)
    red = linear(colour[n], 1)
    green = linear(colour[n], 2)
    blue = linear(colour[n], 3)
    for (v = 1; v <= nviews; v++) convert(n, v)
}

END {
    least = 1000
    for (i = 1; i <= n; i++)
        for (k = 1; k < i; k++)
            for (v = 1; v <= nviews; v++) {
                d = sqrt((L[i, v] - L[k, v]) ^ 2 + (A[i, v] - A[k, v]) ^ 2 + (B[i, v] - B[k, v]) ^ 2)
                if (d < least) { least = d; pair = colour[k] " " colour[i] }
            }
    printf "%.1f %s\n", least, pair
}
