/* Copies that are made behind who reads: in the background where there can be a thread.
 */
#ifndef STAGE_COPY_H
#define STAGE_COPY_H

#include "stage.h"

/* Memory of a block. It is free when nobody has it: who looks at it, or the queue. */
struct stage_buffer {
    struct stage_buffer *next; /* in the queue */
    unsigned char *bytes;
    struct stage_claim claim;
    int uses;
};

/* Before any of the others; no memory: they do without. */
void stage_copy_begin(struct stage *s);

/* A buffer for the caller, who gives it back. NULL: none is free, or there is no thread.
 */
struct stage_buffer *stage_copy_take(struct stage *s);
void stage_copy_give_back(struct stage *s, struct stage_buffer *b);

/* It has the bytes of a block that was claimed: they are copied and the claim is finished
 * behind. False: the caller does both. */
bool stage_copy_add(struct stage *s, struct stage_buffer *b, const struct stage_claim *c);

/* The one that has a block which is still to be copied, if that is what the file has now,
 * for the caller as by stage_copy_take; NULL: none. */
struct stage_buffer *stage_copy_find(struct stage *s, int64_t block);

/* Until all that was to be copied is. */
void stage_copy_wait(struct stage *s);

/* Ends it, when all is. */
void stage_copy_stop(struct stage *s);

/* The copy itself. One that fails leaves the block where it is; a device that is full
 * keeps what it has. */
bool stage_copy_now(struct stage *s, const struct stage_claim *c,
                    const unsigned char *bytes);

#endif
