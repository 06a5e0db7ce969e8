# What tells other packages how to use this one.
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = pnetcdf.pc

cmakedir = $(libdir)/cmake/pnetcdf
cmake_DATA = src/packaging/pnetcdf-config.cmake src/packaging/pnetcdf-config-version.cmake
