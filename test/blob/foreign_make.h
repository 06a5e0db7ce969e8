/* A small dataset in the subfiles of other libraries, made by one process; layout:
 *
 *     whole     one file
 *     e3sm      E3SM-IO's blobs in NAME.0000 ...
 *     master    the same, and a file NAME with the definitions alone
 *     pnetcdf   PnetCDF's subfiles, NAME.subfile_0.nc ..., and its master NAME
 *
 * of the same values, whatever the number of subfiles, up to 6. `wrong`: nothing "";
 * nothing either, but maps of the "land" alone: elements at sea are in none, and process
 * 2 has nothing at all; the same, and of the last map a run is "lost"; or maps that
 * "overlap", leave a "hole", point "outside", begin with a "negative" number; the last
 * subfile of another "run", or without the last of its "records"; PnetCDF's divided along
 * a "second" dimension. 0, or 1 after it printed why not. */
#ifndef FOREIGN_MAKE_H
#define FOREIGN_MAKE_H

int foreign_make(const char *layout, const char *name, int subfiles, const char *wrong);

#endif
