# NCMPI_CONV: determines how to compile the loops of src/lib/conv. CONV_CFLAGS requests
# vectorization where -O2 alone does not. CONV_AVX2 means that the loops can also be compiled for
# AVX2 and selected at run time.
AC_DEFUN([NCMPI_CONV], [
    ncmpi_saved=$CFLAGS
    CONV_CFLAGS="-ftree-vectorize -fvect-cost-model=dynamic"
    CFLAGS="$CFLAGS $CONV_CFLAGS -Werror"
    AC_CACHE_CHECK([whether $CC takes $CONV_CFLAGS], [ncmpi_cv_conv_cflags],
        [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([])],
            [ncmpi_cv_conv_cflags=yes], [ncmpi_cv_conv_cflags=no])])
    AS_IF([test "$ncmpi_cv_conv_cflags" = no], [CONV_CFLAGS=])
    AC_SUBST([CONV_CFLAGS])

    CFLAGS="$ncmpi_saved -mavx2"
    AC_CACHE_CHECK([whether $CC can build for AVX2 and ask for it], [ncmpi_cv_conv_avx2],
        [AC_LINK_IFELSE([AC_LANG_PROGRAM([], [[return __builtin_cpu_supports("avx2");]])],
            [ncmpi_cv_conv_avx2=yes], [ncmpi_cv_conv_avx2=no])])
    CFLAGS=$ncmpi_saved
    AS_IF([test "$ncmpi_cv_conv_avx2" = yes],
        [AC_DEFINE([CONV_AVX2], [1], [Define if conversions are also built for AVX2.])])
    AM_CONDITIONAL([CONV_AVX2], [test "$ncmpi_cv_conv_avx2" = yes])
])
