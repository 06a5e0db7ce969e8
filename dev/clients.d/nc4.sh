# Sourced by dev/clients. Runs PnetCDF's tests of its netCDF-4 driver, and its other tests that use
# netCDF-4 files if they are available. The programs are named nc4/NAME, testcases/nc4/NAME and
# nc_test/nc4/nc_test. Several processes can write only if netCDF-C was built for the MPI in use.
# Debian builds it for Open MPI.

# Some programs also call netCDF-C directly, in parallel mode.
parallel_netcdf() { [ "$MPI_FLAVOUR" = openmpi ] && pkg-config --exists netcdf-mpi; }
netcdf_flags() {
    case $1 in nc4/*) ! parallel_netcdf || echo "-I$(pkg-config --variable=libdir netcdf-mpi)/netcdf/mpi/include" ;; esac
}
netcdf_libs() {
    case $1 in nc4/*) if parallel_netcdf; then pkg-config --libs netcdf-mpi; else echo -lnetcdf; fi ;; esac
}

nc4_programs() {
    local file
    {
        for file in "$source"/test/nc4/*.{c,m4}; do
            ! grep -q netcdf_par.h "$file" || parallel_netcdf || continue
            echo "nc4/$(basename "${file%.*}") $file"
        done | sort -r # programs that write must precede those that read
        for file in $(grep -lE 'ENABLE_NETCDF4' "$source"/test/testcases/*.{c,m4}); do
            echo "testcases/nc4/$(basename "${file%.*}") $file"
        done
        echo nc_test/nc4/nc_test "$source"/test/nc_test/{nc_test,error,util}.c "$source"/test/nc_test/test_*.m4
    } | grep -E "^[^ ]*($pattern)"
}

nc4_all() {
    local defines=("${defines[@]}" -DENABLE_NETCDF4 -DNETCDF_GE_4_5_0)
    nc4_programs >"$dir/programs" || return 0
    prepare >"$dir/prepare.log" 2>&1 || die "PnetCDF's common parts do not compile: $dir/prepare.log"
    compile_all
    run_programs
}
