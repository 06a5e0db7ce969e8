/* Safe mode: are the arguments of a collective call the same everywhere? */
#ifndef API_SAFE_H
#define API_SAFE_H

#include "api_dataset.h"

enum { API_ARGS = 6, API_ARG_TEXT = 72 };

/* A call's arguments, as far as they must be the same: each with its name, the code that
 * a mismatch gives, a text for people and a hash of the whole value. */
struct api_args {
    uint64_t hash; /* of everything below */
    char function[32];
    int n;
    struct api_arg {
        char name[16];
        int code;
        uint64_t hash;
        char text[API_ARG_TEXT];
    } list[API_ARGS];
};

/* Starts the list of a call, and adds an argument to it. */
void api_args_start(struct api_args *a, const char *function);
void api_arg_number(struct api_args *a, const char *name, int code, int64_t value);
void api_arg_text(struct api_args *a, const char *name, int code, const char *value);
void api_arg_bytes(struct api_args *a, const char *name, int code, const void *bytes,
                   int64_t size);

/* Collective. NC_NOERR, or what the first mismatch gives, on every process, with words
 * that name the argument, the process and both values. */
int api_args_agree_all(struct dataset *ds, struct api_args *a);

/* In safe mode, what one process alone has met in a definition, as no memory, on all: one
 * that makes no further ones leaves nobody waiting. Its own err elsewhere. Collective. */
int api_tell_all(struct api_dataset *d, int err);

/* In safe mode: do all processes make this very call? NC_NOERR outside of it. */
int api_agree_call_all(struct api_dataset *d, const char *function);
static inline int api_same_call_all(struct api_dataset *d, const char *function)
{
    return d->ds.safe_mode ? api_agree_call_all(d, function) : NC_NOERR;
}

/* The words and the code of the first process that has a code, on all. Each of n values
 * (n < DATASET_AGREE_MAX) becomes the largest of all processes. Agreed. */
int api_share_report_all(struct dataset *ds, int code, char *text, int size,
                         int64_t *values, int n);

#endif
