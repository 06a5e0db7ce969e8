/* Makes system calls on chosen files fail in the process that asks for it. Linked into a
 * test, or preloaded into any program with the plan in NCMPI_FAULT. */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

/* A plan is OP:WHEN:WHAT:PATTERN[:RANK].
 *   OP       open, read, write, sync, truncate or allocate, with all their variants
 *   WHEN     N, the Nth such call from now only, or N+, that one and all later ones
 *   WHAT     a number for errno to be, or one of ENOSPC, EIO, EACCES, EROFS, EDQUOT,
 *            EMFILE; or "short": half of the bytes, one at least, are transferred; or
 *            "wrong": the first byte that read or pread got has a bit turned
 *   PATTERN  of the file's whole path, as in the shell; * also stands for slashes
 *   RANK     only in the process of this rank (as the launcher tells it)
 * Replaces the plan before it. False if it cannot be understood. */
bool fault_arm(const char *plan);

/* No more faults. Returns how many there were since fault_arm. */
int fault_disarm(void);

#endif
