/* Makes system calls on selected files fail in the calling process, and also MPI calls if
 * fault_mpi.c is linked. Can be linked into a test or preloaded into any program. When it
 * is preloaded, NCMPI_FAULT contains the plan. */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* Sets the plan OP:WHEN:WHAT:PATTERN[:RANK], replacing any previous plan. Returns false
 * if the plan is invalid.
 *
 * OP is open, read, write, sync, truncate, allocate, map, unlink, rename, close or lock
 * (on an open file), and stands for all variants of the call. If fault_socket.c is
 * linked, OP may also be socket, bind, listen, connect, accept, name (getsockname),
 * option (getsockopt, setsockopt), send, recv, poll, pipe or thread; then only calls by
 * the library fail. An OP that begins with MPI_ is a pattern that selects MPI functions.
 *
 * WHEN is N to make only the Nth such call from now fail, or N+ to make that call and all
 * later ones fail.
 *
 * WHAT is an errno, either as a number or as one of ENOSPC, EIO, EACCES, EROFS, EDQUOT,
 * EMFILE, ENOMEM, EINTR, ENOLCK, EAGAIN, ECONNRESET and ENOTCONN; or one of the following
 * words. "short" transfers half of the bytes, but at least one. "part" requires N+: the
 * first call transfers a quarter of the bytes, and all later calls fail with EIO, as if
 * the device had failed. "pages" is the same in whole pages. "wrong" flips a bit in the
 * first byte that read or pread returns.
 *
 * PATTERN is a shell pattern for the file's whole path, in which * also matches slashes.
 * It is empty for calls that do not involve a file.
 *
 * RANK restricts the plan to the process to which the launcher assigned this rank. */
bool fault_arm(const char *plan);

/* Clears the plan. Returns how many faults have occurred since fault_arm. */
int fault_disarm(void);

/* Returns the name of the last call that was made to fail. Returns "" if no call has been
 * made to fail since fault_arm. */
const char *fault_met(void);

/* For other interposed functions. Returns whether the call must fail, and sets errno if
 * so. */
bool fault_meets(const char *op, const char *path);

/* Same as fault_meets, but for transfers. A short transfer reduces *length and is not a
 * failure. */
bool fault_cuts(const char *op, const char *path, size_t *length);

#endif
