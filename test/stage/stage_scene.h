/* The dataset for the staging tests. Some processes write it, and all processes read
 * it. */
#ifndef STAGE_SCENE_H
#define STAGE_SCENE_H

#include <mpi.h>
#include <stdbool.h>

enum { X = 64, Y = 130, RECORDS = 9, BLOCK = 4096 };

/* The values in a.nc: a fixed-size variable and two record variables. */
extern int grid[X][Y];
extern double line[RECORDS][Y];
extern signed char small[RECORDS][X];

/* `subfiles` is the number of subfiles, or 0 if process 0 writes a single file. `writers`
 * is the number of processes that write the subfiles, or 0 if all do. The variable
 * `small` is always in the dataset's own file. */
extern int subfiles, writers;

/* Number of seconds added to the current time, to make files seem old. */
extern long later;

MPI_Info hints(const char *more);
void fill_model(void);
void write_model(void);
/* Fills the model and writes it. */
void start(void);
int open_staged(const char *more);

/* Return the value of a counter on this process, and its sum over all processes. */
long long statistic(int ncid, const char *name);
long long of_all(int ncid, const char *name);

/* get_grid, get_line and get_small each get a random part of one variable. get_all gets
 * all values of two variables, and get_some many random parts. get_without_the_file gets
 * everything, and checks that no byte is read from the file. All functions compare the
 * values with the model. */
void get_grid(int ncid);
void get_line(int ncid);
void get_small(int ncid);
void get_all(int ncid);
void get_some(int ncid);
void get_without_the_file(int ncid);

/* Changes the file as another program would: either puts values, or creates the file
 * again. Creates it again only if there are no subfiles, because readers would keep the
 * old subfiles open. */
void change_some(void);

/* Lets a writer and readers take turns. Readers must see new values after a sync, after a
 * mode change, and after reopening the file, which the writer may have created again (if
 * `anew` is set). Takes `rounds` turns, or NCMPI_STAGE_ROUNDS if that is set. */
void take_turns(int rounds, bool anew);

#endif
