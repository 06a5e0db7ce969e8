# NCMPI_CXX_COMPILER: sets MPICXX, unless the user has set it, to the compiler that accompanies
# MPICC, or to "no" if there is none. Sets CXX to the same compiler. Call this macro after
# NCMPI_FORTRAN_COMPILERS and before LT_INIT, which uses CXX.
AC_DEFUN([NCMPI_CXX_COMPILER], [
    AC_ARG_ENABLE([cxx],
        [AS_HELP_STRING([--disable-cxx],
            [do not build the C++ interface, which is otherwise built if a compiler is found])],
        [], [enable_cxx=auto])
    AS_CASE([$enable_cxx], [yes|no|auto], [],
        [AC_MSG_ERROR([--enable-cxx takes no value])])
    # Other packages set CXX to "no" to disable C++.
    AS_IF([test "$CXX" = no || test "$MPICXX" = no],
        [test "$enable_cxx" = yes || enable_cxx=no])
    AS_IF([test "$enable_cxx" = no], [MPICXX=no])
    NCMPI_FIND_BESIDE([MPICXX], [mpicxx mpic++ mpiCC])
    CXX=$MPICXX
    AC_PROG_CXX
])

# NCMPI_CXX: checks whether the C++ interface can be built, and determines the libraries that C
# programs need to link with it. Sets have_cxx, ENABLE_CXX, AM_CXXFLAGS, CXX_RUNTIME, HAVE_CXX.
AC_DEFUN([NCMPI_CXX], [
    have_cxx=$enable_cxx cxx_lacks=
    AS_IF([test "$MPICXX" = no], [have_cxx=no cxx_lacks='there is no MPI C++ compiler'])
    # Disables the old C++ bindings of MPI, which are not used and cause warnings in current
    # compilers.
    AC_SUBST([CXX_MPI_CPPFLAGS], ['-DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX'])
    AS_IF([test "$have_cxx" != no], [NCMPI_CXX_FLAGS])
    AS_IF([test "$have_cxx" != no], [NCMPI_CXX_MPI])
    AS_IF([test "$have_cxx" != no], [NCMPI_CXX_RUNTIME])
    AS_IF([test "$have_cxx" = no], [
        AS_IF([test "$enable_cxx" = yes],
            [AC_MSG_ERROR([the C++ interface was requested but cannot be built: $cxx_lacks])])
        AS_IF([test "$enable_cxx" = auto],
            [AC_MSG_WARN([no C++ interface: $cxx_lacks])])
        MPICXX= CXXFLAGS=],
        [have_cxx=yes; AC_SUBST([ENABLE_CXX], [1])])
    AM_CONDITIONAL([HAVE_CXX], [test "$have_cxx" = yes])
])

AC_DEFUN([NCMPI_CXX_FLAGS], [
    AC_LANG_PUSH([C++])
    ncmpi_cxxflags=
    for flag in -Wall -Wextra -fvisibility=hidden -std=gnu++11; do
        ncmpi_saved=$CXXFLAGS
        CXXFLAGS="$CXXFLAGS $flag"
        AC_MSG_CHECKING([whether $CXX takes $flag])
        AC_COMPILE_IFELSE([AC_LANG_PROGRAM([])],
            [AC_MSG_RESULT([yes]); ncmpi_cxxflags="$ncmpi_cxxflags $flag"],
            [AC_MSG_RESULT([no])])
        CXXFLAGS=$ncmpi_saved
    done
    AS_IF([test "$enable_werror" = yes], [ncmpi_cxxflags="$ncmpi_cxxflags -Werror"])
    AC_SUBST([AM_CXXFLAGS], [$ncmpi_cxxflags])
    AC_LANG_POP([C++])
])

# NCMPI_CXX_MPI: checks that a C++11 program can be linked with the MPI of MPICC.
AC_DEFUN([NCMPI_CXX_MPI], [
    AC_LANG_PUSH([C++])
    ncmpi_saved=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $CXX_MPI_CPPFLAGS"
    AC_CACHE_CHECK([whether $CXX builds programs with this MPI], [ncmpi_cv_cxx_mpi],
        [AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#include <memory>
#if defined(MPICH_VERSION)
#define FLAVOUR_mpich
#elif defined(OMPI_MAJOR_VERSION)
#define FLAVOUR_openmpi
#else
#define FLAVOUR_other
#endif
#ifndef FLAVOUR_$mpi_flavour
#error another MPI
#endif
]], [[auto one = std::make_shared<int>(0); return MPI_Init(one.get(), nullptr);]])],
            [ncmpi_cv_cxx_mpi=yes], [ncmpi_cv_cxx_mpi=no])])
    CPPFLAGS=$ncmpi_saved
    AC_LANG_POP([C++])
    AS_IF([test "$ncmpi_cv_cxx_mpi" = no],
        [have_cxx=no cxx_lacks="$CXX cannot link a program in C++11 with the MPI of $MPICC; see config.log"])
])

# NCMPI_CXX_RUNTIME: determines the libraries that a C program needs to link with C++ code.
AC_DEFUN([NCMPI_CXX_RUNTIME], [
    AC_CACHE_CHECK([for the run-time library of C++], [ncmpi_cv_cxx_runtime], [
        ncmpi_cv_cxx_runtime=unknown
        AC_LANG_PUSH([C++])
        AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#include <stdexcept>
#include <string>
extern "C" int ncmpi_probe(int n)
{
    try {
        throw std::runtime_error(std::string(n, 'x'));
    } catch (const std::exception &e) {
        return e.what()[0];
    }
}
]])], [cp conftest.$ac_objext ncmpi-probe.$ac_objext])
        AC_LANG_POP([C++])
        ncmpi_saved=$LIBS
        for ncmpi_lib in '' -lstdc++ -lc++; do
            LIBS="ncmpi-probe.$ac_objext $ncmpi_lib $ncmpi_saved"
            AC_LINK_IFELSE([AC_LANG_PROGRAM([[int ncmpi_probe(int);]],
                [[return ncmpi_probe(1);]])], [ncmpi_cv_cxx_runtime=$ncmpi_lib; break])
        done
        LIBS=$ncmpi_saved
        rm -f ncmpi-probe.$ac_objext])
    AS_IF([test "$ncmpi_cv_cxx_runtime" = unknown],
        [have_cxx=no cxx_lacks="C programs cannot be linked with what $CXX compiles"])
    AC_SUBST([CXX_RUNTIME], [$ncmpi_cv_cxx_runtime])
])
