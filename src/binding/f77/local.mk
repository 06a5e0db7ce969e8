# nfmpi_*, for Fortran 77 and later.
