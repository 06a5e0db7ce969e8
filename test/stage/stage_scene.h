/* What the tests of staging read: one dataset, written by some processes, read by all. */
#ifndef STAGE_SCENE_H
#define STAGE_SCENE_H

#include <mpi.h>
#include <stdbool.h>

enum { X = 64, Y = 130, RECORDS = 9, BLOCK = 4096 };

/* What is in the file a.nc: a fixed variable, and two of records. */
extern int grid[X][Y];
extern double line[RECORDS][Y];
extern signed char small[RECORDS][X];

/* So many processes write (0: all) so many subfiles; 0: process 0 writes one file. The
 * variable small is in the dataset's own file in any case. */
extern int subfiles, writers;

/* The library believes that it is later, by so many seconds, so that files seem to be
 * old.
 */
extern long later;

MPI_Info hints(const char *more);
void fill_model(void);
void write_model(void);
/* Both. */
void start(void);
int open_staged(const char *more);

/* This process's, and of all. */
long long statistic(int ncid, const char *name);
long long of_all(int ncid, const char *name);

/* Random parts; all; many of these; and all without a byte from the file. */
void get_grid(int ncid);
void get_line(int ncid);
void get_small(int ncid);
void get_all(int ncid);
void get_some(int ncid);
void get_without_the_file(int ncid);

/* Another program, as far as the readers can see: it puts anew, or makes the file anew
 * where there are no subfiles, which readers would keep open. */
void change_some(void);

/* Turns of a writer and readers who say when they expect something new: by sync, by a
 * change of mode, or by opening the file, which may have been made anew meanwhile. So
 * many of them, or as many as the environment asks for. */
void take_turns(int rounds, bool anew);

#endif
