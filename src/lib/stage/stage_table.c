/* The table of staged blocks. Each block has a word, which contains its slot, whether it
 * is still being fetched, and the epoch of its claim. An epoch ends when a change to the
 * file is detected; words from another epoch count as empty. Each slot records which
 * block it holds, and has a sequence number that is incremented whenever the slot is
 * assigned to a block.
 *
 * Memory order, on any processor:
 * 1. Members that are not atomic are accessed only with the lock held.
 * 2. Words, sequence numbers, sums and the epoch are sequentially consistent: all
 *    processes see their changes in the same order.
 * 3. stage_table_find reads the word, the number, the word again, and the sum. The number
 *    is incremented before the word shows a block as being fetched, and the sum is stored
 *    before the word shows it as staged.
 * 4. So if the word shows a staged block both times, the sum belongs to that number or to
 *    a later one, even if the block was claimed and finished again in between.
 *    stage_table_is_current detects the latter.
 *
 * The bytes of a block are not in the program's memory: system calls copy them to and
 * from the staged file on the caller's processor.
 * 1. A fence on that processor orders this copying like the program's own loads and
 *    stores.
 * 2. The bytes of a staged block are written before stage_table_finish, by the thread
 *    that fetched them or by one that received them under a mutex. They are read after
 *    the word.
 * 3. When a slot is reused, the number is incremented first, then a fence is executed,
 *    then the new bytes are written. A reader executes a fence after reading the bytes;
 *    if any of them was new, it then finds that the number has changed.
 * 4. Without these two fences (those of a seqlock), the new bytes could become visible
 *    first on a processor with weaker ordering than x86. */
#include "stage_table.h"

#include <sched.h>
#include <stdatomic.h>

/* Processes share the table, so its atomics must not use locks that are local to a
 * process. */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_CHAR_LOCK_FREE == 2,
               "atomic integers must be lock-free");

struct slot {
    _Atomic uint32_t seq;
    _Atomic uint32_t sum;
    uint32_t owner;       /* number of the block in this slot plus 1; 0 if none */
    _Atomic uint8_t used; /* nonzero if read since the clock hand last passed */
    uint8_t busy;         /* nonzero while a block is being stored here */
};

struct stage_table {
    atomic_int lock; /* protects all members that are not atomic, and all changes except
                      * those of `used` */
    atomic_int broken;
    _Atomic uint32_t epoch;
    int64_t nblocks;
    int64_t limit;        /* number of usable slots */
    int64_t first_unused; /* first slot that was never used */
    int64_t next_victim;  /* next slot to consider for eviction (the clock hand) */
    bool fixed;           /* block i is always in slot i */
    _Atomic uint64_t words[];
};

static const uint64_t pending_bit = UINT64_C(1) << 31,
                      refused_block = (UINT64_C(1) << 31) - 1;

static struct slot *slots(struct stage_table *t)
{
    return (struct slot *)(t->words + t->nblocks);
}

static uint32_t epoch_of(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static bool is_refused_word(uint64_t word)
{
    return (word & (pending_bit - 1)) == refused_block;
}

/* Returns the slot in a word, or -1. */
static int64_t slot_in_word(uint64_t word)
{
    return is_refused_word(word) ? -1 : (int64_t)(word & (pending_bit - 1)) - 1;
}

size_t stage_table_bytes(int64_t nblocks, int64_t nslots)
{
    return sizeof(struct stage_table) + (size_t)nblocks * sizeof(uint64_t) +
           (size_t)nslots * sizeof(struct slot);
}

void stage_table_init(struct stage_table *t, int64_t nblocks, int64_t nslots)
{
    atomic_init(&t->lock, 0);
    atomic_init(&t->broken, 0);
    atomic_init(&t->epoch, 1);
    t->nblocks = nblocks;
    t->limit = nslots;
    t->first_unused = t->next_victim = 0;
    t->fixed = false;
    for (int64_t i = 0; i < nblocks; i++)
        atomic_init(&t->words[i], 0);
    struct slot *s = slots(t);
    for (int64_t i = 0; i < nslots; i++) {
        atomic_init(&s[i].seq, 0);
        atomic_init(&s[i].sum, 0);
        atomic_init(&s[i].used, 0);
        s[i].owner = 0;
        s[i].busy = 0;
    }
}

void stage_table_fix_slots(struct stage_table *t)
{
    t->fixed = true;
}

/* Acquires the lock. Spins, because the lock is held only briefly. */
static void lock_table(struct stage_table *t)
{
    int free = 0;
    while (!atomic_compare_exchange_weak(&t->lock, &free, 1)) {
        free = 0;
        sched_yield();
    }
}

static void unlock_table(struct stage_table *t)
{
    atomic_store(&t->lock, 0);
}

/* ---- finding ---- */

bool stage_table_find(struct stage_table *t, int64_t block, struct stage_slot_ref *h)
{
    uint64_t word = atomic_load(&t->words[block]);
    if (slot_in_word(word) < 0 || (word & pending_bit) != 0 ||
        epoch_of(word) != atomic_load(&t->epoch))
        return false;
    struct slot *s = &slots(t)[slot_in_word(word)];
    h->slot = slot_in_word(word);
    h->seq = atomic_load(&s->seq);
    if (atomic_load(&t->words[block]) != word) return false;
    h->sum = atomic_load(&s->sum); /* must be read last: see the top of this file */
    if (atomic_load_explicit(&s->used, memory_order_relaxed) == 0)
        atomic_store_explicit(&s->used, 1, memory_order_relaxed);
    return true;
}

bool stage_table_is_current(struct stage_table *t, const struct stage_slot_ref *h)
{
    atomic_thread_fence(memory_order_acquire); /* read the number after the bytes */
    return atomic_load(&slots(t)[h->slot].seq) == h->seq;
}

/* ---- functions that require or acquire the lock ---- */

static void evict_slot(struct stage_table *t, int64_t i)
{
    struct slot *s = &slots(t)[i];
    if (s->owner != 0) atomic_store(&t->words[s->owner - 1], 0);
    s->owner = 0;
}

/* Returns a slot for a block: one that was never used, or else one that has not been used
 * since the hand last passed it (clock algorithm). Blocks that are read once are thus
 * evicted before blocks that are read often. Returns -1 if all slots are being filled. */
static int64_t take_block_slot(struct stage_table *t, int64_t block, bool *dropped)
{
    if (t->fixed) return slots(t)[block].busy ? -1 : block;
    if (t->first_unused < t->limit) return t->first_unused++;
    for (int64_t n = 0; n < 2 * t->limit; n++) {
        int64_t i = t->next_victim;
        struct slot *s = &slots(t)[i];
        t->next_victim = (i + 1) % t->limit;
        if (s->busy) continue;
        if (s->owner != 0 && atomic_exchange(&s->used, 0) != 0) continue;
        *dropped = s->owner != 0;
        evict_slot(t, i);
        return i;
    }
    return -1;
}

/* ---- fetching ---- */

enum stage_claimed stage_table_claim(struct stage_table *t, int64_t block,
                                     struct stage_claim *c)
{
    enum stage_claimed result = STAGE_CLAIMED;
    *c = (struct stage_claim){.block = block, .slot = -1};
    lock_table(t);
    uint64_t word = atomic_load(&t->words[block]);
    uint32_t epoch = atomic_load(&t->epoch);
    if (is_refused_word(word) && epoch_of(word) == epoch) {
        result = STAGE_NO_SPACE;
    } else if (slot_in_word(word) >= 0 && epoch_of(word) == epoch) {
        result = word & pending_bit ? STAGE_BUSY : STAGE_ALREADY_STAGED;
    } else {
        /* A block staged in an earlier epoch keeps its slot. A block that was still being
         * fetched will be discarded when it arrives, so its slot cannot be used. */
        if (slot_in_word(word) >= 0 && (word & pending_bit) == 0 &&
            slot_in_word(word) < t->limit)
            c->slot = slot_in_word(word);
        else
            c->slot = take_block_slot(t, block, &c->dropped);
        if (c->slot < 0) result = STAGE_NO_SPACE;
    }
    if (result == STAGE_CLAIMED) {
        struct slot *s = &slots(t)[c->slot];
        atomic_fetch_add(&s->seq, 1);
        s->owner = (uint32_t)block + 1;
        s->busy = 1;
        atomic_store(&s->used, 0);
        c->word = (uint64_t)epoch << 32 | pending_bit | (uint64_t)(c->slot + 1);
        atomic_store(&t->words[block], c->word);
    }
    unlock_table(t);
    atomic_thread_fence(memory_order_release); /* the number changes before new bytes are
                                                * written */
    return result;
}

bool stage_table_is_pending(struct stage_table *t, const struct stage_claim *c)
{
    return atomic_load(&t->words[c->block]) == c->word &&
           epoch_of(c->word) == atomic_load(&t->epoch);
}

bool stage_table_is_busy(struct stage_table *t, int64_t block)
{
    uint64_t word = atomic_load(&t->words[block]);
    return slot_in_word(word) >= 0 && (word & pending_bit) != 0 &&
           epoch_of(word) == atomic_load(&t->epoch);
}

void stage_table_finish(struct stage_table *t, const struct stage_claim *c, bool there)
{
    lock_table(t);
    struct slot *s = &slots(t)[c->slot];
    bool mine = atomic_load(&t->words[c->block]) == c->word;
    bool good = there && mine && epoch_of(c->word) == atomic_load(&t->epoch);
    s->busy = 0;
    if (good) atomic_store(&s->sum, c->sum);
    if (!good) s->owner = 0;
    if (mine) atomic_store(&t->words[c->block], good ? c->word & ~pending_bit : 0);
    unlock_table(t);
}

void stage_table_refuse(struct stage_table *t, const struct stage_claim *c)
{
    lock_table(t);
    struct slot *s = &slots(t)[c->slot];
    s->busy = 0;
    s->owner = 0;
    if (atomic_load(&t->words[c->block]) == c->word)
        atomic_store(&t->words[c->block],
                     (uint64_t)epoch_of(c->word) << 32 | refused_block);
    unlock_table(t);
}

void stage_table_invalidate(struct stage_table *t)
{
    lock_table(t);
    atomic_fetch_add(&t->epoch, 1);
    unlock_table(t);
}

void stage_table_shrink(struct stage_table *t, int64_t slot)
{
    lock_table(t);
    if (slot < t->limit) t->limit = slot;
    if (t->next_victim >= t->limit) t->next_victim = 0;
    if (t->limit == 0) atomic_store(&t->broken, 1);
    unlock_table(t);
}

void stage_table_disable(struct stage_table *t)
{
    atomic_store(&t->broken, 1);
}

bool stage_table_is_disabled(const struct stage_table *t)
{
    return atomic_load(&t->broken) != 0;
}
