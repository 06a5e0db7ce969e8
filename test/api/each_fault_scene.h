/* Sets up the dataset that all steps share, and checks its contents. */
#ifndef EACH_FAULT_SCENE_H
#define EACH_FAULT_SCENE_H

#include "each_fault.h"
#include "fault_calls.h"

enum { WIDE_EACH = 600 }; /* elements of `wide` per process */

extern int ncid, wide; /* the current dataset, and a variable in it */
extern int told;       /* code that this process's last put returned */

/* KEPT_BITS is the number of bits that the hint nc_quantize preserves. type_of_variables
 * returns the type of the variables: float if the current hints enable quantization, int
 * otherwise. */
enum { KEPT_BITS = 9 };
nc_type type_of_variables(void);
/* Returns the value that a get must return after a put of value_at(round, place): the
 * quantized value if the current hints enable quantization. */
int value_in(int round, MPI_Offset place);

/* Returns whether all processes succeeded. */
bool all_well(int rc);

/* Creates an info object with the current hints. Uses PMPI functions, into which no
 * faults are injected. */
MPI_Info info_of_hints(void);

int create(void);
int open_to_write(void);
int open_to_read(void);
void close_it(void);

/* Both functions create a dataset with values. ready leaves it in collective data mode;
 * file_there closes it. */
void ready(void);
void file_there(void);

/* put_by puts this process's elements of `fixed` or, for odd variants, appends records to
 * `series`. get_by gets this process's elements of `fixed`. */
int put_by(const struct family *f);
int get_by(const struct family *f);

/* Calls sync, and calls it again if it fails, because the error may come from another
 * process. Returns false if nothing can be read until the dataset is reopened. */
bool sync_until_quiet(void);

/* Check that the dataset has the expected contents, both now (if it is open) and after it
 * is reopened. Use as_it_should_be after a step that leaves the dataset open, given_up
 * after one that closes it, and opened after one that opens it. */
void as_it_should_be(int rc);
void given_up(int rc);
void opened(int rc);

/* ---- each_fault_mixed.c ---- */
enum { SHORT_PIECES, A_LONG_PIECE, NOTHING, A_MISTAKE, ROLES };
int put_mixed(void);
void mixed_is_there(int rc);
void mixed_there(void);
int get_mixed(void);
int put_parts(void);
void parts_are_there(int rc);
void parts_there(void);
int get_parts(void);

/* ---- each_fault_later.c: work that continues after a call ---- */
void put_before(void);
int flush_start(void);
void put_for_later(void);
int close_for_later(void);
void closed_later(int rc);
void left_for_later(void);
int wait_closed(void);
int create_another(void);
void another_is_there(int rc);
void open_staged(void);
int prefetch(void);

#endif
