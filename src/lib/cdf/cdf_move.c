/* The way from one layout to another. Nothing ever moves towards the start of the
 * file, so what lies last is moved first. */
#include "cdf_impl.h"

/* The fixed-size variable of `before` next below *var, or NULL; *var is its id. */
static const struct cdf_var *below(const struct cdf_header *before, int *var)
{
    while (--*var >= 0)
        if (!before->vars[*var].is_record) return &before->vars[*var];
    return NULL;
}

/* Lets a step grow downwards over the fixed-size variables that touch it and go
 * equally far. */
static void extend_state(const struct cdf_header *before, const struct cdf_header *after,
                         struct cdf_move_state *state, struct cdf_move *move)
{
    for (int var = state->var;;) {
        const struct cdf_var *v = below(before, &var);
        if (v == NULL || v->begin + v->size != move->from) return;
        if (after->vars[var].begin - v->begin != move->to - move->from) return;
        state->var = var;
        move->from -= v->size;
        move->to -= v->size;
        move->length += v->size;
    }
}

/* The old record variables stay side by side at the start of the record, so each
 * record moves as one; all of them do if the distance between records stays. */
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
        const struct cdf_var *v = below(before, &state->var);
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

/* Bytes of records that move: all of them, but for the first where only the distance
 * between records grows. */
static int64_t records_to_move(const struct cdf_header *before,
                               const struct cdf_header *after)
{
    int64_t stay = before->begin_record == after->begin_record;
    if (before->nrecord_vars == 0 || before->numrecs == 0) return 0;
    if (stay && before->record_size == after->record_size) return 0;
    return (before->numrecs - stay) * before->record_size;
}

/* Of a fixed-size variable. */
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
