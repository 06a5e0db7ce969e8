/* The owner of an operation on a dataset: the process that moves its data, joins it or
 * replays a log onto it. It is recorded for other processes. If the file system's locks
 * work across nodes, a lock indicates whether the owner is alive, and the record only
 * identifies the owner. Without such locks, the record serves both purposes. */
#ifndef BASE_OWNER_H
#define BASE_OWNER_H

#include <stdbool.h>
#include <stdint.h>

enum { BASE_OWNER_BYTES = 128 };

struct base_owner {
    char host[64];    /* name, truncated if longer; NUL-terminated */
    uint64_t boot;    /* hash of the host's boot id; 0 if unknown */
    uint64_t started; /* start of the process, in clock ticks after boot; 0 if unknown */
    int64_t pid;
    int64_t since; /* start of the work, in seconds since 1970 */
    uint64_t nonce;
};

enum base_alive {
    BASE_ALIVE,
    BASE_DEAD,
    BASE_ELSEWHERE /* unknown, because the process is on another host */
};

/* Returns the boot id of the machine, which is the same in every container. Returns false
 * if unknown. */
bool base_boot(char text[64]);

/* Sets the record to this process and the current time, with a unique nonce. */
void base_owner_set(struct base_owner *o);

/* Returns a nonzero number that no other call, on any process, returns. */
uint64_t base_owner_new_nonce(void);

/* Convert between a record and its encoding in BASE_OWNER_BYTES bytes. Decoding accepts
 * any bytes. */
void base_owner_encode(const struct base_owner *o, unsigned char *bytes);
void base_owner_decode(struct base_owner *o, const unsigned char *bytes);

/* Determines whether the process exists. A stopped process still exists. */
enum base_alive base_owner_alive(const struct base_owner *o);

/* Returns whether the record describes this process. Ignores the nonce. */
bool base_owner_is_self(const struct base_owner *o);

/* Formats the record in `text`: "process 4711 on host n12 since 2026-11-24 05:06:07
 * UTC". */
const char *base_owner_describe(const struct base_owner *o, char text[160]);

#endif
