/* Moves data in rounds that can be resumed or undone at any time.
 *
 * The bytes that move are numbered by position, counted backwards from 0 for the last
 * byte in the file (cdf_seek_move). Rounds to the new layout process ascending positions,
 * so they start at the end of the file and move bytes upwards. Rounds back to the old
 * layout process descending positions.
 *
 * A round is safe for these reasons:
 * 1. No byte is moved onto the source of a later round: it moves upwards, and all later
 *    bytes are below it. (In rounds back, all later bytes are above it.)
 * 2. So a round overwrites only its own bytes or bytes of earlier rounds, which are
 *    already on the device.
 * 3. If all of its bytes move beyond its highest source byte, it overwrites none of its
 *    own bytes. Then it needs no copy: it can be repeated from any point, with the same
 *    result.
 * 4. Otherwise all of its bytes are first saved in an area of the journal, from which the
 *    round can be repeated, or the overwritten bytes restored.
 * 5. The areas alternate: the area of the recorded round stays intact until the next
 *    round is recorded.
 *
 * Hence the state of a recorded round [low, high) is valid for the dataset on the device,
 * no matter which of the round's writes reached the device, and in which order:
 *
 *     moving, not saved   the round's bytes are at their source
 *     moving, saved       they are in the area
 *     restoring           they are in the area; once restored, the round has not begun
 *
 * In each case the bytes of earlier rounds are at their target, those of later ones at
 * their source. A round is recorded after all earlier ones are on the device and its own
 * bytes are in the area. No process writes to the target before the round is recorded,
 * that is, before the dataset's mark names it. Each rule takes one agreement per round.
 *
 * A round can be saved while the previous one is being moved: it has its own area, and
 * the other round does not overwrite its source. So both are flushed together, with one
 * agreement. If that fails, the recorded round is undone, and the saved bytes of the next
 * one are ignored. */
#include "journal.h"

#include "base_error.h"

/* Returns this process's own error, which has a message, or else the agreed error. */
static int journal_agree_all(const struct journal_movers *c, int err)
{
    int agreed = c->concur_all(c->arg, err);
    return agreed != NC_NOERR && err != NC_NOERR ? err : agreed;
}

/* Gets the source and target offsets just past the byte at a position. */
static struct cdf_move ends_of_place(const struct journal_movers *c, int64_t place)
{
    struct cdf_move_state state;
    struct cdf_move move = {0, 0, 0};
    (void)cdf_seek_move(c->before, c->after, place, &state, &move);
    return (struct cdf_move){.from = move.from + move.length,
                             .to = move.to + move.length};
}

/* Returns whether all bytes of [low, high) move beyond the highest source byte. */
static bool is_disjoint(const struct journal_movers *c, int64_t low, int64_t high)
{
    return ends_of_place(c, high - 1).to - 1 >= ends_of_place(c, low).from;
}

/* Returns the length (at least 1) of the longest round that starts at a position and
 * needs no saving. Positions may ascend or descend. */
static int64_t longest_unsaved_round(const struct journal_movers *c, int64_t place,
                                     bool back)
{
    int64_t some = 1, most = back ? place : cdf_move_total(c->before, c->after) - place;
    while (some < most) {
        int64_t n = some + (most - some + 1) / 2;
        bool good =
            back ? is_disjoint(c, place - n, place) : is_disjoint(c, place, place + n);
        if (good)
            some = n;
        else
            most = n - 1;
    }
    return some;
}

/* Returns the round that begins at a position. Every state names the area that was saved
 * last: if recording a state fails, the device may still have the previous one, so the
 * next round must be saved in the other area. */
static struct journal_state next_journal_round(const struct journal_movers *c,
                                               int64_t place, bool back)
{
    const struct journal *j = c->j;
    int64_t left = back ? place : cdf_move_total(c->before, c->after) - place;
    int64_t n = longest_unsaved_round(c, place, back), area = j->facts.area;
    struct journal_state s = {
        .phase = JOURNAL_MOVING, .back = back, .area = j->state.area};
    if (area > c->share) area = c->share;
    if (n < left && n < c->least && n < area) {
        s.saved = true;
        s.area = !s.area;
        n = area < left ? area : left;
    }
    s.low = back ? place - n : place;
    s.high = back ? place : place + n;
    return s;
}

/* Records a state on all processes; the first one writes it. Returns the agreed
 * result. */
static int record_all(const struct journal_movers *c, struct journal_state s)
{
    int err = journal_check_state(c->j, &s, cdf_move_total(c->before, c->after));
    if (err == NC_NOERR && c->first)
        err = journal_record(c->j, s);
    else
        c->j->state = s;
    return journal_agree_all(c, err);
}

static enum journal_place source_place(const struct journal_state *s)
{
    return s->back ? JOURNAL_NEW : JOURNAL_OLD;
}

/* Copies this process's share of a round's bytes into the area. Returns this process's
 * own error. */
static int save_share_all(const struct journal_movers *c, const struct journal_state *s)
{
    c->j->sum = 0;
    return c->carry_all(c->arg, s, source_place(s), JOURNAL_AREA);
}

/* Sets the checksum that is recorded with the round from the bytes that all processes
 * saved. Returns this process's own error. */
static int add_sums_all(const struct journal_movers *c, struct journal_state *s)
{
    s->sum = c->j->sum;
    int err = c->add_all(c->arg, &s->sum);
    s->sum += JOURNAL_SUM_KNOWN;
    return err;
}

/* Moves the recorded round's bytes to their target, and saves the next round's bytes if
 * needed (`next` is NULL if there is none). Flushes everything. Returns the agreed
 * result. */
static int write_next_all(const struct journal_movers *c, struct journal_state *next)
{
    const struct journal_state s = c->j->state;
    bool save = next != NULL && next->saved;
    enum journal_place to = s.back ? JOURNAL_OLD : JOURNAL_NEW;
    if (s.phase == JOURNAL_RESTORING) to = source_place(&s);
    int err = c->carry_all(c->arg, &s, s.saved ? JOURNAL_AREA : source_place(&s), to);
    int saved = save ? save_share_all(c, next) : NC_NOERR;
    int synced = c->secure_all(c->arg);
    int areas = journal_sync_areas(c->j);
    int added = save && next != NULL ? add_sums_all(c, next) : NC_NOERR;
    if (err == NC_NOERR) err = saved;
    if (err == NC_NOERR) err = synced;
    if (err == NC_NOERR) err = areas;
    return journal_agree_all(c, err != NC_NOERR ? err : added);
}

/* Saves a round's bytes while no other round is moving. Returns the agreed result. */
static int save_all(const struct journal_movers *c, struct journal_state *s)
{
    if (!s->saved) return NC_NOERR;
    int err = save_share_all(c, s);
    int synced = journal_sync_areas(c->j);
    int added = add_sums_all(c, s);
    if (err == NC_NOERR) err = synced;
    return journal_agree_all(c, err != NC_NOERR ? err : added);
}

/* Runs all rounds from position *place on. Sets *place to the position where it stopped,
 * and *begun if the round there may have been recorded. Returns the agreed result. */
static int rounds_all(const struct journal_movers *c, int64_t *place, bool back,
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

/* Writes the header that the phase requires. All processes get the same result. */
static int finish_journal_all(const struct journal_movers *c, enum journal_phase phase)
{
    int err = NC_NOERR;
    if (c->j->state.phase != phase)
        err = record_all(
            c, (struct journal_state){.phase = phase, .area = c->j->state.area});
    if (err != NC_NOERR) return err;
    return journal_agree_all(c, c->first ? journal_finish(c->j) : NC_NOERR);
}

/* Moves all bytes before `place` back to the old layout. Returns the agreed result. */
static int return_all(const struct journal_movers *c, int64_t place)
{
    bool begun;
    int err = rounds_all(c, &place, true, &begun);
    return err != NC_NOERR ? err : finish_journal_all(c, JOURNAL_RETURNING);
}

/* Fills new variables after all rounds, because new data may overwrite the last round's
 * source. */
static int commit_all(const struct journal_movers *c)
{
    int err = record_all(
        c, (struct journal_state){.phase = JOURNAL_FILLING, .area = c->j->state.area});
    if (err != NC_NOERR) return err;
    err = c->complete_all(c->arg);
    int synced = c->secure_all(c->arg);
    err = journal_agree_all(c, err != NC_NOERR ? err : synced);
    return err != NC_NOERR ? err : finish_journal_all(c, JOURNAL_COMMITTING);
}

/* Moves everything back to the old layout after an error in a round, or after all rounds.
 * All processes get the same result. */
static int roll_back_all(const struct journal_movers *c, int64_t place, bool begun)
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

int64_t journal_area_for(const struct journal_movers *c)
{
    int64_t total = cdf_move_total(c->before, c->after);
    if (longest_unsaved_round(c, 0, false) == total) return 0;
    return total < c->share ? total : c->share;
}

/* Drops the journal if a process cannot join, before anything moves. Returns the agreed
 * result. */
static int drop_all(const struct journal_movers *c, int err)
{
    if (c->first) journal_drop(c->j);
    int marked = journal_agree_all(c, c->j->pending ? NC_EFILE : NC_NOERR);
    c->j->pending = marked != NC_NOERR;
    return err;
}

int journal_move_all(struct journal_movers *c)
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
    /* The file may already have the new header. Marks the dataset, so that no program
     * reads it. */
    int marked = NC_NOERR;
    if (c->first && c->j->state.phase == JOURNAL_COMMITTING) marked = journal_mark(c->j);
    marked = journal_agree_all(c, marked);
    if (marked == NC_NOERR) marked = roll_back_all(c, place, begun);
    c->j->pending = marked != NC_NOERR;
    return err;
}

int journal_resume_all(struct journal_movers *c)
{
    const struct journal_state s = c->j->state;
    int64_t place = s.back || s.phase == JOURNAL_RESTORING ? s.low : s.high;
    bool begun;
    int joined = journal_agree_all(c, journal_join(c->j));
    if (joined != NC_NOERR) return joined;
    if (s.high > cdf_move_total(c->before, c->after) || (s.high == s.low && place > 0))
        return base_error_set(NC_ENOTNC, "the journal does not belong to this dataset");
    if (s.phase == JOURNAL_READY) return finish_journal_all(c, JOURNAL_RETURNING);
    if (s.phase == JOURNAL_FILLING) return commit_all(c);
    if (s.phase > JOURNAL_FILLING) return finish_journal_all(c, s.phase);
    if (s.high == s.low)
        return base_error_set(NC_ENOTNC,
                              "the journal contains no data for its current round");
    int err = write_next_all(c, NULL);
    if (err != NC_NOERR) return err;
    if (s.back || s.phase == JOURNAL_RESTORING) return return_all(c, place);
    err = rounds_all(c, &place, false, &begun);
    return err != NC_NOERR ? err : commit_all(c);
}
