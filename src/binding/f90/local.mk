# module pnetcdf, for Fortran 90 and later.
