/* A hash table of names with open addressing. Slots store the hash, so most probes need
 * not access the name, and the table can grow without access to the names. */
#include "base_names.h"

#include <string.h>

#include "base_mem.h"

enum { EMPTY = 0, REMOVED = -1 }; /* values of slot.mark; otherwise it is the index + 1 */

struct base_names_slot {
    uint32_t hash;
    int mark;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    return x;
}

uint64_t base_hash(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = seed ^ (length * 0x9e3779b97f4a7c15u);
    for (; length >= 8; p += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = mix(h ^ word) + 0x9e3779b97f4a7c15u;
    }
    uint64_t tail = 0;
    memcpy(&tail, p, length);
    return mix(h ^ tail);
}

static uint32_t hash_name(const char *name)
{
    return (uint32_t)base_hash(name, strlen(name), 0);
}

/* Returns the slot of the name, or the empty slot in which to add it. The table always
 * has an empty slot. */
static struct base_names_slot *seek_slot(const struct base_names *t, const char *name,
                                         uint32_t hash, base_names_text *text,
                                         const void *of)
{
    for (size_t i = hash & (t->capacity - 1);; i = (i + 1) & (t->capacity - 1)) {
        struct base_names_slot *s = &t->slots[i];
        if (s->mark == EMPTY) return s;
        if (s->mark != REMOVED && s->hash == hash &&
            strcmp(text(of, s->mark - 1), name) == 0)
            return s;
    }
}

int base_names_find(const struct base_names *t, const char *name, base_names_text *text,
                    const void *of)
{
    if (t->capacity == 0) return -1;
    const struct base_names_slot *s = seek_slot(t, name, hash_name(name), text, of);
    return s->mark == EMPTY ? -1 : s->mark - 1;
}

static void enter_slot(struct base_names_slot *slots, size_t capacity, uint32_t hash,
                       int mark)
{
    size_t i = hash & (capacity - 1);
    while (slots[i].mark != EMPTY)
        i = (i + 1) & (capacity - 1);
    slots[i] = (struct base_names_slot){.hash = hash, .mark = mark};
}

/* Limits the load to two thirds. Rehashing drops removed slots, so adding and removing
 * names repeatedly does not grow the table. */
int base_names_reserve(struct base_names *t, size_t more)
{
    if (t->capacity > 0 && (t->used + more) * 3 <= t->capacity * 2) return 0;

    size_t live = 0;
    for (size_t i = 0; i < t->capacity; i++)
        live += t->slots[i].mark > 0;
    size_t capacity = 16;
    while ((live + more) * 3 > capacity * 2 || live * 2 > capacity)
        capacity *= 2;

    struct base_names_slot *slots = base_calloc(capacity, sizeof *slots);
    if (slots == NULL) return -1;
    for (size_t i = 0; i < t->capacity; i++)
        if (t->slots[i].mark > 0)
            enter_slot(slots, capacity, t->slots[i].hash, t->slots[i].mark);
    base_free(t->slots);
    *t = (struct base_names){.slots = slots, .capacity = capacity, .used = live};
    return 0;
}

int base_names_add(struct base_names *t, const char *name, int index)
{
    if (base_names_reserve(t, 1) != 0) return -1;
    enter_slot(t->slots, t->capacity, hash_name(name), index + 1);
    t->used++;
    return 0;
}

/* Prefetches the slots of a whole batch before it uses the first one, because the slots
 * of a large table are usually not in the CPU cache. */
int base_names_add_range(struct base_names *t, int first, int end, base_names_text *text,
                         const void *of)
{
    enum { BATCH = 16 };
    uint32_t hash[BATCH];
    int entered = 0;
    if (base_names_reserve(t, (size_t)(end - first)) != 0) return -1;
    for (int n; first < end; first += n) {
        n = end - first < BATCH ? end - first : BATCH;
        for (int i = 0; i < n; i++) {
            hash[i] = hash_name(text(of, first + i));
            __builtin_prefetch(&t->slots[hash[i] & (t->capacity - 1)], 1);
        }
        for (int i = 0; i < n; i++) {
            struct base_names_slot *s =
                seek_slot(t, text(of, first + i), hash[i], text, of);
            if (s->mark != EMPTY) continue;
            *s = (struct base_names_slot){.hash = hash[i], .mark = first + i + 1};
            entered++;
        }
    }
    t->used += (size_t)entered;
    return entered;
}

void base_names_remove(struct base_names *t, const char *name, int index)
{
    if (t->capacity == 0) return;
    size_t i = hash_name(name) & (t->capacity - 1);
    while (t->slots[i].mark != EMPTY) {
        if (t->slots[i].mark == index + 1) {
            t->slots[i].mark = REMOVED;
            return;
        }
        i = (i + 1) & (t->capacity - 1);
    }
}

void base_names_close_gap(struct base_names *t, int index)
{
    for (size_t i = 0; i < t->capacity; i++)
        t->slots[i].mark -= t->slots[i].mark > index + 1;
}

int base_names_copy(struct base_names *to, const struct base_names *from)
{
    *to = (struct base_names){0};
    if (from->capacity == 0) return 0;
    to->slots = base_malloc(from->capacity * sizeof *to->slots);
    if (to->slots == NULL) return -1;
    memcpy(to->slots, from->slots, from->capacity * sizeof *to->slots);
    to->capacity = from->capacity;
    to->used = from->used;
    return 0;
}

void base_names_free(struct base_names *t)
{
    base_free(t->slots);
    *t = (struct base_names){0};
}
