/* Identifies a file that one process has open, so that other processes can recognize it
 * when they open it by name. */
#ifndef UTIL_IDENTITY_H
#define UTIL_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/* Contains no pointers, so it can be sent as plain bytes. */
struct util_identity {
    int64_t device, inode; /* inode is 0 if the file is unknown */
    char boot[64];         /* boot id of the host on which the device number is valid */
};

/* Returns the identity of an open file. */
struct util_identity util_identity_of(int fd);

/* Returns whether fd refers to the identified file. On another host it compares only
 * inode numbers, or nothing if each host assigns its own inode numbers. */
bool util_identity_is(const struct util_identity *id, int fd);

#endif
