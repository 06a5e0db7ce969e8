/* One process makes a mistake in a collective call, the others do not. */
#ifndef ONE_BAD_H
#define ONE_BAD_H

#include <mpi.h>
#include <stdbool.h>

#include "api_calls.h"
#include "cases.h"
#include "check.h"

enum { N = 6, MOST = 16 }; /* elements of a process; processes */

/* What there is in every dataset. */
enum { T, X };
enum { FIXED, RECORD, TEXT, OTHER_TEXT, WIDE };

/* Modes that a dataset can be in. */
enum mode {
    FRESH = 1,
    REDEF = 2,
    TOGETHER = 4,
    INDEP = 8,
    READING = 16,
    CLOSED = 32,
    MODES = 6, /* so many */
    DEFINING = FRESH | REDEF,
    DATA = TOGETHER | INDEP
};

/* Where a call is made: by all processes, or by one alone on a dataset of its own that
 * has the same in it. */
extern struct scene {
    int ncid;
    MPI_Comm comm;
    enum mode mode;
    char prefix[24]; /* of the names of its files */
} scene;

extern const char *way; /* hints of the dataset */

/* Calls are made by all processes from now on, or by each for itself. */
void use_world(void);
void use_own(void);

/* The path of a file of those who call. */
const char *path_of(const char *name);
MPI_Info info_of_way(void);

/* Variables of N elements for each process that a test looks at; all of one of them, put
 * and got by all together. */
enum { PLAIN = 4, PLACES = N * MOST };
extern const int plain[PLAIN];
int put_whole(int varid, const int *values);
int get_whole(int varid, int *values);

/* A new file with all definitions, in define mode; the values of round 1. */
void create_file(const char *name);
void define_all_variables(void);
void put_first_values(void);

/* The dataset with its values, in a mode. */
void set_up(enum mode mode);

/* Complains if processes got different codes of a call. */
void same_code(int rc, const char *call);

/* It can be used, has the right values and definitions, and when it was closed, too. */
void as_it_should_be(void);

/* The codes of all processes; is that one of those that tell of different arguments? */
void all_codes(int rc, int *codes);
bool differs_code(int rc);

/* A collective function. Call 0 is a good one in these modes, 1 to `mistakes` are not. */
struct bad_call {
    const char *function;
    int mistakes;
    unsigned modes;
    int (*call)(int mistake);
};
extern const struct bad_call bad_calls[];

/* Mistakes in the arguments of data functions, from 1 on; 0 is none. */
enum { DATA_MISTAKES = 46 };
const char *data_mistake_name(int mistake);

/* Is there anything that the function could take for this mistake? */
bool data_mistake_fits(const struct calls_row *row, int mistake);

/* Calls a data function. A put gives the elements of this process their values of a
 * round; a get fills `back`, ints, if it succeeds. */
int data_call(const struct calls_row *row, int mistake, int round, int *back);

/* The same number on all processes for a place of a variable. */
int one_bad_value(int round, MPI_Offset place);

/* Which elements of the variables a process accesses. */
void data_extent(const struct calls_row *row, int rank, MPI_Offset *start,
                 MPI_Offset *count);

#endif
