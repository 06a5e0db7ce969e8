/* Safe mode: checks that all processes pass the same arguments to a collective call. */
#ifndef API_SAFE_H
#define API_SAFE_H

#include "api_dataset.h"

enum { API_ARGS = 6, API_ARG_TEXT = 72 };

/* Arguments that must be the same on all processes. Each has a name, an error code for
 * mismatches, text for the message, and a hash of its whole value. */
struct api_args {
    uint64_t hash; /* hash of all members below */
    char function[32];
    int n;
    struct api_arg {
        char name[16];
        int code;
        uint64_t hash;
        char text[API_ARG_TEXT];
    } list[API_ARGS];
};

/* Start the argument list for a call, and add arguments to it. */
void api_args_start(struct api_args *a, const char *function);
void api_arg_number(struct api_args *a, const char *name, int code, int64_t value);
void api_arg_text(struct api_args *a, const char *name, int code, const char *value);
void api_arg_bytes(struct api_args *a, const char *name, int code, const void *bytes,
                   int64_t size);

/* Checks that all processes have the same list. If so, returns NC_NOERR. Otherwise every
 * process returns the code of the first mismatch, with a message that names the argument,
 * the process and both values. Collective. */
int api_args_agree_all(struct dataset *ds, struct api_args *a);

/* In safe mode, distributes an error that only one process has detected in a definition,
 * such as lack of memory. Without this, that process would make no further calls and the
 * others would wait for it. Outside of safe mode returns err. Collective in safe mode. */
int api_agree_if_safe_all(struct api_dataset *d, int err);

/* In safe mode, checks that all processes make the same call. Outside of safe mode,
 * returns NC_NOERR. */
int api_agree_call_all(struct api_dataset *d, const char *function);
static inline int api_same_call_all(struct api_dataset *d, const char *function)
{
    return d->ds.safe_mode ? api_agree_call_all(d, function) : NC_NOERR;
}

/* Distributes the code and message of the first process that has an error, and sets the n
 * values (n < DATASET_AGREE_MAX) to their maxima. Same result on all processes. */
int api_share_report_all(struct dataset *ds, int code, char *text, int size,
                         int64_t *values, int n);

#endif
