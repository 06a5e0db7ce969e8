/* The table of staged blocks and their slots. It is in memory shared by a node's
 * processes, and any thread of any of them may change it. Lookups take no lock. A reader
 * finds a block, reads its bytes, and verifies that the slot was not reused. A writer
 * claims a block, stores it, and finishes the claim. Makes no MPI calls. */
#ifndef STAGE_TABLE_H
#define STAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stage_table;

/* Maximum number of blocks, and of slots. */
enum { STAGE_MOST_BLOCKS = 1 << 20 };

/* Return the size of a table, and initialize an empty table; `nslots` is at least 1. */
size_t stage_table_bytes(int64_t nblocks, int64_t nslots);
void stage_table_init(struct stage_table *t, int64_t nblocks, int64_t nslots);

/* Fixes block i in slot i, so that all nodes' tables use the same slots. Requires as many
 * slots as blocks. Must be called before any block is staged. */
void stage_table_fix_slots(struct stage_table *t);

/* A staged block and its slot. Slots may be reused at any time: after reading the bytes,
 * call stage_table_is_current to check that the slot still contains the same block. */
struct stage_slot_ref {
    int64_t slot;
    uint32_t seq;
    uint32_t sum; /* checksum set by the process that claimed the block */
};
bool stage_table_find(struct stage_table *t, int64_t block, struct stage_slot_ref *h);
bool stage_table_is_current(struct stage_table *t, const struct stage_slot_ref *h);

/* The exclusive right to fetch a block, until the claim is finished. */
struct stage_claim {
    int64_t block, slot;
    uint64_t word;
    uint32_t sum; /* checksum of its bytes, set by the caller; 0 if unused */
    bool dropped; /* another block was evicted from the slot */
};
enum stage_claimed {
    STAGE_CLAIMED,
    STAGE_ALREADY_STAGED, /* the block is already staged */
    STAGE_BUSY,           /* another caller is fetching the block */
    STAGE_NO_SPACE        /* all slots are being filled, or the block was refused */
};
enum stage_claimed stage_table_claim(struct stage_table *t, int64_t block,
                                     struct stage_claim *c);
/* Returns whether a claim is unfinished and no file change has been detected since. */
bool stage_table_is_pending(struct stage_table *t, const struct stage_claim *c);

/* Returns whether some caller has an unfinished claim on the block. */
bool stage_table_is_busy(struct stage_table *t, int64_t block);

/* Ends a claim. `there` is true if the bytes have been stored. If stage_table_invalidate
 * was called since the claim, the block is not staged. */
void stage_table_finish(struct stage_table *t, const struct stage_claim *c, bool there);

/* Ends a claim without bytes and refuses later claims, because there is no space for the
 * block. */
void stage_table_refuse(struct stage_table *t, const struct stage_claim *c);

/* Invalidates all blocks after the file has changed. */
void stage_table_invalidate(struct stage_table *t);

/* Stops using this slot and all later ones, because the device is full. */
void stage_table_shrink(struct stage_table *t, int64_t slot);

/* Makes the stage permanently unusable. */
void stage_table_disable(struct stage_table *t);
bool stage_table_is_disabled(const struct stage_table *t);

#endif
