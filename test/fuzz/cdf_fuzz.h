/* The interface of a fuzz target to libFuzzer and replay.c. */
#ifndef CDF_FUZZ_H
#define CDF_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Tests one input. Aborts if a check fails. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Name of the directory below test/fuzz that contains the target's corpus. */
extern const char fuzz_corpus[];

#endif
