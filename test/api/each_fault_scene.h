/* What the steps have in common: the dataset, and what must be in it. */
#ifndef EACH_FAULT_SCENE_H
#define EACH_FAULT_SCENE_H

#include "each_fault.h"
#include "fault_calls.h"

enum { WIDE_EACH = 600 }; /* elements of wide for each process */

extern int ncid, wide; /* the dataset at hand, a variable of it */
extern int told;       /* what this process was told of its put */

/* Of variables that are quantized, if the hints at hand say so. */
enum { KEPT_BITS = 9 };
nc_type type_of_variables(void);
/* value_at as it comes back. */
int value_in(int round, MPI_Offset place);

/* Did all processes succeed? */
bool all_well(int rc);

/* The hints at hand, made by functions of MPI that fail for nobody. */
MPI_Info info_of_hints(void);

int create(void);
int open_to_write(void);
int open_to_read(void);
void close_it(void);

/* A dataset with values, in collective data mode; closed. */
void ready(void);
void file_there(void);

/* This process's elements of fixed, or of new records, as the variant says. */
int put_by(const struct family *f);
int get_by(const struct family *f);

/* All that is known to be in the dataset is, now and when it is opened again: behind
 * steps that leave it open, that leave it closed, and that open it. */
bool calm_down(void);
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

/* ---- each_fault_later.c: what goes on behind a call ---- */
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
