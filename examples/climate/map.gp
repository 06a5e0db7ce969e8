# Draws the mean of a field, and two steps' anomalies below it, over the relief of the
# earth:
#     gnuplot -e "fields='FILE'; picture='FILE.png'" map.gp
# FILE holds what plotfield prints for mean, anomaly, relief and coast, which is a
# coarser relief.
load fields

first = 0
second = anomaly_steps / 2

months = "January February March April May June July ".\
    "August September October November December"
step_name(i) = anomaly_steps == 12 ? word(months, i + 1) : \
    sprintf("step %d of %d", i + 1, anomaly_steps)
present(v, missing) = v == missing ? NaN : v
# How to plot one step of a field, some turns around the earth to the east.
placed(field, i, turns) = sprintf("%s skip=%d origin=(%.10g,%.10g) dx=%.10g dy=%.10g", \
    value(field), value(field."_begin") + i * value(field."_stride"), \
    value(field."_west") + 360 * turns, value(field."_south"), \
    value(field."_dx"), value(field."_dy"))

mean_map = placed("mean", 0, 0)
first_map = placed("anomaly", first, 0)
second_map = placed("anomaly", second, 0)

# The relief goes around the earth once; the map may need the turns before and after.
from = ceil((mean_west - relief_east) / 360)
to = floor((mean_east - relief_west) / 360)
# Land is the lighter the higher it is; the sea is white.
grey(h) = h < 0 ? 255 : 165 + 75 * (h > 3500 ? 1 : h / 3500.0)
land = ""
do for [turn = from:to] {
    land = land.placed("relief", 0, turn). \
        " using (grey($1)):(grey($1)):(grey($1)) with rgbimage notitle, "
}

# Coastlines are where the relief is 0.
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
shores = "for [turn = from - 1:to + 1] coastline using ($1 + 360 * turn):2 ".\
    "with lines lc rgb '#404040' lw 0.7 notitle"

set terminal pngcairo size 1400,1240 font "sans,13" background "white"
set output picture
set encoding utf8
set xrange [mean_west - mean_dx / 2 : mean_east + mean_dx / 2]
set yrange [mean_south - mean_dy / 2 : mean_north + mean_dy / 2]
set border lc rgb "#606060"
set tics out nomirror scale 0.5
set ytics ("60°S" -60, "30°S" -30, "0°" 0, "30°N" 30, "60°N" 60)
set xtics ("180°" -180, "120°W" -120, "60°W" -60, "0°" 0, "60°E" 60, "120°E" 120, \
    "180°" 180, "120°W" 240, "60°W" 300, "0°" 360)
set lmargin at screen 0.055
set multiplot

set rmargin at screen 0.92
set bmargin at screen 0.44
set tmargin at screen 0.945
set label 1 mean_units at screen 0.93, screen 0.965
set colorbox user origin screen 0.93, screen 0.44 size screen 0.02, screen 0.505
set title mean_title.", mean of ".anomaly_steps." steps" font "sans,18"
set cbrange [mean_low : mean_high]
set palette defined (0 "#20124d", 1 "#2c5aa0", 2 "#38a3c8", 3 "#7fd1ae", \
    4 "#e8e884", 5 "#f5a742", 6 "#d6402b", 7 "#7d0f1d")
plot @land @mean_map using (present($1, mean_missing)) with image notitle, @shores

set bmargin at screen 0.05
set tmargin at screen 0.36
set label 1 mean_units at screen 0.93, screen 0.38
limit = anomaly_spread > 0 ? 2.5 * anomaly_spread : 1
set cbrange [-limit : limit]
set palette defined (-3 "#053061", -2 "#2166ac", -1 "#92c5de", 0 "#f7f7f7", \
    1 "#f4a582", 2 "#b2182b", 3 "#67001f")
set xtics ("120°W" -120, "0°" 0, "120°E" 120, "120°W" 240, "0°" 360)

set rmargin at screen 0.475
set title "anomaly, ".step_name(first) font "sans,15"
unset colorbox
plot @land @first_map using (present($1, anomaly_missing)) with image notitle, @shores

set lmargin at screen 0.50
set rmargin at screen 0.92
set title "anomaly, ".step_name(second)
set colorbox user origin screen 0.93, screen 0.05 size screen 0.02, screen 0.31
set format y ""
set ytics -60, 30, 60
plot @land @second_map using (present($1, anomaly_missing)) with image notitle, @shores
unset multiplot
