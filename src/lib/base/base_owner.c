/* Records the owner of an operation, and determines whether the owner is alive. */
#define _GNU_SOURCE /* gethostname */
#include "base_owner.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base_bytes.h"
#include "base_io.h"
#include "base_names.h"

/* Reads the beginning of a small file in /proc. Returns false if it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
    int fd = base_open(path, O_RDONLY);
    int64_t n = fd < 0 ? -1 : base_read_some(fd, 0, text, (int64_t)size - 1);
    if (fd >= 0) close(fd);
    text[n < 0 ? 0 : n] = '\0';
    return n > 0;
}

bool base_boot(char text[64])
{
    return read_text("/proc/sys/kernel/random/boot_id", text, 64);
}

static uint64_t boot_of_host(void)
{
    char text[64];
    if (!base_boot(text)) return 0;
    return base_hash(text, strlen(text), 0);
}

/* Returns the start time of a process, field 22 of its stat file (proc(5)), or 0 if
 * unknown. Fields are counted from the end of the process's name, which may itself
 * contain blanks and parentheses. Sets *ended if the process is a zombie, which its
 * parent has not waited for. */
static uint64_t start_of(int64_t pid, bool *ended)
{
    char path[64], text[1024];
    *ended = false;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (!read_text(path, text, sizeof text)) return 0;
    const char *at = strrchr(text, ')');
    *ended = at != NULL && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at == NULL ? 0 : strtoull(at + 1, NULL, 10);
}

/* Returns a nonzero nonce. Processes that start in the same nanosecond differ in pid or
 * host, and records that one process creates differ in the count. */
static uint64_t make_nonce(const struct base_owner *o)
{
    static atomic_uint_fast64_t count;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t seed[] = {(uint64_t)now.tv_sec,
                             (uint64_t)now.tv_nsec,
                             (uint64_t)o->pid,
                             o->started,
                             o->boot,
                             atomic_fetch_add(&count, 1)};
    uint64_t nonce = base_hash(o->host, strlen(o->host), base_hash(seed, sizeof seed, 0));
    return nonce == 0 ? 1 : nonce;
}

void base_owner_set(struct base_owner *o)
{
    bool ended;
    *o = (struct base_owner){.boot = boot_of_host(),
                             .pid = getpid(),
                             .started = start_of(getpid(), &ended),
                             .since = (int64_t)time(NULL)};
    if (gethostname(o->host, sizeof o->host) != 0) strcpy(o->host, "unknown");
    o->host[sizeof o->host - 1] = '\0';
    o->nonce = make_nonce(o);
}

uint64_t base_owner_new_nonce(void)
{
    struct base_owner o;
    base_owner_set(&o);
    return o.nonce;
}

void base_owner_encode(const struct base_owner *o, unsigned char *bytes)
{
    memset(bytes, 0, BASE_OWNER_BYTES);
    memcpy(bytes, o->host, sizeof o->host);
    unsigned char *p = bytes + sizeof o->host;
    p = base_put_word(p, o->boot);
    p = base_put_word(p, o->started);
    p = base_put_word(p, (uint64_t)o->pid);
    p = base_put_word(p, (uint64_t)o->since);
    base_put_word(p, o->nonce);
}

/* Replaces unprintable characters, because names may be printed to a terminal. */
void base_owner_decode(struct base_owner *o, const unsigned char *bytes)
{
    const unsigned char *p = bytes + sizeof o->host;
    memcpy(o->host, bytes, sizeof o->host);
    o->host[sizeof o->host - 1] = '\0';
    for (char *c = o->host; *c != '\0'; c++)
        if (!isgraph((unsigned char)*c)) *c = '?';
    o->boot = base_get_word(&p);
    o->started = base_get_word(&p);
    o->pid = (int64_t)base_get_word(&p);
    o->since = (int64_t)base_get_word(&p);
    o->nonce = base_get_word(&p);
}

/* Identifies the host by boot id and name. Many machines are called localhost, and
 * containers on one host have the same boot id but their own names and process ids. */
enum base_alive base_owner_alive(const struct base_owner *o)
{
    struct base_owner here;
    base_owner_set(&here);
    if (o->boot != here.boot || strcmp(o->host, here.host) != 0) return BASE_ELSEWHERE;
    if (o->pid <= 0 || o->pid != (pid_t)o->pid) return BASE_DEAD;
    if (kill((pid_t)o->pid, 0) != 0 && errno == ESRCH) return BASE_DEAD;
    bool ended;
    uint64_t started = start_of(o->pid, &ended);
    if (ended) return BASE_DEAD;
    bool same = started == o->started || started == 0 || o->started == 0;
    return same ? BASE_ALIVE : BASE_DEAD;
}

bool base_owner_is_self(const struct base_owner *o)
{
    return o->pid == (int64_t)getpid() && base_owner_alive(o) == BASE_ALIVE;
}

const char *base_owner_describe(const struct base_owner *o, char text[160])
{
    char when[32] = "an unknown time";
    time_t since = (time_t)o->since;
    struct tm tm;
    if (gmtime_r(&since, &tm) != NULL)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &tm);
    snprintf(text, 160, "process %lld on host %s since %s", (long long)o->pid, o->host,
             when);
    return text;
}
