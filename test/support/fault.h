/* Makes system calls on chosen files fail in the process that asks for it, and calls of
 * MPI if fault_mpi.c is linked too. Linked into a test, or preloaded into any program
 * with the plan in NCMPI_FAULT. */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* A plan is OP:WHEN:WHAT:PATTERN[:RANK].
 *
 * OP: open, read, write, sync, truncate, allocate, map, unlink, rename, close or lock (of
 * an open file), with all their variants; with fault_socket.c, and for calls of the
 * library alone, socket, bind, listen, connect, accept, name (getsockname), option
 * (getsockopt, setsockopt), send, recv, poll, pipe and thread; or the names of MPI
 * functions, as a pattern that begins with MPI_.
 *
 * WHEN: N, the Nth such call from now only, or N+, that one and all later ones.
 *
 * WHAT: a number for errno to be, or one of ENOSPC, EIO, EACCES, EROFS, EDQUOT, EMFILE,
 * ENOMEM, EINTR, ENOLCK, EAGAIN, ECONNRESET; or "short": half of the bytes, one at least,
 * are transferred; or "part", with N+: a quarter is, then all fail with EIO, as when a
 * device goes; or "wrong": the first byte that read or pread got has a bit turned.
 *
 * PATTERN: of the file's whole path, as in the shell; * also stands for slashes. Calls
 * that concern no file have an empty one.
 *
 * RANK: only in the process of this rank (as the launcher tells it).
 *
 * Replaces the plan before it. False if it cannot be understood. */
bool fault_arm(const char *plan);

/* No more faults. Returns how many there were since fault_arm. */
int fault_disarm(void);

/* What the call that failed last is called; "" if none has since fault_arm. */
const char *fault_met(void);

/* For what stands before other functions: is this call to fail? errno is then set. */
bool fault_meets(const char *op, const char *path);

/* The same; a short transfer is no failure, but takes bytes off *length. */
bool fault_cuts(const char *op, const char *path, size_t *length);

#endif
