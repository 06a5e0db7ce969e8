/* A simulated machine: nodes with cores, memory and a link each, and a parallel file
 * system of servers with stripes and locks. SimGrid runs the processes; all of them live
 * in one process of the system, one at a time, so that nothing here needs a lock of its
 * own. */
#ifndef SCALE_MACHINE_H
#define SCALE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- parameters: one line each in a machine's file ---- */

struct machine {
    double nodes;                 /* in use; set by `run` */
    double servers;               /* of objects */
    double servers_per_node;      /* if not 0, there are so many for each node in use */
    double stripe_count;          /* servers that a file is on; 0: all */
    double server_rate;           /* bytes a second */
    double server_request;        /* seconds of its time a request takes besides */
    double request_bytes;         /* a larger one is sent in parts */
    double stripe;                /* bytes */
    double lock_transfer;         /* seconds until another node has a stripe's lock */
    double lock_transfer_reading; /* the same, of one that has been written, to read it */
    double lock_grows;            /* not 0: ranges, as large as can be: machine_lock.c */
    double stall_every;  /* seconds between a server's stalls, in the mean; 0: none */
    double stall_time;   /* seconds that each takes */
    double others;       /* part of the servers' time that other jobs take */
    double seed;         /* of when servers stall and others come */
    double file_latency; /* seconds from a node to a server and back */
    double process_rate; /* bytes a second of file traffic of one process; 0: any */
    double opens;        /* that the metadata server passes in a second */
    double link_rate, link_latency; /* of a node, each way */
    double network_rate;   /* bytes a second between all nodes and servers; 0: any */
    double copy_rate;      /* bytes a second that one core copies or converts */
    double node_copy_rate; /* all cores of a node together */
    double piece_time;     /* seconds for each call that moves or finds a piece */
    double wake_time;      /* seconds until a process that sleeps is awake */
    double message_time;   /* seconds of a core for each message */
    double compress_rate;  /* bytes of values a second that one core compresses; 0: any */
    double expand_rate;    /* the same of expanding them */
    double spoil;          /* not 0: each so-manyth write puts a wrong byte */
};
const struct machine *machine_get(void);

/* Servers in use, and those that a file is on; the bytes a second that this machine can
 * move to or from a file. */
int machine_servers(void);
int machine_file_servers(void);
double machine_limit(void);

/* ---- what happened ---- */

struct machine_counts {
    int64_t messages, message_bytes;           /* between nodes */
    int64_t node_messages, node_message_bytes; /* within nodes */
    int64_t reads, read_bytes, writes, written_bytes, lock_transfers, opens, metadata;
    int64_t copied_bytes, waits;
    int64_t window_bytes; /* largest of a process: its share in its node's windows */
};
/* Of all processes together, so far. */
const struct machine_counts *machine_counts_get(void);

/* ---- time ---- */

double machine_now(void);
void machine_wait_until(double time);

/* Work of this process's core: bytes to copy or convert, and pieces to see to. It is
 * charged in lots. machine_settle charges what is left. */
void machine_work(int64_t bytes, int64_t pieces);
void machine_settle(void);

/* Work of this process's core alone, at so many bytes a second. */
void machine_compute(int64_t bytes, double rate);

/* Which node this process is on. */
int machine_node(void);

/* ---- the file system ---- */

struct store_file;

/* The file of that name, and its bytes; NULL with errno set. One metadata request. */
struct store_file *store_open(const char *path, int flags);
void store_close(struct store_file *f);
/* A file that is new is on so many servers. */
void store_narrow(struct store_file *f, int servers);
/* The open file with that inode, and another user of it who has not opened it. */
struct store_file *store_find(dev_t device, ino_t inode);
void store_join(struct store_file *f);
/* Somebody looks whether a file is there. One metadata request. */
void store_look(void);
int store_delete(const char *path);
int64_t store_size(struct store_file *f);
int store_resize(struct store_file *f, int64_t size);
int store_sync(struct store_file *f);

/* Takes the simulated time as well; -1 with errno set, else what was moved. */
int64_t store_write(struct store_file *f, int64_t offset, const void *bytes, int64_t n);
int64_t store_read(struct store_file *f, int64_t offset, void *bytes, int64_t n);

#endif
