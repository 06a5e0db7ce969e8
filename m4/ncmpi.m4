# Defines this project's checks. Each macro sets the variables that its comment names.

# NCMPI_FLEX_BISON: checks for flex and bison, which generate the CDL reader, unless the generated
# files exist already.
AC_DEFUN([NCMPI_FLEX_BISON], [
    AC_REQUIRE([AM_MISSING_HAS_RUN])
    AC_PROG_LEX([noyywrap])
    AS_IF([test "$LEX" = :], [LEX="${am_missing_run}flex"])
    AC_PROG_YACC
    AS_IF([test ! -f "$srcdir/src/lib/cdl/cdl_scanner.c" ||
           test ! -f "$srcdir/src/lib/cdl/cdl_grammar.c"], [
        AC_MSG_CHECKING([for flex])
        AS_CASE([`$LEX --version 2>/dev/null`],
            [flex*], [AC_MSG_RESULT([$LEX])],
            [AC_MSG_RESULT([no])
             AC_MSG_ERROR([flex was not found, and this checkout, unlike a release, has no src/lib/cdl/cdl_scanner.c (Debian: flex)])])
        AC_MSG_CHECKING([for bison 3.6 or later])
        AS_CASE([`$YACC --version 2>/dev/null | sed 1q`],
            [*Bison*' '3.@<:@0-5@:>@|*Bison*' '3.@<:@0-5@:>@.*|*Bison*' '@<:@12@:>@.*],
                [ncmpi_bison=no], [*Bison*], [ncmpi_bison=yes], [ncmpi_bison=no])
        AC_MSG_RESULT([$ncmpi_bison])
        AS_IF([test $ncmpi_bison = no],
            [AC_MSG_ERROR([bison 3.6 or later was not found, and this checkout, unlike a release, has no src/lib/cdl/cdl_grammar.c (Debian: bison)])])])
])

# NCMPI_LARGEFILE: gives off_t the same size in all sources, even if they do not include config.h.
AC_DEFUN([NCMPI_LARGEFILE], [
    dnl Later versions of autoconf set the second variable.
    AS_CASE([$ac_cv_sys_file_offset_bits,$ac_cv_sys_largefile_opts],
        [64,* | *,*_FILE_OFFSET_BITS=64*],
        [AC_SUBST([LARGEFILE_CPPFLAGS], [-D_FILE_OFFSET_BITS=64])])
])

# NCMPI_MPI: determines the MPI implementation (mpi_flavour) and its launcher, and checks that
# programs can be linked with MPI-IO.
AC_DEFUN([NCMPI_MPI], [
    AC_CACHE_CHECK([for MPI-IO], [ncmpi_cv_mpiio],
        [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]],
            [[MPI_File f; return MPI_File_open(MPI_COMM_SELF, "x", MPI_MODE_RDONLY, MPI_INFO_NULL, &f);]])],
            [ncmpi_cv_mpiio=yes], [ncmpi_cv_mpiio=no])])
    AS_IF([test "$ncmpi_cv_mpiio" = no],
        [AC_MSG_ERROR([$MPICC cannot build a program that uses MPI-IO; see config.log])])
    AC_CACHE_CHECK([which MPI it is], [ncmpi_cv_flavour],
        [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef MPICH_VERSION
#error no
#endif]])], [ncmpi_cv_flavour=mpich],
        [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef OMPI_MAJOR_VERSION
#error no
#endif]])], [ncmpi_cv_flavour=openmpi], [ncmpi_cv_flavour=other])])])
    mpi_flavour=$ncmpi_cv_flavour
    AC_SUBST([mpi_flavour])
    AS_CASE([$mpi_flavour], [mpich], [other_mpi=OMPI_MAJOR_VERSION],
        [openmpi], [other_mpi=MPICH_VERSION], [other_mpi=PNETCDF_OTHER_MPI])
    AC_SUBST([other_mpi])
    NCMPI_MPI_COMPILER
    AC_CHECK_FUNCS([MPI_Type_get_contents_c]) dnl MPI-4: decodes types with large counts
    AS_IF([test -z "$MPIEXEC"],
        [AC_CHECK_PROGS([MPIEXEC], [mpiexec.$mpi_flavour mpiexec mpirun], [no])])
])

# NCMPI_MPI_COMPILER: sets mpi_compiler to the name under which users find MPICC, even if mpicc later
# becomes a link to the compiler of another MPI.
AC_DEFUN([NCMPI_MPI_COMPILER], [
    AC_SUBST([mpi_compiler], [$MPICC])
    ncmpi_mpicc=$MPICC
    AS_IF([test "$MPICC" = mpicc], [
        mpi_compiler=`command -v mpicc`
        AS_IF([test "$mpi_compiler" -ef "`command -v mpicc.$mpi_flavour`"],
            [mpi_compiler=mpicc.$mpi_flavour])
        ncmpi_mpicc="mpicc, which is $mpi_compiler"])
])

# NCMPI_COMPILE: sets CC to the compiler that MPICC runs, with MPI's options, because MPICC is often
# a script that takes longer than the compiler. CCLD, which links, remains MPICC.
AC_DEFUN([NCMPI_COMPILE], [
    AC_SUBST([CCLD], [$CC])
    ncmpi_more=`AS_ECHO(["$CC"]) | sed "s|^$MPICC||"`
    AC_CACHE_CHECK([how $MPICC compiles], [ncmpi_cv_compile], [
        ncmpi_cv_compile=`$MPICC -show -c conftest.c 2>/dev/null | sed -n 's/ -c conftest\.c / /p'`
        ncmpi_cc=$CC
        CC=$ncmpi_cv_compile
        AS_IF([test -z "$CC"], [ncmpi_cv_compile=$MPICC],
            [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]])], [],
                [ncmpi_cv_compile=$MPICC])])
        CC=$ncmpi_cc])
    CC="$ncmpi_cv_compile$ncmpi_more"
])

# NCMPI_FEATURES: sets the features that pnetcdf.h announces.
AC_DEFUN([NCMPI_FEATURES], [
    AC_SUBST([ENABLE_FORTRAN], [0])
    AC_SUBST([ENABLE_CXX], [0])
    AC_SUBST([ENABLE_ERANGE_FILL], [1])
    AC_SUBST([ENABLE_SUBFILING], [1])
    AC_SUBST([ENABLE_PROFILING], [0])
    AC_SUBST([ENABLE_NULL_PAD], [0])
    AC_SUBST([ENABLE_SWAP_IN_PLACE], [-1])
    AC_SUBST([ENABLE_THREAD_SAFE], [1])
    AC_ARG_ENABLE([debug],
        [AS_HELP_STRING([--enable-debug], [record where errors are first raised])],
        [], [enable_debug=no])
    AS_IF([test "$enable_debug" = yes], [AC_SUBST([ENABLE_DEBUG], [1])
        AC_DEFINE([NCMPI_DEBUG], [1], [Define to record where errors are first raised.])],
        [AC_SUBST([ENABLE_DEBUG], [0])])
])

# NCMPI_CFLAGS: sets AM_CFLAGS for all code of this project.
AC_DEFUN([NCMPI_CFLAGS], [
    ncmpi_flags=
    for flag in -Wall -Wextra -fvisibility=hidden -std=gnu11; do
        AX_NCMPI_TRY_FLAG([$flag])
    done
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors])],
        [], [enable_werror=no])
    AS_IF([test "$enable_werror" = yes], [ncmpi_flags="$ncmpi_flags -Werror"])
    AC_SUBST([AM_CFLAGS], [$ncmpi_flags])
])

# NCMPI_SANITIZE_ALL: builds everything so that invalid accesses and undefined behaviour abort a
# test. With --enable-sanitizers=thread, data races do.
AC_DEFUN([NCMPI_SANITIZE_ALL], [
    AC_ARG_ENABLE([sanitizers],
        [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@],
            [build with sanitizers (for tests): address,undefined, or LIST, in the form of -fsanitize])],
        [], [enable_sanitizers=no])
    AS_IF([test "$enable_sanitizers" = yes], [enable_sanitizers=address,undefined])
    AS_IF([test "$enable_sanitizers" != no], [
        ncmpi_flags="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer"
        AS_CASE([,$enable_sanitizers,], [*,undefined,*],
            [ncmpi_flags="$ncmpi_flags -fno-sanitize-recover=undefined"])
        CFLAGS="$CFLAGS $ncmpi_flags"
        CXXFLAGS="$CXXFLAGS $ncmpi_flags"
        LDFLAGS="$LDFLAGS -fsanitize=$enable_sanitizers"
        AC_MSG_CHECKING([whether $CC has the sanitizers])
        AC_LINK_IFELSE([AC_LANG_PROGRAM([])], [AC_MSG_RESULT([yes])],
            [AC_MSG_RESULT([no]); AC_MSG_ERROR([$CC cannot link with the sanitizers])])])
])

# AX_NCMPI_TRY_FLAG(FLAG): adds FLAG to ncmpi_flags if the compiler accepts it.
AC_DEFUN([AX_NCMPI_TRY_FLAG], [
    ncmpi_saved=$CFLAGS
    CFLAGS="$CFLAGS $1"
    AC_MSG_CHECKING([whether $CC takes $1])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([])],
        [AC_MSG_RESULT([yes]); ncmpi_flags="$ncmpi_flags $1"], [AC_MSG_RESULT([no])])
    CFLAGS=$ncmpi_saved
])

# NCMPI_PACKAGING: creates the files that describe this library's build and installation to other
# packages.
AC_DEFUN([NCMPI_PACKAGING], [
    AC_SUBST([MPICXX])
    AC_SUBST([FFLAGS])
    AC_SUBST([FPPFLAGS])
    AC_SUBST([FCFLAGS])
    AC_SUBST([CONFIGURE_ARGS], [$ac_configure_args])
    dnl Does not read the clock, so that a later build creates identical files.
    AC_SUBST([CONFIG_DATE], [$RELEASE_DATE])
    AS_IF([test -n "$SOURCE_DATE_EPOCH"],
        [CONFIG_DATE=`LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%d %b %Y' 2>/dev/null ||
            LC_ALL=C date -u -r "$SOURCE_DATE_EPOCH" '+%d %b %Y'`])
    AC_ARG_VAR([DOXYGEN], [generates the reference (default: doxygen)])

    dnl pnetcdf.pc derives the prefix from its own location, so that the installed tree can be
    dnl moved. Directories outside the prefix remain absolute.
    ncmpi_prefix=$prefix ncmpi_exec_prefix=$exec_prefix
    test "$ncmpi_prefix" != NONE || ncmpi_prefix=$ac_default_prefix
    test "$ncmpi_exec_prefix" != NONE || ncmpi_exec_prefix=$ncmpi_prefix
    pc_libdir=`prefix=$ncmpi_prefix exec_prefix=$ncmpi_exec_prefix; eval "echo $libdir"`
    pc_includedir=`prefix=$ncmpi_prefix exec_prefix=$ncmpi_exec_prefix; eval "echo $includedir"`
    pc_prefix=$ncmpi_prefix
    ncmpi_below=
    AS_CASE([$pc_libdir], ["$ncmpi_prefix"/*], [
        ncmpi_below=`AS_ECHO(["${pc_libdir@%:@"$ncmpi_prefix"/}"])`
        pc_prefix='${pcfiledir}'/../`AS_ECHO(["$ncmpi_below"]) | sed 's|@<:@^/@:>@@<:@^/@:>@*|..|g'`
        pc_libdir='${prefix}'/$ncmpi_below])
    AS_CASE([$pc_includedir], ["$ncmpi_prefix"/*],
        [pc_includedir='${prefix}'/`AS_ECHO(["${pc_includedir@%:@"$ncmpi_prefix"/}"])`])
    AC_SUBST([pc_prefix])
    AC_SUBST([pc_libdir])
    AC_SUBST([pc_includedir])

    dnl Installed tools and libraries also find libpnetcdf if the tree was moved.
    ncmpi_bindir=`prefix=$ncmpi_prefix exec_prefix=$ncmpi_exec_prefix; eval "echo $bindir"`
    AS_IF([test -n "$ncmpi_below" && test "$ncmpi_bindir" = "$ncmpi_prefix/bin"],
        [AC_SUBST([TOOL_RUNPATH], ["-Wl,-rpath,'\$\$ORIGIN/../$ncmpi_below'"])])
    AC_SUBST([LIBRARY_RUNPATH], ["-Wl,-rpath,'\$\$ORIGIN'"])

    dnl Libraries for several MPIs can share a directory if they have different names.
    AC_ARG_WITH([soname-suffix],
        [AS_HELP_STRING([--with-soname-suffix=WORD],
            [name the shared library libpnetcdf-WORD.so.8, so that libraries for several MPIs can share a directory])],
        [], [with_soname_suffix=no])
    AS_CASE([$with_soname_suffix],
        [no], [],
        [yes | *@<:@!a-zA-Z0-9.+_@:>@*],
            [AC_MSG_ERROR([--with-soname-suffix needs a word of letters and digits])],
        [AC_SUBST([LIBRARY_RELEASE], ["-release $with_soname_suffix"])])
    AC_CONFIG_FILES([doc/Doxyfile])
    AC_CONFIG_FILES([pnetcdf.pc:src/packaging/pnetcdf.pc.in])
    AC_CONFIG_FILES([src/packaging/pnetcdf-config.cmake])
    AC_CONFIG_FILES([src/packaging/pnetcdf-config-version.cmake])
    NCMPI_SCRIPT([src/utils/pnetcdf-config/pnetcdf-config])
    NCMPI_SCRIPT([src/utils/pnetcdf_version/pnetcdf_version])
])

# NCMPI_SCRIPT(SCRIPT): creates a script that prints compiler flags. Omits flags that contain the
# build directory, so that builds in other directories create the same script.
AC_DEFUN([NCMPI_SCRIPT], [
    AC_CONFIG_FILES([$1], [sed 's/ *-f@<:@a-z@:>@*-prefix-map=@<:@^ "'\''@:>@*//g' $1 >$1.new &&
        mv $1.new $1 && chmod +x $1])
])

# NCMPI_SANITIZERS: sets the flags for a program with run-time checks, if the compiler supports
# them.
AC_DEFUN([NCMPI_SANITIZERS], [
    AC_SUBST([SANITIZE_CFLAGS],
        ['-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined'])
    ncmpi_saved=$CFLAGS
    CFLAGS="$CFLAGS $SANITIZE_CFLAGS"
    AC_CACHE_CHECK([for AddressSanitizer and UBSan], [ncmpi_cv_sanitizers],
        [AC_RUN_IFELSE([AC_LANG_PROGRAM([])],
            [ncmpi_cv_sanitizers=yes], [ncmpi_cv_sanitizers=no], [ncmpi_cv_sanitizers=no])])
    CFLAGS=$ncmpi_saved
    AM_CONDITIONAL([HAVE_SANITIZERS], [test "$ncmpi_cv_sanitizers" = yes])
])

# NCMPI_XXHASH: checks for xxhash.h, whose inline functions compute the checksums of logs and of
# blobs in subfiles.
AC_DEFUN([NCMPI_XXHASH], [
    AC_ARG_WITH([xxhash],
        [AS_HELP_STRING([--without-xxhash], [build without checksums in subfiles and without the burst buffer])],
        [], [with_xxhash=check])
    have_xxhash=no
    AS_IF([test "x$with_xxhash" != xno],
        [AC_CHECK_HEADER([xxhash.h], [have_xxhash=yes])
        AS_IF([test "x$with_xxhash$have_xxhash" = xyesno],
            [AC_MSG_ERROR([xxhash was requested, but xxhash.h was not found (Debian: libxxhash-dev)])])])
    AM_CONDITIONAL([XXHASH], [test $have_xxhash = yes])
    AS_IF([test $have_xxhash = yes],
        [AC_DEFINE([HAVE_XXHASH], [1], [Define to 1 if there is xxhash.h.])])
])

# NCMPI_CODEC(NAME, HEADER, FUNCTION): checks for a library that compresses the values of blobs.
AC_DEFUN([NCMPI_CODEC], [
    AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [do not support blobs compressed by $1])],
        [], [with_$1=check])
    have_$1=no
    AS_IF([test "x$with_$1" != xno],
        [AC_CHECK_HEADER([$2], [AC_SEARCH_LIBS([$3], [$1], [have_$1=yes])])
        AS_IF([test "x$with_$1$have_$1" = xyesno],
            [AC_MSG_ERROR([$1 was requested but not found (Debian: lib$1-dev)])])])
    AS_IF([test $have_$1 = yes],
        [AC_DEFINE(AS_TR_CPP([HAVE_$1]), [1], [Define to 1 if there is $1.])])
])

# NCMPI_BURST_BUFFER: enables the driver that writes puts to logs with checksums.
AC_DEFUN([NCMPI_BURST_BUFFER], [
    AC_REQUIRE([NCMPI_XXHASH])
    AC_ARG_ENABLE([burst-buffering],
        [AS_HELP_STRING([--disable-burst-buffering], [do not build the burst-buffer driver])],
        [], [enable_burst_buffering=check])
    AS_IF([test "$enable_burst_buffering" != no], [
        AS_IF([test "$have_xxhash" = no], [
            AS_IF([test "$enable_burst_buffering" = yes],
                [AC_MSG_ERROR([burst buffering was requested, but xxhash.h was not found (Debian: libxxhash-dev)])])
            enable_burst_buffering=no], [enable_burst_buffering=yes])])
    AM_CONDITIONAL([BURST], [test "$enable_burst_buffering" = yes])
    AS_IF([test "$enable_burst_buffering" = yes], [
        AC_SUBST([ENABLE_BURST_BUFFERING], [1])
        AC_DEFINE([NCMPI_BURST], [1], [Define for the driver that logs writes.])],
        [AC_SUBST([ENABLE_BURST_BUFFERING], [0])])
])

# NCMPI_LOAD_NETCDF: selects the netCDF-C library for netCDF-4 files. The library is not linked, but
# loaded when a program first uses a netCDF-4 file.
AC_DEFUN([NCMPI_LOAD_NETCDF], [
    AC_ARG_WITH([netcdf4],
        [AS_HELP_STRING([--with-netcdf4@<:@=LIBRARY@:>@], [netCDF-C library for netCDF-4 files (default: the first one found when a program needs it)])
AS_HELP_STRING([--without-netcdf4], [do not support netCDF-4 files])],
        [], [with_netcdf4=yes])
    netcdf4=$with_netcdf4
    AS_IF([test "x$with_netcdf4" = xno], [AC_SUBST([ENABLE_NETCDF4], [0])],
        [AC_SUBST([ENABLE_NETCDF4], [1])])
    AS_IF([test "x$with_netcdf4" != xno], [
        AC_SEARCH_LIBS([dlopen], [dl])
        AS_IF([test "x$with_netcdf4" = xyes], [ncmpi_library=; netcdf4="looked for at run time"],
            [ncmpi_library=$with_netcdf4])
        AC_DEFINE_UNQUOTED([NCMPI_NETCDF4], ["$ncmpi_library"],
            [Define for netCDF-4 files: the name of the library for them, or nothing.])
        AS_IF([test "$mpi_flavour" = openmpi],
            [AC_DEFINE([NCMPI_NETCDF4_PARALLEL], ["libnetcdf_mpi.so.19", "libnetcdf_mpi.so"],
                [Define to the names of parallel netCDF-C libraries for this MPI.])])])
])
