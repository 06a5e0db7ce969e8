/* One word a block: in which place it lies, whether it is still on its way, and in which
 * epoch it was claimed. An epoch ends when the file is found changed; words of another
 * one count as empty. One record a place: which block has it, and a number that goes up
 * whenever it is given to a block.
 *
 * What orders memory, on any processor. All that is not atomic is read and changed with
 * the lock held. The words, numbers, sums and the epoch are sequentially consistent, so
 * that all see their changes in one order. stage_table_find reads word, number, word,
 * sum: the number grows before the word says that the block is coming, and the sum is
 * stored before the word says that it is there. So a word that says so both times, or one
 * that was claimed and finished again in between, comes with the sum of that number or of
 * a later one, which stage_table_held turns away.
 *
 * The bytes of a block are no memory of the program: they go to the staged file and come
 * from it by calls of the system, which copy them on the caller's processor. A fence
 * there orders that copying as it does the program's own loads and stores. The bytes of a
 * block that is there were written before stage_table_finish, by this thread or by one
 * that got them under a mutex, and are read after the word was. Where another block gets
 * a place, the number grows, then comes a fence, then the new bytes are written; a reader
 * of any of them has a fence behind the reading, and finds the number grown. Without
 * these two fences (a seqlock's) a processor that orders less than x86 may let the new
 * bytes be seen first. */
#include "stage_table.h"

#include <sched.h>
#include <stdatomic.h>

/* Processes share it: an atomic that hides a lock of the process's own is none. */
_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_CHAR_LOCK_FREE == 2,
               "atomic numbers in shared memory");

struct slot {
    _Atomic uint32_t seq;
    _Atomic uint32_t sum;
    uint32_t owner;       /* its block and 1; 0: none */
    _Atomic uint8_t used; /* since it was last looked at */
    uint8_t busy;         /* being filled */
};

struct stage_table {
    atomic_int lock; /* of all that is not atomic, and of all changes but `used` */
    atomic_int broken;
    _Atomic uint32_t epoch;
    int64_t nblocks;
    int64_t limit; /* places that may be given */
    int64_t fresh; /* the first that never was */
    int64_t hand;  /* the place that is looked at next for one to be given up */
    bool fixed;    /* each block has a place of its own */
    _Atomic uint64_t words[];
};

static const uint64_t coming = UINT64_C(1) << 31, barred = (UINT64_C(1) << 31) - 1;

static struct slot *slots(struct stage_table *t)
{
    return (struct slot *)(t->words + t->nblocks);
}

static uint32_t epoch_of(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static bool is_barred(uint64_t word)
{
    return (word & (coming - 1)) == barred;
}

/* -1: none. */
static int64_t slot_in_word(uint64_t word)
{
    return is_barred(word) ? -1 : (int64_t)(word & (coming - 1)) - 1;
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
    t->fresh = t->hand = 0;
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

void stage_table_fix(struct stage_table *t)
{
    t->fixed = true;
}

/* Held for a moment only, so that nobody sleeps over it. */
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

bool stage_table_find(struct stage_table *t, int64_t block, struct stage_hold *h)
{
    uint64_t word = atomic_load(&t->words[block]);
    if (slot_in_word(word) < 0 || (word & coming) != 0 ||
        epoch_of(word) != atomic_load(&t->epoch))
        return false;
    struct slot *s = &slots(t)[slot_in_word(word)];
    h->slot = slot_in_word(word);
    h->seq = atomic_load(&s->seq);
    if (atomic_load(&t->words[block]) != word) return false;
    h->sum = atomic_load(&s->sum); /* last: see above */
    if (atomic_load_explicit(&s->used, memory_order_relaxed) == 0)
        atomic_store_explicit(&s->used, 1, memory_order_relaxed);
    return true;
}

bool stage_table_held(struct stage_table *t, const struct stage_hold *h)
{
    atomic_thread_fence(memory_order_acquire); /* what was read before the number */
    return atomic_load(&slots(t)[h->slot].seq) == h->seq;
}

/* ---- with the lock ---- */

static void give_block_up(struct stage_table *t, int64_t i)
{
    struct slot *s = &slots(t)[i];
    if (s->owner != 0) atomic_store(&t->words[s->owner - 1], 0);
    s->owner = 0;
}

/* A place for another block: one that never had any, else one that was not used again
 * since the hand came by last. What is read once only goes before what is read often. */
static int64_t take_block_slot(struct stage_table *t, int64_t block, bool *dropped)
{
    if (t->fixed) return slots(t)[block].busy ? -1 : block;
    if (t->fresh < t->limit) return t->fresh++;
    for (int64_t n = 0; n < 2 * t->limit; n++) {
        int64_t i = t->hand;
        struct slot *s = &slots(t)[i];
        t->hand = (i + 1) % t->limit;
        if (s->busy) continue;
        if (s->owner != 0 && atomic_exchange(&s->used, 0) != 0) continue;
        *dropped = s->owner != 0;
        give_block_up(t, i);
        return i;
    }
    return -1;
}

/* ---- bringing ---- */

enum stage_claimed stage_table_claim(struct stage_table *t, int64_t block,
                                     struct stage_claim *c)
{
    enum stage_claimed result = STAGE_MINE;
    *c = (struct stage_claim){.block = block, .slot = -1};
    lock_table(t);
    uint64_t word = atomic_load(&t->words[block]);
    uint32_t epoch = atomic_load(&t->epoch);
    if (is_barred(word) && epoch_of(word) == epoch) {
        result = STAGE_NO_ROOM;
    } else if (slot_in_word(word) >= 0 && epoch_of(word) == epoch) {
        result = word & coming ? STAGE_BUSY : STAGE_HERE;
    } else {
        /* What an earlier epoch left is this block's place; what it is still bringing
         * there is thrown away when it has come. */
        if (slot_in_word(word) >= 0 && (word & coming) == 0 &&
            slot_in_word(word) < t->limit)
            c->slot = slot_in_word(word);
        else
            c->slot = take_block_slot(t, block, &c->dropped);
        if (c->slot < 0) result = STAGE_NO_ROOM;
    }
    if (result == STAGE_MINE) {
        struct slot *s = &slots(t)[c->slot];
        atomic_fetch_add(&s->seq, 1);
        s->owner = (uint32_t)block + 1;
        s->busy = 1;
        atomic_store(&s->used, 0);
        c->word = (uint64_t)epoch << 32 | coming | (uint64_t)(c->slot + 1);
        atomic_store(&t->words[block], c->word);
    }
    unlock_table(t);
    atomic_thread_fence(memory_order_release); /* the number before new bytes */
    return result;
}

bool stage_table_is_coming(struct stage_table *t, const struct stage_claim *c)
{
    return atomic_load(&t->words[c->block]) == c->word &&
           epoch_of(c->word) == atomic_load(&t->epoch);
}

bool stage_table_is_busy(struct stage_table *t, int64_t block)
{
    uint64_t word = atomic_load(&t->words[block]);
    return slot_in_word(word) >= 0 && (word & coming) != 0 &&
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
    if (mine) atomic_store(&t->words[c->block], good ? c->word & ~coming : 0);
    unlock_table(t);
}

void stage_table_bar(struct stage_table *t, const struct stage_claim *c)
{
    lock_table(t);
    struct slot *s = &slots(t)[c->slot];
    s->busy = 0;
    s->owner = 0;
    if (atomic_load(&t->words[c->block]) == c->word)
        atomic_store(&t->words[c->block], (uint64_t)epoch_of(c->word) << 32 | barred);
    unlock_table(t);
}

void stage_table_forget(struct stage_table *t)
{
    lock_table(t);
    atomic_fetch_add(&t->epoch, 1);
    unlock_table(t);
}

void stage_table_shrink(struct stage_table *t, int64_t slot)
{
    lock_table(t);
    if (slot < t->limit) t->limit = slot;
    if (t->hand >= t->limit) t->hand = 0;
    if (t->limit == 0) atomic_store(&t->broken, 1);
    unlock_table(t);
}

void stage_table_break(struct stage_table *t)
{
    atomic_store(&t->broken, 1);
}

bool stage_table_broken(const struct stage_table *t)
{
    return atomic_load(&t->broken) != 0;
}
