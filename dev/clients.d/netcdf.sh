# Sourced by dev/clients. Runs netCDF-C's own tests. netCDF-C is built with parallel access to
# classic files, for which it uses PnetCDF. Programs that run under MPI are named netcdf/NAME. The
# results of `make check` in nc_test are named netcdf/check/NAME. netCDF-C can be built only with
# HDF5 or NCZarr.

netcdf_build=$dir/netcdf-build
netcdf_at=$netcdf_build/nc_test

netcdf_make() {
    mkdir -p "$netcdf_build"
    (
        cd "$netcdf_build" || exit
        [ -e Makefile ] || "$dir/netcdf/configure" --enable-pnetcdf --disable-hdf5 --enable-nczarr \
            --disable-dap --disable-byterange --disable-plugins --disable-libxml2 --disable-doxygen \
            --disable-shared --with-mpiexec="$MPIEXEC" \
            CC="$("$inst/bin/pnetcdf-config" --cc)" CFLAGS='-w -O1 -g' \
            CPPFLAGS="-I$inst/include" LDFLAGS="-L$inst/lib" || exit
        make -j"$(nproc)" V=0 && make -j"$(nproc)" -C nc_test V=0 check TESTS=
    ) >"$dir/netcdf.log" 2>&1
}

# Prints each program and its number of processes. tst_pnetcdf comes first, because tst_addvar reads
# its file.
netcdf_programs() {
    grep -E "^[^ ]*($pattern)" <<'END'
netcdf/tst_pnetcdf 1
netcdf/tst_addvar 1
netcdf/tst_parallel2 4
netcdf/t_nc 1
netcdf/tst_atts3 1
netcdf/tst_nofill 1
netcdf/nc_test 1
netcdf/tst_default_format_pnetcdf 1
netcdf/tst_small 1
netcdf/tst_formatx_pnetcdf 1
netcdf/tst_cdf5format 1
END
}

netcdf_check() {
    local trs result
    rm -f "$netcdf_at"/*.trs
    timeout $((1200 * ${NCMPI_TEST_TIME_SCALE:-1})) make -C "$netcdf_at" -k V=0 check >"$dir/netcdf-check.log" 2>&1
    for trs in "$netcdf_at"/*.trs; do
        [ -e "$trs" ] || { note netcdf/check 1 plain failed; return; }
        case $(sed -n 's/^:global-test-result: *//p' "$trs") in
        PASS) result=passed ;;
        SKIP) result=skipped ;;
        *) result=failed ;;
        esac
        note "netcdf/check/$(basename "$trs" .trs)" 1 plain $result
    done
}

netcdf_all() {
    local name n way
    netcdf_programs >"$dir/programs" || [[ netcdf/check =~ $pattern ]] || return 0
    netcdf_make || { note netcdf/all 1 plain failed; echo "netCDF-C does not build: $dir/netcdf.log"; return; }
    mkdir -p "$bin/netcdf"
    while read -r name n; do
        ln -sf "$netcdf_at/${name#*/}" "$bin/$name"
        for way in plain burst safe; do
            note "$name" "$n" $way "$(outcome "$name" "$n" $way)"
        done
    done <"$dir/programs"
    [[ ! netcdf/check =~ $pattern ]] || netcdf_check
}
