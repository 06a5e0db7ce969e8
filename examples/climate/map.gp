# Draws the mean of a field and, if there are two steps, their anomalies below it. If the
# axes are longitude and latitude, draws the maps over a relief of the earth:
#     gnuplot -e "fields='FILE'; picture='FILE.png'" map.gp
# FILE contains the output of plotfield for mean, anomaly, relief and coast. `coast` is a coarser
# relief.
load fields

first = 0
second = anomaly_steps / 2

months = "January February March April May June July ".\
    "August September October November December"
step_name(i) = anomaly_steps == 12 && anomaly_time ? word(months, i + 1) : \
    sprintf("step %d of %d", i + 1, anomaly_steps)
present(v, missing) = v == missing ? NaN : v
# Returns one step of a field as an array, shifted east by a multiple of 360 degrees.
placed(field, i, turns) = sprintf("%s skip=%d origin=(%.10g,%.10g) dx=%.10g dy=%.10g", \
    value(field), value(field."_begin") + i * value(field."_stride"), \
    value(field."_west") + 360 * turns, value(field."_south"), \
    value(field."_dx"), value(field."_dy"))

# Unevenly spaced cells are drawn as boxes from edge to edge. Each box slightly overlaps
# the next one, which hides the background between them.
if (!mean_even) {
    columns = words(mean_xs) - 1
    rows = words(mean_ys) - 1
    array xs[columns + 1]
    array ys[rows + 1]
    do for [i = 1:columns + 1] { xs[i] = real(word(mean_xs, i)) }
    do for [i = 1:rows + 1] { ys[i] = real(word(mean_ys, i)) }
} else {
    array xs[2]
    array ys[2]
    columns = 1
}
over(from, to) = to + 0.08 * (to - from)
x(i, side) = xs[int(i) % columns + 1 + side]
y(i, side) = ys[int(i) / columns + 1 + side]
boxes = " using (($1 == missing) ? NaN : (x($0, 0) + x($0, 1)) / 2):((y($0, 0) + y($0, 1)) / 2):"\
    ."(x($0, 0)):(over(x($0, 0), x($0, 1))):(y($0, 0)):(over(y($0, 0), y($0, 1))):1 "\
    ."with boxxyerror fillstyle solid noborder linecolor palette notitle"
# Returns the plot command for one step of a field.
drawn(field, i) = mean_even ? placed(field, i, 0). \
    " using (present($1, missing)) with image notitle" : \
    sprintf("%s skip=%d", value(field."_cells"), \
        value(field."_begin") + i * value(field."_stride")).boxes

mean_map = drawn("mean", 0)
first_map = drawn("anomaly", first)
second_map = drawn("anomaly", second)

# The relief covers 360 degrees of longitude. The map may extend farther to the west and the east,
# where the relief must be repeated.
from = mean_degrees ? ceil((mean_west - relief_east) / 360) : 1
to = mean_degrees ? floor((mean_east - relief_west) / 360) : 0
# Higher land is lighter; the sea is white.
grey(h) = h < 0 ? 255 : 165 + 75 * (h > 3500 ? 1 : h / 3500.0)
land = ""
do for [turn = from:to] {
    land = land.placed("relief", 0, turn). \
        " using (grey($1)):(grey($1)):(grey($1)) with rgbimage notitle, "
}

# Coastlines are at relief 0.
coastline = picture.".coast"
coast_map = sprintf("%s skip=%d origin=(%.10g,%.10g,0) dx=%.10g dy=%.10g", \
    coast, coast_begin, coast_west, coast_south, coast_dx, coast_dy)
set contour base
set cntrparam levels discrete 0
unset surface
set table coastline
splot @coast_map using 1
unset table
unset contour
shores = !mean_degrees ? "" : ", for [turn = from - 1:to + 1] coastline using ($1 + 360 * turn):2 ".\
    "with lines lc rgb '#404040' lw 0.7 notitle"

one = anomaly_steps < 2 # a single step has no anomaly
foot = one ? 0.08 : 0.44
head = one ? 0.91 : 0.945
set terminal pngcairo size 1400,(one ? 790 : 1240) font "sans,13" background "white"
set output picture
set encoding utf8
set xrange [mean_west - mean_dx / 2 : mean_east + mean_dx / 2]
set yrange [mean_south - mean_dy / 2 : mean_north + mean_dy / 2]
if (!mean_even) {
    set xrange [xs[1] < xs[columns + 1] ? xs[1] : xs[columns + 1] : \
        xs[1] < xs[columns + 1] ? xs[columns + 1] : xs[1]]
    set yrange [ys[1] < ys[rows + 1] ? ys[1] : ys[rows + 1] : \
        ys[1] < ys[rows + 1] ? ys[rows + 1] : ys[1]]
}
set border lc rgb "#606060"
set tics out nomirror scale 0.5
# Labels of longitudes and latitudes: degrees, followed by the direction, which 0 and 180 degrees do
# not have.
wide = mean_east - mean_west
high = mean_north - mean_south
apart(span) = span > 150 ? 30 : span > 60 ? 15 : span > 25 ? 5 : span > 8 ? 2 : 1
turned(d) = d - 360 * floor((d + 180) / 360.0)
side(d, plus, minus) = sprintf("%.0f°", abs(d)).(d == 0 || abs(d) == 180 ? "" : \
    d > 0 ? plus : minus)
do_tics = 'set ytics scale 0.5; do for [d = -90:90:apart(high)] { '\
    .'set ytics add (side(d, "N", "S") d) }; set xtics scale 0.5; '\
    .'do for [d = -360:720:step] { set xtics add (side(turned(d), "E", "W") d) }'
if (mean_degrees) {
    set ytics ("" -1000)
    set xtics ("" -1000)
    step = wide > 150 ? 60 : apart(wide)
    @do_tics
} else {
    set xlabel mean_xname noenhanced
    set ylabel mean_yname noenhanced
}
set lmargin at screen (mean_degrees ? 0.055 : 0.085)
set multiplot

set rmargin at screen 0.92
set bmargin at screen foot + (mean_degrees ? 0 : 0.03)
set tmargin at screen head
set label 1 mean_units at screen 0.93, screen head + 0.02
set colorbox user origin screen 0.93, screen foot size screen 0.02, screen head - foot
set title mean_title.(one ? "" : ", mean of ".anomaly_steps." steps") font "sans,18" noenhanced
missing = mean_missing
set cbrange [mean_low : mean_high]
set palette defined (0 "#20124d", 1 "#2c5aa0", 2 "#38a3c8", 3 "#7fd1ae", \
    4 "#e8e884", 5 "#f5a742", 6 "#d6402b", 7 "#7d0f1d")
plot @land @mean_map @shores
if (one) { exit }

set bmargin at screen 0.05
set tmargin at screen 0.36
set label 1 mean_units at screen 0.93, screen 0.38
limit = anomaly_spread > 0 ? 2.5 * anomaly_spread : 1
set cbrange [-limit : limit]
set palette defined (-3 "#053061", -2 "#2166ac", -1 "#92c5de", 0 "#f7f7f7", \
    1 "#f4a582", 2 "#b2182b", 3 "#67001f")
missing = anomaly_missing
unset xlabel
if (mean_degrees && wide > 150) {
    step = 120
    set xtics ("" -1000)
    @do_tics
}

set rmargin at screen 0.475
set title "anomaly, ".step_name(first) font "sans,15"
unset colorbox
plot @land @first_map @shores

set lmargin at screen 0.50
set rmargin at screen 0.92
set title "anomaly, ".step_name(second)
set colorbox user origin screen 0.93, screen 0.05 size screen 0.02, screen 0.31
set format y ""
set ytics -90, 30, 90
if (!mean_degrees) { set ytics autofreq }
unset ylabel
plot @land @second_map @shores
unset multiplot
