# Draws the front page's picture from the tables in README.md and scale.md: the speed relative to
# PnetCDF on one node, and the rates compared with ROMIO's two-phase I/O on the simulated machine.
# Run in this directory:
#     gnuplot overview.gp && sed -i 's/ *$//' overview.svg
set datafile separator "|"
set terminal svg size 1000, 430 font "sans,12" background "white"
set output "overview.svg"
set multiplot layout 1, 2
set style fill solid 0.9 border lc rgb "#404040"
set grid y
set tics nomirror

# Selects a table's rows for one step of the workloads whose names match.
step(s) = "< grep -E '^\\| (contig-3d|block|columns|interleaved|strided|history-iput|unstruct|flash)[^|]*\\| " . s . " \\|' README.md"

set size 0.6, 1
set origin 0, 0
set title "speed of ncmpi divided by PnetCDF 1.12.3's, one node"
set logscale y 2
set xrange [-0.6:7.6]
set yrange [0.5:64]
set ylabel "times as fast"
set xtics rotate by -35
set key top left maxrows 2
set arrow from graph 0, first 1 to graph 1, first 1 nohead front linewidth 2 linecolor "gray30"
# Each bar starts at 1, which is equal speed.
plot step("put over") using ($0 - 0.3):6:($0 - 0.4):($0 - 0.2):(1):6:xtic(word(strcol(2), 1)) \
        with boxxyerror title "puts, 4 processes" linecolor rgb "#7fb3d5", \
    step("put over") using ($0 - 0.1):7:($0 - 0.2):($0):(1):7 \
        with boxxyerror title "puts, 16" linecolor rgb "#1f618d", \
    step("get warm") using ($0 + 0.1):6:($0):($0 + 0.2):(1):6 \
        with boxxyerror title "gets, 4" linecolor rgb "#f5cba7", \
    step("get warm") using ($0 + 0.3):7:($0 + 0.2):($0 + 0.4):(1):7 \
        with boxxyerror title "gets, 16" linecolor rgb "#ca6f1e"

# Selects a row of the lattice table: the rates of puts and gets for each number of processes.
rates(row) = "< awk -F'|' -v row='" . row . "' '/^## Compared with ROMIO/ { on = 1 } on && index($2, row) && $3 ~ /\\// {"\
    . " split($3 \"/\" $4, r, \"/\"); print \"puts, 256|\" r[1] \"\\ngets, 256|\" r[2]"\
    . " \"\\nputs, 1,024|\" r[3] \"\\ngets, 1,024|\" r[4]; exit }' scale.md"
set size 0.4, 1
set origin 0.6, 0
set title "simulated machine, 32 and 128 nodes"
unset arrow
unset logscale y
set xrange [*:*]
set yrange [0:150]
set style data histograms
set style histogram clustered gap 2
set ylabel "GB/s"
set key top left reverse Left maxrows 2
plot rates("romio") using 2:xtic(1) title "ROMIO" linecolor rgb "#b0b0b0", \
    rates(" now") using 2 title "ncmpi" linecolor rgb "#1e8449"
unset multiplot
