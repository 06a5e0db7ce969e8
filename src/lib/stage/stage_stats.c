/* Counts staging events. All threads increment struct stage_counts. Only the calling
 * thread adds these counters to the dataset's statistics. */
#include "stage.h"
#include "stage_nodes.h"

static void move_count(_Atomic int64_t *from, int64_t *to)
{
    *to += atomic_exchange(from, 0);
}

void stage_stats_add(struct stage *s)
{
    struct trace_stats *stats = &s->ds->stats;
    move_count(&s->counts.source_reads, &stats->file_reads);
    move_count(&s->counts.source_bytes, &stats->file_read_bytes);
    move_count(&s->counts.copied, &stats->stage_copied_bytes);
    move_count(&s->counts.dropped, &stats->stage_dropped);
    move_count(&s->counts.failed, &stats->stage_fallbacks);
    move_count(&s->counts.ahead, &stats->stage_ahead_bytes);
    move_count(&s->counts.far, &stats->stage_far_bytes);
    move_count(&s->counts.mirrored, &stats->stage_mirror_bytes);
    move_count(&s->counts.unanswered, &stats->stage_unanswered);
    stats->stage_given_bytes += stage_server_bytes_served(s);
    stats->stage_waiting_bytes = atomic_load(&s->counts.waiting);
}
