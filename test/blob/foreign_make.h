/* Creates, on one process, a small dataset in one of the subfile layouts that other
 * libraries use. The values are the same in all layouts. The number of subfiles may be up
 * to 6. Layouts:
 *
 *     whole     a single file
 *     e3sm      E3SM-IO's blobs in NAME.0000 ...
 *     master    the same, and a file NAME with only the definitions
 *     pnetcdf   PnetCDF's subfiles, NAME.subfile_0.nc ..., and its master file NAME
 *
 * `wrong` selects a variant. "" and "land" are valid: in "land", the maps contain only
 * land points, and process 2 has no elements. All others are invalid: "lost" is "land"
 * with a run missing from the last map; "overlap", "hole", "outside" and "negative"
 * describe an error in a map; in "run", the last subfile comes from a different run of
 * the program; in "records", the last subfile lacks a record; in "second", PnetCDF's
 * subfiles are divided along the second dimension. Returns 0, or prints a message and
 * returns 1. */
#ifndef FOREIGN_MAKE_H
#define FOREIGN_MAKE_H

int foreign_make(const char *layout, const char *name, int subfiles, const char *wrong);

#endif
