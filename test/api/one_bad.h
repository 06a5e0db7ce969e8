/* The datasets, calls and checks used by one_bad.c, in which one process makes a mistake
 * in a collective call. */
#ifndef ONE_BAD_H
#define ONE_BAD_H

#include <mpi.h>
#include <stdbool.h>

#include "api_calls.h"
#include "cases.h"
#include "check.h"

enum { N = 6, MOST = 16 }; /* elements per process; maximum number of processes */

/* Ids of the dimensions and variables that every dataset has. */
enum { T, X };
enum { FIXED, RECORD, TEXT, OTHER_TEXT, WIDE };

/* Modes in which a dataset can be. */
enum mode {
    FRESH = 1,
    REDEF = 2,
    TOGETHER = 4,
    INDEP = 8,
    READING = 16,
    CLOSED = 32,
    MODES = 6, /* number of modes */
    DEFINING = FRESH | REDEF,
    DATA = TOGETHER | INDEP
};

/* The dataset on which calls operate. It is either the common dataset or this process's
 * own, which has the same contents. */
extern struct scene {
    int ncid;
    MPI_Comm comm;
    enum mode mode;
    char prefix[24]; /* prefix of the dataset's file names */
} scene;

extern const char *way; /* the current hints */

/* Select the dataset on which later calls operate: the common one (use_world), or this
 * process's own (use_own). */
void use_world(void);
void use_own(void);

/* path_of returns the path of a file, with the selected dataset's prefix. info_of_way
 * returns an info object with the current hints. */
const char *path_of(const char *name);
MPI_Info info_of_way(void);

/* The variables that are checked, each with N elements per process, and functions that
 * put or get one of them as a whole. Collective. */
enum { PLAIN = 4, PLACES = N * MOST };
extern const int plain[PLAIN];
int put_whole(int varid, const int *values);
int get_whole(int varid, int *values);

/* create_file creates a file with all definitions and leaves the dataset in define mode.
 * define_all_variables adds the definitions. put_first_values puts the values of round
 * 1. */
void create_file(const char *name);
void define_all_variables(void);
void put_first_values(void);

/* Creates the dataset with its initial values and puts it into the given mode. */
void set_up(enum mode mode);

/* Fails the test if the call returned different codes on the processes. */
void same_code(int rc, const char *call);

/* Checks that the dataset is usable and has the right values and definitions, both now
 * and after it is reopened. */
void as_it_should_be(void);

/* all_codes gathers the codes that all processes got. differs_code returns whether a code
 * means that arguments differ between processes. */
void all_codes(int rc, int *codes);
bool differs_code(int rc);

/* A collective function, and the ways in which the tests call it. Call 0 is valid in the
 * given modes; calls 1 to `mistakes` are invalid. */
struct bad_call {
    const char *function;
    int mistakes;
    unsigned modes;
    int (*call)(int mistake);
};
extern const struct bad_call bad_calls[];

/* Mistakes in calls of data functions are numbered from 1; each is one invalid argument.
 * Mistake 0 means that all arguments are valid. */
enum { DATA_MISTAKES = 46 };
const char *data_mistake_name(int mistake);

/* Returns whether the mistake applies to the function, that is, whether the function has
 * the argument. */
bool data_mistake_fits(const struct calls_row *row, int mistake);

/* Calls a data function. A put writes the values of a round to this process's elements. A
 * get that succeeds stores its values in `back`, converted to int. */
int data_call(const struct calls_row *row, int mistake, int round, int *back);

/* Returns the value that an element has in a round. All processes get the same result. */
int one_bad_value(int round, MPI_Offset place);

/* Computes the start and count of the part of a variable that process `rank` accesses. */
void data_extent(const struct calls_row *row, int rank, MPI_Offset *start,
                 MPI_Offset *count);

#endif
