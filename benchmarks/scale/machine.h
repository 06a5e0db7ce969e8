/* A simulated machine: nodes, each with cores, memory and a network link, and a parallel
 * file system whose servers have stripes and locks. SimGrid runs all simulated processes
 * inside one operating-system process, one at a time, so this code needs no locks. */
#ifndef SCALE_MACHINE_H
#define SCALE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- parameters, each of which is set by a line in the machine's file ---- */

struct machine {
    double nodes;            /* nodes in use; set by `run` */
    double servers;          /* number of object servers */
    double servers_per_node; /* number of servers per node in use; 0 if `servers` is
                              * fixed */
    double stripe_count;     /* number of servers that store a file; 0 for all */
    double server_rate;      /* bytes per second */
    double server_request;   /* seconds of a server's time for each request */
    double request_bytes;    /* maximum size of a request in bytes; larger ones are
                              * split */
    double stripe;           /* stripe size in bytes */
    double lock_transfer;    /* seconds to transfer a stripe's lock to another node */
    double lock_transfer_reading; /* the same if the lock was held for writing and is
                                   * needed for reading */
    double lock_grows;   /* nonzero if servers grant locks on ranges, each as large as
                          * possible (machine_lock.c) */
    double stall_every;  /* mean seconds between stalls of a server; 0 for no stalls */
    double stall_time;   /* duration of a stall in seconds */
    double others;       /* fraction of the servers' time that other jobs use */
    double seed;         /* seed for the times of stalls and of other jobs' requests */
    double file_latency; /* round-trip time in seconds between a node and a server */
    double process_rate; /* file bandwidth of one process in bytes per second; 0 if
                          * unlimited */
    double opens;        /* number of opens per second that the metadata server can
                          * handle */
    double link_rate, link_latency; /* bytes per second of a node's link in each
                                     * direction */
    double network_rate;   /* total bandwidth between all nodes and servers, in bytes per
                            * second; 0 if unlimited */
    double copy_rate;      /* bytes per second that one core copies or converts */
    double node_copy_rate; /* the same for all cores of a node combined */
    double piece_time;     /* seconds per call that copies or finds a piece */
    double wake_time;      /* seconds to wake a sleeping process */
    double message_time;   /* seconds of a core's time per message */
    double compress_rate;  /* bytes of values per second that one core compresses; 0 if
                            * unlimited */
    double expand_rate;    /* the same for decompression */
    double spoil;          /* every n-th write stores a wrong byte; 0 for no errors */
};
const struct machine *machine_get(void);

/* Return the number of servers in use, the number of servers per file, and the maximum
 * rate at which a file can be accessed, in bytes per second. */
int machine_servers(void);
int machine_file_servers(void);
double machine_limit(void);

/* ---- counters ---- */

struct machine_counts {
    int64_t messages, message_bytes;           /* sent between nodes */
    int64_t node_messages, node_message_bytes; /* sent within nodes */
    int64_t reads, read_bytes, writes, written_bytes, lock_transfers, opens, metadata;
    int64_t copied_bytes, waits;
    int64_t window_bytes; /* largest part that a process has in its node's window */
};
/* Returns the counters, which are sums over all processes. */
const struct machine_counts *machine_counts_get(void);

/* ---- time ---- */

double machine_now(void);
void machine_wait_until(double time);

/* Charge this process's core for copying or converting bytes and for handling pieces.
 * Charges are collected; machine_settle spends the time collected so far. */
void machine_work(int64_t bytes, int64_t pieces);
void machine_settle(void);

/* Charges only this process's core, at `rate` bytes per second, without using the node's
 * memory bandwidth. */
void machine_compute(int64_t bytes, double rate);

/* Returns the node on which this process runs. */
int machine_node(void);

/* ---- the file system ---- */

struct store_file;

/* Opens the file with this name, which takes one metadata request. Returns NULL and sets
 * errno on error. */
struct store_file *store_open(const char *path, int flags);
void store_close(struct store_file *f);
/* Sets the number of servers that will store a new file. */
void store_narrow(struct store_file *f, int servers);
/* store_find returns the open file with this inode. store_join registers another user of
 * the file that did not open it itself. */
struct store_file *store_find(dev_t device, ino_t inode);
void store_join(struct store_file *f);
/* Returns whether a file exists, which takes one metadata request. */
void store_look(void);
int store_delete(const char *path);
int64_t store_size(struct store_file *f);
int store_resize(struct store_file *f, int64_t size);
int store_sync(struct store_file *f);

/* Transfer bytes and advance the simulated time. Return the number of bytes moved. On
 * error, return -1 and set errno. */
int64_t store_write(struct store_file *f, int64_t offset, const void *bytes, int64_t n);
int64_t store_read(struct store_file *f, int64_t offset, void *bytes, int64_t n);

#endif
