/* What a fuzz target shows to libFuzzer and to replay.c. */
#ifndef CDF_FUZZ_H
#define CDF_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* One input of any bytes; aborts if something does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The folder of test/fuzz with its inputs. */
extern const char fuzz_corpus[];

#endif
