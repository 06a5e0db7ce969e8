/* Moving data so that it can be resumed or taken back at any time.
 *
 * The bytes that move have places, from 0 for the last one in the file on downwards
 * (cdf_seek_move). To the new layout they go in rounds of ascending places, so upwards in
 * the file and from its end; back to the old one in rounds of descending places.
 *
 * A byte never goes to where a byte of a later round comes from: it goes upwards, and all
 * that comes later lies below it. (On the way back all that comes later lies above it.)
 * So what a round overwrites was moved by rounds before, which are on the device by then,
 * or is of the round itself. Where the latter cannot be, as the round's bytes all go
 * behind the last of them, the round needs no help: done again, wholly or from the
 * middle, it does the same. Where it can, all of the round's bytes are first saved in an
 * area of the journal, from which it can be done again, or what it overwrote of its own
 * be restored. The areas take turns: that of the round on record stays as it is until the
 * next round is on record.
 *
 * So, what the record says of a round [low, high) is true of the dataset on the device,
 * whatever of the round's writes has got there and in whatever order:
 *
 *   moving, not saved   the round's bytes are where they come from
 *   moving, saved       they are in the area
 *   restoring           likewise; once they are back, the round has not begun
 *
 * and in each case those before it are where they go to, those after it where they come
 * from. A round gets on record when all before it are on the device and its bytes are in
 * the area; and nobody begins to write before it is on record, which is when the mark in
 * the dataset names it. These are the two agreements of a round.
 *
 * Nothing of that hinders a round from being saved while the one before it is on record:
 * it has an area of its own, and its bytes lie where the other does not write. So both go
 * to the device together, and one agreement is for both. Should it fail, the round on
 * record is taken back, and what was saved of the next is of no meaning. */
#include "journal.h"

#include "base_error.h"

/* An agreed error, or this process's own words on it. */
static int journal_agree_all(const struct journal_crew *c, int err)
{
    int agreed = c->concur_all(c->who, err);
    return agreed != NC_NOERR && err != NC_NOERR ? err : agreed;
}

/* Where the byte at a place ends that comes from there, or goes there. */
static struct cdf_move at(const struct journal_crew *c, int64_t place)
{
    struct cdf_move_state state;
    struct cdf_move move = {0, 0, 0};
    (void)cdf_seek_move(c->before, c->after, place, &state, &move);
    return (struct cdf_move){.from = move.from + move.length,
                             .to = move.to + move.length};
}

/* Do the bytes [low, high) all go behind the last of them? */
static bool apart(const struct journal_crew *c, int64_t low, int64_t high)
{
    return at(c, high - 1).to - 1 >= at(c, low).from;
}

/* The longest round that begins at a place and needs no saving: of ascending places, or
 * of descending ones. One byte always can go. */
static int64_t longest(const struct journal_crew *c, int64_t place, bool back)
{
    int64_t some = 1, most = back ? place : cdf_move_total(c->before, c->after) - place;
    while (some < most) {
        int64_t n = some + (most - some + 1) / 2;
        bool good = back ? apart(c, place - n, place) : apart(c, place, place + n);
        if (good)
            some = n;
        else
            most = n - 1;
    }
    return some;
}

/* The round that begins at a place. */
static struct journal_state next_journal_round(const struct journal_crew *c,
                                               int64_t place, bool back)
{
    const struct journal *j = c->j;
    int64_t left = back ? place : cdf_move_total(c->before, c->after) - place;
    int64_t n = longest(c, place, back), area = j->facts.area;
    struct journal_state s = {
        .phase = JOURNAL_MOVING, .back = back, .area = !j->state.area};
    if (area > c->share) area = c->share;
    if (n < left && n < c->least && n < area) {
        s.saved = true;
        n = area < left ? area : left;
    }
    s.low = back ? place - n : place;
    s.high = back ? place : place + n;
    return s;
}

/* The first process writes it down; all know it. Agreed. */
static int record_all(const struct journal_crew *c, struct journal_state s)
{
    int err = NC_NOERR;
    if (c->first)
        err = journal_record(c->j, s);
    else
        c->j->state = s;
    return journal_agree_all(c, err);
}

static enum journal_place source(const struct journal_state *s)
{
    return s->back ? JOURNAL_NEW : JOURNAL_OLD;
}

/* Bytes get where the round on record wants them, and those of the next one into its
 * area, if it has to be saved (NULL: there is none); all to the device. Agreed. */
static int write_next_all(const struct journal_crew *c, const struct journal_state *next)
{
    const struct journal_state s = c->j->state;
    enum journal_place to = s.back ? JOURNAL_OLD : JOURNAL_NEW;
    if (s.phase == JOURNAL_RESTORING) to = source(&s);
    int err = c->carry_all(c->who, &s, s.saved ? JOURNAL_AREA : source(&s), to);
    int saved = NC_NOERR;
    if (next != NULL && next->saved)
        saved = c->carry_all(c->who, next, source(next), JOURNAL_AREA);
    int synced = c->secure_all(c->who);
    int areas = journal_sync_areas(c->j);
    if (err == NC_NOERR) err = saved;
    if (err == NC_NOERR) err = synced;
    return journal_agree_all(c, err != NC_NOERR ? err : areas);
}

/* The bytes of a round get into its area, while none is being written. Agreed. */
static int save_all(const struct journal_crew *c, const struct journal_state *s)
{
    if (!s->saved) return NC_NOERR;
    int err = c->carry_all(c->who, s, source(s), JOURNAL_AREA);
    int synced = journal_sync_areas(c->j);
    return journal_agree_all(c, err != NC_NOERR ? err : synced);
}

/* The rounds from a place on to the end. *place: where it stopped; *begun: the round
 * there may be on record. Agreed. */
static int rounds_all(const struct journal_crew *c, int64_t *place, bool back,
                      bool *begun)
{
    int64_t end = back ? 0 : cdf_move_total(c->before, c->after);
    *begun = false;
    if (*place == end) return NC_NOERR;
    struct journal_state next = next_journal_round(c, *place, back);
    int err = save_all(c, &next);
    while (err == NC_NOERR && *place != end) {
        struct journal_state s = next;
        *begun = true;
        err = record_all(c, s);
        if (err != NC_NOERR) return err;
        int64_t reached = back ? s.low : s.high;
        if (reached != end) next = next_journal_round(c, reached, back);
        err = write_next_all(c, reached != end ? &next : NULL);
        if (err == NC_NOERR) *place = reached;
    }
    return err;
}

/* The header that the phase is about gets into the file. Agreed. */
static int finish_journal_all(const struct journal_crew *c, enum journal_phase phase)
{
    int err = NC_NOERR;
    if (c->j->state.phase != phase)
        err = record_all(c, (struct journal_state){.phase = phase});
    if (err != NC_NOERR) return err;
    return journal_agree_all(c, c->first ? journal_finish(c->j) : NC_NOERR);
}

/* All that is before a place goes back to where it was. Agreed. */
static int return_all(const struct journal_crew *c, int64_t place)
{
    bool begun;
    int err = rounds_all(c, &place, true, &begun);
    return err != NC_NOERR ? err : finish_journal_all(c, JOURNAL_RETURNING);
}

/* What is new may lie where the last round's bytes come from. */
static int commit_all(const struct journal_crew *c)
{
    int err = record_all(c, (struct journal_state){.phase = JOURNAL_FILLING});
    if (err != NC_NOERR) return err;
    err = c->complete_all(c->who);
    int synced = c->secure_all(c->who);
    err = journal_agree_all(c, err != NC_NOERR ? err : synced);
    return err != NC_NOERR ? err : finish_journal_all(c, JOURNAL_COMMITTING);
}

/* After an error of a round, or behind all of them. Agreed. */
static int take_back_all(const struct journal_crew *c, int64_t place, bool begun)
{
    struct journal_state s = c->j->state;
    if (begun && s.saved) {
        s.phase = JOURNAL_RESTORING;
        int err = record_all(c, s);
        if (err == NC_NOERR) err = write_next_all(c, NULL);
        if (err != NC_NOERR) return err;
    }
    return return_all(c, place);
}

int64_t journal_area_for(const struct journal_crew *c)
{
    int64_t total = cdf_move_total(c->before, c->after);
    if (longest(c, 0, false) == total) return 0;
    return total < c->share ? total : c->share;
}

/* Where one cannot join nothing has been moved. Agreed. */
static int drop_all(const struct journal_crew *c, int err)
{
    if (c->first) journal_drop(c->j);
    int marked = journal_agree_all(c, c->j->pending ? NC_EFILE : NC_NOERR);
    c->j->pending = marked != NC_NOERR;
    return err;
}

int journal_move_all(struct journal_crew *c)
{
    int64_t place = 0;
    bool begun;
    int err = journal_agree_all(c, journal_join(c->j));
    if (err != NC_NOERR) return drop_all(c, err);
    err = rounds_all(c, &place, false, &begun);
    if (err == NC_NOERR) {
        begun = false;
        err = commit_all(c);
        if (err == NC_NOERR) return err;
    }
    /* The new header may be in the file, though nobody is to take it for one. */
    int marked = NC_NOERR;
    if (c->first && c->j->state.phase == JOURNAL_COMMITTING) marked = journal_mark(c->j);
    marked = journal_agree_all(c, marked);
    if (marked == NC_NOERR) marked = take_back_all(c, place, begun);
    c->j->pending = marked != NC_NOERR;
    return err;
}

int journal_resume_all(struct journal_crew *c)
{
    const struct journal_state s = c->j->state;
    int64_t place = s.back || s.phase == JOURNAL_RESTORING ? s.low : s.high;
    bool begun;
    int joined = journal_agree_all(c, journal_join(c->j));
    if (joined != NC_NOERR) return joined;
    if (s.high > cdf_move_total(c->before, c->after) || (s.high == s.low && place > 0))
        return base_error_set(NC_ENOTNC, "the journal's round is none of this dataset's");
    if (s.phase == JOURNAL_READY) return finish_journal_all(c, JOURNAL_RETURNING);
    if (s.phase == JOURNAL_FILLING) return commit_all(c);
    if (s.phase > JOURNAL_FILLING) return finish_journal_all(c, s.phase);
    if (s.high == s.low) return base_error_set(NC_ENOTNC, "the journal's round is empty");
    int err = write_next_all(c, NULL);
    if (err != NC_NOERR) return err;
    if (s.back || s.phase == JOURNAL_RESTORING) return return_all(c, place);
    err = rounds_all(c, &place, false, &begun);
    return err != NC_NOERR ? err : commit_all(c);
}
