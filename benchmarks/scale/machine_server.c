/* Object servers. A server processes requests one at a time, in the order of arrival. In
 * between, it serves requests from other jobs, and sometimes it stalls. */
#include "machine_server.h"

#include <math.h>

enum { OTHERS, STALLS, KINDS };

struct server {
    double free_at;
    double
        next[KINDS]; /* time of the next request from another job, or of the next stall */
    uint64_t random;
};

static struct server *servers;

/* Returns a random number between 0 and 1, both excluded. */
static double random_number(struct server *s)
{
    uint64_t x = s->random += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return ((double)((x ^ (x >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double service_time(double bytes)
{
    const struct machine *m = machine_get();
    return m->server_request + bytes / m->server_rate;
}

/* Returns the mean time between two events, or 0 if there are no such events. */
static double mean_gap(int kind)
{
    const struct machine *m = machine_get();
    if (kind == STALLS) return m->stall_every;
    return m->others > 0 ? service_time(m->request_bytes) / m->others : 0;
}

static void draw_next(struct server *s, int kind)
{
    s->next[kind] -= mean_gap(kind) * log(random_number(s));
}

struct server *server_at(long number)
{
    if (servers == NULL) {
        servers = machine_grow(NULL, 0, machine_servers(), sizeof *servers);
        for (int i = 0; i < machine_servers(); i++) {
            servers[i].random = (uint64_t)machine_get()->seed * 1000003u + (uint64_t)i;
            for (int kind = 0; kind < KINDS; kind++)
                draw_next(&servers[i], kind);
        }
    }
    return &servers[number];
}

/* Serves the requests from other jobs that arrived before `time`. */
static void serve_others(struct server *s, double time)
{
    while (mean_gap(OTHERS) > 0 && s->next[OTHERS] <= time) {
        if (s->free_at < s->next[OTHERS]) s->free_at = s->next[OTHERS];
        s->free_at += service_time(machine_get()->request_bytes);
        draw_next(s, OTHERS);
    }
}

/* Returns the time at which work that begins at `begin` and takes `work` seconds is done.
 * Adds the stalls that fall into this period, including one that is in progress at its
 * beginning. */
static double with_stalls(struct server *s, double begin, double work)
{
    double stall = machine_get()->stall_time, end = begin + work;
    while (mean_gap(STALLS) > 0 && s->next[STALLS] <= end) {
        double over = s->next[STALLS] + stall;
        if (over > begin) end += s->next[STALLS] >= begin ? stall : over - begin;
        draw_next(s, STALLS);
    }
    return end;
}

double server_serve(struct server *s, int64_t n)
{
    const struct machine *m = machine_get();
    double now = machine_now() + m->file_latency / 2;
    double parts = (double)((n - 1) / (int64_t)m->request_bytes + 1);
    serve_others(s, now);
    if (s->free_at < now) s->free_at = now;
    s->free_at = with_stalls(s, s->free_at,
                             parts * m->server_request + (double)n / m->server_rate);
    return s->free_at + m->file_latency / 2;
}
