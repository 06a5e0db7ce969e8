/* Enumerates the moves from one layout to another. Data never move towards the start of
 * the file, so the last bytes are moved first and nothing is overwritten before it has
 * been moved. */
#include "cdf_impl.h"

/* Returns the fixed-size variable of `before` that precedes *var, or NULL. Sets *var to
 * its id. */
static const struct cdf_var *preceding_fixed(const struct cdf_header *before, int *var)
{
    while (--*var >= 0)
        if (!before->vars[*var].is_record) return &before->vars[*var];
    return NULL;
}

/* Extends a move downwards to adjacent fixed-size variables that move by the same
 * distance. */
static void extend_state(const struct cdf_header *before, const struct cdf_header *after,
                         struct cdf_move_state *state, struct cdf_move *move)
{
    for (int var = state->var;;) {
        const struct cdf_var *v = preceding_fixed(before, &var);
        if (v == NULL || v->begin + v->size != move->from) return;
        if (after->vars[var].begin - v->begin != move->to - move->from) return;
        state->var = var;
        move->from -= v->size;
        move->to -= v->size;
        move->length += v->size;
    }
}

/* Finds the next move of records. The old record variables remain adjacent at the start
 * of the record, so each record moves as one piece. If the distance between records does
 * not change, all records move as one piece. Returns false if no further records move. */
static bool next_records(const struct cdf_header *before, const struct cdf_header *after,
                         struct cdf_move_state *state, struct cdf_move *move)
{
    int64_t count = 1;
    if (state->rec == 0) return false;
    if (before->record_size == after->record_size) count = state->rec;
    state->rec -= count;
    move->from = before->begin_record + state->rec * before->record_size;
    move->to = after->begin_record + state->rec * after->record_size;
    move->length = count * before->record_size;
    return move->from != move->to;
}

static bool next_fixed(const struct cdf_header *before, const struct cdf_header *after,
                       struct cdf_move_state *state, struct cdf_move *move)
{
    for (;;) {
        const struct cdf_var *v = preceding_fixed(before, &state->var);
        if (v == NULL) return false;
        move->from = v->begin;
        move->to = after->vars[state->var].begin;
        move->length = v->size;
        if (move->from != move->to) return true;
    }
}

static void start_state(const struct cdf_header *before, struct cdf_move_state *state)
{
    state->started = 1;
    state->rec = before->nrecord_vars > 0 ? before->numrecs : 0;
    state->var = before->nvars;
}

bool cdf_next_move(const struct cdf_header *before, const struct cdf_header *after,
                   struct cdf_move_state *state, struct cdf_move *move)
{
    if (!state->started) start_state(before, state);
    if (!next_records(before, after, state, move) &&
        !next_fixed(before, after, state, move))
        return false;
    extend_state(before, after, state, move);
    return true;
}

/* Returns the number of bytes that move in the record section: all records, or all but
 * the first if only the distance between records grows. */
static int64_t records_to_move(const struct cdf_header *before,
                               const struct cdf_header *after)
{
    int64_t stay = before->begin_record == after->begin_record;
    if (before->nrecord_vars == 0 || before->numrecs == 0) return 0;
    if (stay && before->record_size == after->record_size) return 0;
    return (before->numrecs - stay) * before->record_size;
}

/* Returns the number of bytes of a fixed-size variable that move. */
static int64_t var_to_move(const struct cdf_header *before,
                           const struct cdf_header *after, int var)
{
    const struct cdf_var *v = &before->vars[var];
    return v->is_record || v->begin == after->vars[var].begin ? 0 : v->size;
}

int64_t cdf_move_total(const struct cdf_header *before, const struct cdf_header *after)
{
    int64_t total = records_to_move(before, after);
    for (int var = 0; var < before->nvars; var++)
        total += var_to_move(before, after, var);
    return total;
}

bool cdf_seek_move(const struct cdf_header *before, const struct cdf_header *after,
                   int64_t place, struct cdf_move_state *state, struct cdf_move *move)
{
    int64_t records = records_to_move(before, after), size;
    start_state(before, state);
    if (place >= records) {
        state->rec = 0;
        place -= records;
        for (; state->var > 0; place -= size, state->var--) {
            size = var_to_move(before, after, state->var - 1);
            if (place < size) break;
        }
    } else if (before->record_size != after->record_size) {
        state->rec -= place / before->record_size;
        place %= before->record_size;
    }
    if (!cdf_next_move(before, after, state, move)) return false;
    move->length -= place;
    return true;
}
