# NCMPI_LINKER: determines the linker's features for the shared library. Call this after LT_INIT,
# NCMPI_CXX and all macros that modify CFLAGS or LDFLAGS.
AC_DEFUN([NCMPI_LINKER], [
    NCMPI_SYMBOL_VERSIONS
    NCMPI_CXX_APART
])

# NCMPI_SYMBOL_VERSIONS: sets SYMBOL_VERSIONS to the linker option for src/lib/pnetcdf.map if the
# linker accepts that file.
AC_DEFUN([NCMPI_SYMBOL_VERSIONS], [
    AC_CACHE_CHECK([whether the linker gives symbols versions], [ncmpi_cv_symbol_versions], [
        ncmpi_saved=$LDFLAGS ncmpi_saved_cflags=$CFLAGS
        CFLAGS="$CFLAGS -fPIC"
        LDFLAGS="$LDFLAGS -shared -Wl,--version-script=$srcdir/src/lib/pnetcdf.map"
        AC_LINK_IFELSE([AC_LANG_SOURCE([[int ncmpi_probe(void);
int ncmpi_probe(void) { return 0; }]])],
            [ncmpi_cv_symbol_versions=yes], [ncmpi_cv_symbol_versions=no])
        LDFLAGS=$ncmpi_saved CFLAGS=$ncmpi_saved_cflags])
    AS_IF([test $ncmpi_cv_symbol_versions = yes],
        [AC_SUBST([SYMBOL_VERSIONS], ['-Wl,--version-script=$(srcdir)/src/lib/pnetcdf.map'])])
])

m4_pattern_allow([^AS_NEEDED$])

# NCMPI_CXX_APART: makes the C++ interface a separate shared library, libpnetcdf_cxx, and
# libpnetcdf.so a linker script that names both libraries. A C program is then linked only with
# libpnetcdf, and loads no C++ library. The linker must search for both in the directory of the
# script, wherever it is (GNU ld does since 2.32; gold, lld and mold do, too). With other linkers,
# libpnetcdf itself contains the C++ interface.
AC_DEFUN([NCMPI_CXX_APART], [
    AC_CACHE_CHECK([whether a linker script can stand for two libraries], [ncmpi_cv_linker_script], [
        ncmpi_cv_linker_script=no
        ncmpi_saved=$LIBS
        rm -rf conftest.dir && mkdir conftest.dir
        for ncmpi_name in c d; do
            echo "int ncmpi_probe_$ncmpi_name(void); int ncmpi_probe_$ncmpi_name(void) { return 0; }" \
                >conftest.dir/$ncmpi_name.c
            $CC $CFLAGS $LDFLAGS -shared -fPIC -Wl,-soname,libprobe_$ncmpi_name.so.1 \
                -o conftest.dir/libprobe_$ncmpi_name.so.1 conftest.dir/$ncmpi_name.c >&AS_MESSAGE_LOG_FD 2>&1
        done
        echo '/* GNU ld script */ INPUT(libprobe_c.so.1 AS_NEEDED(libprobe_d.so.1))' >conftest.dir/libprobe.so
        LIBS="conftest.dir/libprobe.so $LIBS"
        AC_LINK_IFELSE([AC_LANG_PROGRAM([[int ncmpi_probe_c(void); int ncmpi_probe_d(void);]],
            [[return ncmpi_probe_c() + ncmpi_probe_d();]])], [ncmpi_cv_linker_script=yes])
        LIBS=$ncmpi_saved
        rm -rf conftest.dir])
    cxx_apart=no
    AS_IF([test "$have_cxx,$enable_shared,$ncmpi_cv_linker_script" = yes,yes,yes], [cxx_apart=yes])
    AM_CONDITIONAL([CXX_APART], [test $cxx_apart = yes])
])
