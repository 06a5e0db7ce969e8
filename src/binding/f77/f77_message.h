/* Error messages for Fortran, translated from the messages of ncmpi_strerror. */
#ifndef F77_MESSAGE_H
#define F77_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

/* The names that a Fortran interface uses. */
struct f77_names {
    const char *constants; /* prefix of constants, instead of NC_ */
    const char *functions; /* prefix of functions, instead of ncmpi */
    bool generic;          /* one function for all types, as in module pnetcdf */
};

#pragma GCC visibility push(hidden)

extern const struct f77_names f77_names_nfmpi, f77_names_nf90mpi;

/* Translates a message and fills `text` with it and trailing blanks. If the message does
 * not fit, removes the directories of absolute paths; if it still does not fit, truncates
 * it. Returns whether the whole message fits. */
bool f77_message(char *text, size_t size, const char *message,
                 const struct f77_names *names);

#pragma GCC visibility pop

#endif
