/* The owner of a piece of work on a dataset: the process that moves its data, joins it or
 * replays a log onto it, as that process writes itself down for others to find. Where the
 * file system has locks that nodes share, a lock decides whether the owner lives; this
 * tells who it is, and decides where there are none. */
#ifndef BASE_OWNER_H
#define BASE_OWNER_H

#include <stdbool.h>
#include <stdint.h>

enum { BASE_OWNER_BYTES = 128 };

struct base_owner {
    char host[64];    /* its name, cut off if longer; ends with 0 */
    uint64_t boot;    /* of the host, hashed; 0: unknown */
    uint64_t started; /* the process, in the kernel's ticks after boot; 0: unknown */
    int64_t pid;
    int64_t since; /* when the work began, in seconds of 1970 */
    uint64_t nonce;
};

enum base_alive {
    BASE_ALIVE,
    BASE_DEAD,
    BASE_ELSEWHERE /* it ran on another host: nothing here can tell */
};

/* Which start of the machine this is: the same text in every container on it. False: it
 * cannot be told. */
bool base_boot(char text[64]);

/* This process, now, with a nonce that no other record has. */
void base_owner_set(struct base_owner *o);

/* Between a record and its BASE_OWNER_BYTES bytes; any bytes decode to a record. */
void base_owner_encode(const struct base_owner *o, unsigned char *bytes);
void base_owner_decode(struct base_owner *o, const unsigned char *bytes);

/* Does the process still run? A stopped one does. */
enum base_alive base_owner_alive(const struct base_owner *o);

/* Is it this process, whichever of its records? */
bool base_owner_is_me(const struct base_owner *o);

/* "process 4711 on host n12 since 2026-11-24 05:06:07 UTC", in text, which is returned.
 */
const char *base_owner_words(const struct base_owner *o, char text[160]);

#endif
