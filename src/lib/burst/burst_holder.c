/* The two records of a log's head that tell who has it and which file it is. */
#include "burst_holder.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_io.h"
#include "base_sum.h"

/* From the place on that burst_holder_at tells: the file's inode number, when it was
 * made, and a sum of both; then the owner, what it does (bits), and a sum. */
enum { REPLAYS = 1, RELEASED = 2 };
enum { ORIGIN = 16, HOLDER_AT = 64, HOLDER = BASE_OWNER_BYTES + 8, SUM = 8 };

static void seal_record(unsigned char *bytes, size_t n, uint64_t token)
{
    uint64_t sum = base_sum(bytes, n, token);
    memcpy(bytes + n, &sum, sizeof sum);
}

static bool record_is_sealed(const unsigned char *bytes, size_t n, uint64_t token)
{
    uint64_t sum;
    memcpy(&sum, bytes + n, sizeof sum);
    return sum == base_sum(bytes, n, token);
}

/* ---- the file itself ---- */

static bool describe_origin(int fd, uint64_t origin[2])
{
    struct stat st;
    if (fstat(fd, &st) != 0) return false;
    origin[0] = (uint64_t)st.st_ino;
    origin[1] = base_fs_birth(fd);
    return true;
}

bool burst_holder_copied(int fd, const struct burst_header *h)
{
    unsigned char bytes[ORIGIN + SUM];
    uint64_t then[2], now[2];
    int64_t at = burst_holder_at(h);
    if (at == 0 || base_read_some(fd, at, bytes, sizeof bytes) != sizeof bytes ||
        !record_is_sealed(bytes, ORIGIN, h->token) || !base_fs_coherent(fd) ||
        !describe_origin(fd, now))
        return false;
    memcpy(then, bytes, sizeof then);
    return then[0] != now[0] || (then[1] != 0 && now[1] != 0 && then[1] != now[1]);
}

int burst_holder_adopt(int fd, const struct burst_header *h, const char *path)
{
    unsigned char bytes[ORIGIN + SUM];
    uint64_t origin[2];
    int64_t at = burst_holder_at(h);
    if (at == 0 || base_reads_only(fd)) return NC_NOERR;
    if (!describe_origin(fd, origin))
        return base_error_system(NC_EFILE, "looking at", path);
    memcpy(bytes, origin, sizeof origin);
    seal_record(bytes, ORIGIN, h->token);
    return base_write_at(fd, at, bytes, sizeof bytes, path);
}

/* ---- who has it ---- */

static void encode(const struct burst_holder *who, uint64_t token,
                   unsigned char bytes[HOLDER + SUM])
{
    const int64_t does = (who->replays ? REPLAYS : 0) | (who->released ? RELEASED : 0);
    base_owner_encode(&who->owner, bytes);
    memcpy(bytes + BASE_OWNER_BYTES, &does, sizeof does);
    seal_record(bytes, HOLDER, token);
}

void burst_holder_start(unsigned char *head, const struct burst_header *h, int fd)
{
    struct burst_holder who = {.replays = false};
    uint64_t origin[2];
    unsigned char *at = head + burst_holder_at(h);
    if (describe_origin(fd, origin)) {
        memcpy(at, origin, sizeof origin);
        seal_record(at, ORIGIN, h->token);
    }
    base_owner_set(&who.owner);
    encode(&who, h->token, at + HOLDER_AT);
}

bool burst_holder_read(int fd, const struct burst_header *h, struct burst_holder *who)
{
    unsigned char bytes[HOLDER + SUM];
    int64_t does, at = burst_holder_at(h);
    *who = (struct burst_holder){.replays = false};
    if (at == 0 ||
        base_read_some(fd, at + HOLDER_AT, bytes, sizeof bytes) != sizeof bytes ||
        !record_is_sealed(bytes, HOLDER, h->token))
        return false;
    base_owner_decode(&who->owner, bytes);
    memcpy(&does, bytes + BASE_OWNER_BYTES, sizeof does);
    who->replays = (does & REPLAYS) != 0;
    who->released = (does & RELEASED) != 0;
    return true;
}

static int write_holder(int fd, const struct burst_header *h,
                        const struct burst_holder *who, const char *path)
{
    unsigned char bytes[HOLDER + SUM];
    encode(who, h->token, bytes);
    return base_write_at(fd, burst_holder_at(h) + HOLDER_AT, bytes, sizeof bytes, path);
}

int burst_holder_take(int fd, const struct burst_header *h, struct burst_holder *who,
                      const char *path)
{
    *who = (struct burst_holder){.replays = true};
    if (burst_holder_at(h) == 0 || base_reads_only(fd)) return NC_NOERR;
    base_owner_set(&who->owner);
    return write_holder(fd, h, who, path);
}

void burst_holder_release(int fd, const struct burst_header *h)
{
    struct burst_holder who;
    struct base_error_note words;
    if (fd < 0 || !burst_holder_read(fd, h, &who) || !base_owner_is_me(&who.owner))
        return;
    who.released = true;
    base_error_keep(&words);
    (void)write_holder(fd, h, &who, "");
    base_error_restore(&words);
}

const char *burst_holder_words(const struct burst_holder *who, char text[256])
{
    char owner[160];
    snprintf(text, 256, "is being %s by %s", who->replays ? "replayed" : "written",
             base_owner_words(&who->owner, owner));
    return text;
}
