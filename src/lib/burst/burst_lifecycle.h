/* The log of a dataset, from its creation to its removal. */
#ifndef BURST_LIFECYCLE_H
#define BURST_LIFECYCLE_H

#include "node.h"

struct burst;

struct burst_logging {
    bool made;   /* all processes have a log */
    bool active; /* puts are logged; if false, they go directly to the file */
    bool fresh;  /* the log is empty, even on the device: it may be reused */
    bool shared; /* the processes of a node share one log */
    struct node_memory memory; /* counters of a shared log */
    uint64_t token;            /* the same in all logs of this opening */
    uint64_t birth;            /* what burst_file_birth returned on process 0 */
    int64_t unlogged;          /* number of posted puts without a ticket */
    _Atomic bool putting;      /* this process is inside a put */
};

/* Creates the log and starts logging. If any process fails to create its log, all puts go
 * directly to the file. Collective. NC_EMPI. */
int burst_start_all(struct burst *b);
/* Resumes logging with the current definitions, before anything is logged after redef.
 * Local. */
void burst_resume(struct burst *b);
/* Closes the log, and removes it unless `retain`. Collective. */
void burst_end_all(struct burst *b, bool retain);
/* Writes the number of records to the file, after all values. Collective; agreed. */
int burst_write_records_all(struct burst *b);
/* Empties the log after everything has been written to the file. Collective; agreed. */
int burst_restart_all(struct burst *b);

#endif
