# NCMPI_FORTRAN_COMPILERS: sets MPIF77 and MPIF90, unless the user has set them, to the compilers that
# accompany MPICC, or to "no" if there are none. Sets F77 and FC to the same compilers. Call this
# macro before LT_INIT, which uses F77 and FC.
AC_DEFUN([NCMPI_FORTRAN_COMPILERS], [
    AC_ARG_ENABLE([fortran],
        [AS_HELP_STRING([--disable-fortran],
            [do not build the Fortran interfaces, which are otherwise built if a compiler is found])],
        [], [enable_fortran=auto])
    AS_CASE([$enable_fortran], [yes|no|auto], [],
        [AC_MSG_ERROR([--enable-fortran takes no value])])
    # Other packages set FC or F77 to "no" to disable Fortran.
    AS_IF([test "$FC" = no || test "$F77" = no || test "$MPIF77" = no || test "$MPIF90" = no],
        [test "$enable_fortran" = yes || enable_fortran=no])
    AS_IF([test "$enable_fortran" = no], [MPIF77=no MPIF90=no])
    ncmpi_suffix=`AS_ECHO(["$MPICC"]) | sed -n 's/.*mpicc\(@<:@^/ @:>@*\)$/\1/p'`
    ncmpi_dir=`AS_ECHO(["$MPICC"]) | sed -n 's|^\(.*/\)@<:@^/@:>@*$|\1|p'`
    NCMPI_FIND_BESIDE([MPIF90], [mpif90 mpifort mpif77])
    NCMPI_FIND_BESIDE([MPIF77], [mpif77 mpifort mpif90])
    F77=$MPIF77
    FC=$MPIF90
    AC_PROG_F77
    AC_PROG_FC
])

# NCMPI_FIND_BESIDE(VARIABLE, NAMES): finds the first of NAMES that exists in the directory of
# MPICC, with the suffix of MPICC's name.
AC_DEFUN([NCMPI_FIND_BESIDE], [
    AS_IF([test -z "$$1" && test -n "$ncmpi_dir"], [
        for ncmpi_name in $2; do
            AS_IF([test -x "$ncmpi_dir$ncmpi_name$ncmpi_suffix"],
                [$1=$ncmpi_dir$ncmpi_name$ncmpi_suffix; break])
        done])
    AS_IF([test -z "$$1"], [
        ncmpi_names=
        for ncmpi_name in $2; do ncmpi_names="$ncmpi_names $ncmpi_name$ncmpi_suffix"; done
        AC_CHECK_PROGS([$1], [$ncmpi_names], [no])])
])

# NCMPI_FORTRAN: checks whether the Fortran interfaces can be built, and determines how the compiler
# spells names and passes strings. Sets have_fortran, ENABLE_FORTRAN, F77_NAME, HAVE_FORTRAN.
AC_DEFUN([NCMPI_FORTRAN], [
    have_fortran=$enable_fortran
    AS_IF([test "$have_fortran" != no], [NCMPI_FORTRAN_MPI])
    AS_IF([test "$have_fortran" != no], [NCMPI_FORTRAN_NAMES])
    AS_IF([test "$have_fortran" != no], [NCMPI_FORTRAN_STRINGS])
    AS_IF([test "$have_fortran" = no], [
        AS_IF([test "$enable_fortran" = yes],
            [AC_MSG_ERROR([the Fortran interfaces were requested but cannot be built: ${fortran_lacks:-there is no MPI Fortran compiler}])])
        AS_IF([test "$enable_fortran" = auto],
            [AC_MSG_WARN([no Fortran interfaces: ${fortran_lacks:-there is no MPI Fortran compiler}])])
        MPIF77= MPIF90= FFLAGS= FCFLAGS=],
        [have_fortran=yes; AC_SUBST([ENABLE_FORTRAN], [1])])
    dnl For the tests: check array indices, and allow calls with buffers of different types.
    AC_SUBST([FORTRAN_CHECKS])
    AS_IF([test "$ac_cv_fc_compiler_gnu" = yes],
        [FORTRAN_CHECKS="-fcheck=all -fallow-argument-mismatch -w"])
    AM_CONDITIONAL([HAVE_FORTRAN], [test "$have_fortran" = yes])
    AC_SUBST([have_fortran])
])

# NCMPI_FORTRAN_MPI: checks that a Fortran program can be linked with MPI, and that its offsets have
# the same size as in C.
AC_DEFUN([NCMPI_FORTRAN_MPI], [
    AC_LANG_PUSH([Fortran])
    AC_CACHE_CHECK([whether $FC builds programs with MPI], [ncmpi_cv_fortran_mpi],
        [AC_LINK_IFELSE([AC_LANG_SOURCE([[      program probe
      implicit none
      include 'mpif.h'
      integer(kind=MPI_OFFSET_KIND) :: offset
      integer(kind=merge(8, -1, MPI_OFFSET_KIND .eq. 8)) :: long
      integer :: err
      offset = 0
      long = offset
      call MPI_Init(err)
      call MPI_Finalize(err)
      end program
]])], [ncmpi_cv_fortran_mpi=yes], [ncmpi_cv_fortran_mpi=no])])
    AC_LANG_POP([Fortran])
    AS_IF([test "$ncmpi_cv_fortran_mpi" = no],
        [have_fortran=no fortran_lacks="$FC cannot link a program with MPI whose offsets have 8 bytes; see config.log"])
])

# NCMPI_FORTRAN_NAMES: defines F77_NAME(name, NAME) as the symbol that the compiler generates for a
# name with an underscore. The test links only the object, so it needs no library of the compiler.
AC_DEFUN([NCMPI_FORTRAN_NAMES], [
    AC_CACHE_CHECK([how $F77 spells names], [ncmpi_cv_fortran_names], [
        ncmpi_cv_fortran_names=unknown
        AC_LANG_PUSH([Fortran 77])
        AC_COMPILE_IFELSE([AC_LANG_SOURCE([[      subroutine ncmpi_probe()
      return
      end
]])], [cp conftest.$ac_objext ncmpi-probe.$ac_objext])
        AC_LANG_POP([Fortran 77])
        ncmpi_saved=$LIBS
        LIBS="ncmpi-probe.$ac_objext $LIBS"
        for ncmpi_name in ncmpi_probe_ ncmpi_probe__ ncmpi_probe NCMPI_PROBE NCMPI_PROBE_ NCMPI_PROBE__; do
            AC_LINK_IFELSE([AC_LANG_PROGRAM([[void $ncmpi_name(void);]], [[$ncmpi_name();]])],
                [ncmpi_cv_fortran_names=$ncmpi_name; break])
        done
        LIBS=$ncmpi_saved
        rm -f ncmpi-probe.$ac_objext])
    ncmpi_end=`AS_ECHO(["$ncmpi_cv_fortran_names"]) | sed 's/.*@<:@eE@:>@//'`
    AS_IF([test -n "$ncmpi_end"], [ncmpi_end=" ## $ncmpi_end"])
    AH_TEMPLATE([F77_NAME], [What the Fortran compiler makes of a name with underscores.])
    AS_CASE([$ncmpi_cv_fortran_names],
        [unknown], [have_fortran=no fortran_lacks="C programs cannot call what $F77 compiles"],
        [ncmpi*], [AC_DEFINE_UNQUOTED([F77_NAME(name,NAME)], [name$ncmpi_end])],
        [AC_DEFINE_UNQUOTED([F77_NAME(name,NAME)], [NAME$ncmpi_end])])
])

# NCMPI_FORTRAN_STRINGS: determines the type of the hidden string lengths at the end of argument
# lists.
AC_DEFUN([NCMPI_FORTRAN_STRINGS], [
    AC_LANG_PUSH([Fortran])
    ncmpi_saved_ext=$ac_ext
    ac_ext=F90
    AC_CACHE_CHECK([for the type of hidden string lengths], [ncmpi_cv_fortran_strlen],
        [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#if defined(__GFORTRAN__) && __GNUC__ < 8
#error lengths are int
#endif
      end
]])], [ncmpi_cv_fortran_strlen=size_t], [ncmpi_cv_fortran_strlen=int])])
    ac_ext=$ncmpi_saved_ext
    AC_LANG_POP([Fortran])
    AC_DEFINE_UNQUOTED([F77_STRLEN], [$ncmpi_cv_fortran_strlen],
        [Type of the hidden lengths of Fortran strings.])
])

# NCMPI_NETCDF_FORTRAN: finds netCDF-Fortran for the tests that compare with it. Sets HAVE_NETCDFF
# and the directory of its include file, NETCDFF_DIR.
AC_DEFUN([NCMPI_NETCDF_FORTRAN], [
    have_netcdff=no
    AC_SUBST([NETCDFF_DIR])
    AS_IF([test "$have_fortran" = yes && test "$have_netcdf" = yes], [
        AC_MSG_CHECKING([for netCDF-Fortran])
        NETCDFF_DIR=`nf-config --includedir 2>/dev/null || echo /usr/include`
        AC_LANG_PUSH([Fortran])
        ncmpi_saved=$LIBS
        LIBS="-lnetcdff -lnetcdf $LIBS"
        AC_LINK_IFELSE([AC_LANG_SOURCE([[      character(len=80), external :: nf_inq_libvers
      print *, nf_inq_libvers()
      end
]])], [AS_IF([test -f "$NETCDFF_DIR/netcdf.inc"], [have_netcdff=yes])])
        LIBS=$ncmpi_saved
        AC_LANG_POP([Fortran])
        AC_MSG_RESULT([$have_netcdff])])
    AM_CONDITIONAL([HAVE_NETCDFF], [test "$have_netcdff" = yes])
])
