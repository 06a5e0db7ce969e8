/* Which blocks of a file are staged, and where: in memory that the processes of a node
 * share, changed by all of them and their threads. Finding a block takes no lock. No MPI.
 */
#ifndef STAGE_TABLE_H
#define STAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stage_table;

/* More blocks and places than that are never asked for. */
enum { STAGE_MOST_BLOCKS = 1 << 20 };

/* Memory for a file of so many blocks, of which there is place for nslots, 1 at least;
 * and that memory made a table, with nothing staged. */
size_t stage_table_bytes(int64_t nblocks, int64_t nslots);
void stage_table_init(struct stage_table *t, int64_t nblocks, int64_t nslots);

/* A block's place is its number, so that it is the same to all who have such a table;
 * there are as many places as blocks. Before anything is staged. */
void stage_table_fix(struct stage_table *t);

/* A block that is there, in a place of the staged file. Who has read it asks whether
 * it was still the same then: places are given to other blocks at any time. */
struct stage_hold {
    int64_t slot;
    uint32_t seq;
    uint32_t sum; /* as it was claimed with */
};
bool stage_table_find(struct stage_table *t, int64_t block, struct stage_hold *h);
bool stage_table_held(struct stage_table *t, const struct stage_hold *h);

/* The caller is to bring a block: only one is, until it has finished. */
struct stage_claim {
    int64_t block, slot;
    uint64_t word;
    uint32_t sum; /* of its bytes, where somebody asks for it later; the caller's */
    bool dropped; /* another block had to go for it */
};
enum stage_claimed {
    STAGE_MINE,
    STAGE_HERE,   /* it has come meanwhile */
    STAGE_BUSY,   /* somebody else is at it */
    STAGE_NO_ROOM /* all places are being filled just now, or there is none any more */
};
enum stage_claimed stage_table_claim(struct stage_table *t, int64_t block,
                                     struct stage_claim *c);
/* Is what was claimed still on its way, for the file as it is? */
bool stage_table_is_coming(struct stage_table *t, const struct stage_claim *c);

/* Is somebody bringing the block? */
bool stage_table_is_busy(struct stage_table *t, int64_t block);

/* It is there, or could not be brought. What was claimed before stage_table_forget is not
 * there in any case. */
void stage_table_finish(struct stage_table *t, const struct stage_claim *c, bool there);

/* What was claimed is not there, nobody is to bring it: there is no room for it. */
void stage_table_bar(struct stage_table *t, const struct stage_claim *c);

/* Nothing is staged any more: the file has changed. */
void stage_table_forget(struct stage_table *t);

/* There is no room on the device for this place, and so for those behind it. */
void stage_table_shrink(struct stage_table *t, int64_t slot);

/* The stage is of no use any more. */
void stage_table_break(struct stage_table *t);
bool stage_table_broken(const struct stage_table *t);

#endif
