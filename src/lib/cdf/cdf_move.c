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
static void extend(const struct cdf_header *before, const struct cdf_header *after,
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

bool cdf_next_move(const struct cdf_header *before, const struct cdf_header *after,
                   struct cdf_move_state *state, struct cdf_move *move)
{
    if (!state->started) {
        state->started = 1;
        state->rec = before->nrecord_vars > 0 ? before->numrecs : 0;
        state->var = before->nvars;
    }
    if (!next_records(before, after, state, move) &&
        !next_fixed(before, after, state, move))
        return false;
    extend(before, after, state, move);
    return true;
}
