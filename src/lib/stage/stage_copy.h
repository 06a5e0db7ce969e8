/* Stores fetched blocks in the staged file after the read, in a background thread if one
 * can be started. Readers acquire a buffer, fetch a block into it, and queue it. */
#ifndef STAGE_COPY_H
#define STAGE_COPY_H

#include "stage.h"

/* Memory for a block. It is free when neither a reader nor the queue is using it. */
struct stage_buffer {
    struct stage_buffer *next; /* next buffer in the queue */
    unsigned char *bytes;
    struct stage_claim claim;
    int uses;
};

/* Initializes the queue. Must be called before the functions below. If there is no memory
 * for the queue, readers store blocks themselves. */
void stage_copy_begin(struct stage *s);

/* Returns a buffer, which the caller must release; NULL if none is free or no thread
 * runs. */
struct stage_buffer *stage_copy_get_buffer(struct stage *s);
void stage_copy_release_buffer(struct stage *s, struct stage_buffer *b);

/* Queues a buffer that contains a claimed block; the thread stores the block and finishes
 * the claim. Returns false if the caller must do both itself. */
bool stage_copy_add(struct stage *s, struct stage_buffer *b, const struct stage_claim *c);

/* Returns a block's queued buffer, or NULL if it is not queued or no longer valid. The
 * caller must release the buffer. */
struct stage_buffer *stage_copy_find(struct stage *s, int64_t block);

/* Waits until the queue is empty. */
void stage_copy_wait(struct stage *s);

/* Stores all queued blocks, then stops the thread. */
void stage_copy_stop(struct stage *s);

/* Stores a block immediately. If that fails, the block is not staged; if the device is
 * full, the blocks already on it stay usable. */
bool stage_copy_now(struct stage *s, const struct stage_claim *c,
                    const unsigned char *bytes);

#endif
