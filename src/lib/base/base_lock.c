/* Implements locks with open file description locks, flock and POSIX record locks. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "base_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base_error.h"
#include "base_fs.h"
#include "base_number.h"

#ifdef F_OFD_SETLK

bool base_lock_is_known(void)
{
    return true;
}

/* The lock bytes are beyond the end of the largest possible file. The very last byte is
 * not used, because some file systems interpret it as "to the end". */
static struct flock lock_of(enum base_lock_place place, short type)
{
    const int64_t first = INT64_MAX - 64;
    return (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = first + (int)place, .l_len = 1};
}

enum base_locked base_lock_try(int fd, enum base_lock_place place, bool exclusive)
{
    struct flock lock = lock_of(place, exclusive ? F_WRLCK : F_RDLCK);
    while (fcntl(fd, F_OFD_SETLK, &lock) != 0) {
        if (errno == EINTR) continue;
        return errno == EAGAIN || errno == EACCES ? BASE_BUSY : BASE_LOCKLESS;
    }
    return BASE_LOCKED;
}

enum base_locked base_lock_test(int fd, enum base_lock_place place, bool exclusive)
{
    struct flock lock = lock_of(place, exclusive ? F_WRLCK : F_RDLCK);
    if (fcntl(fd, F_OFD_GETLK, &lock) != 0) return BASE_LOCKLESS;
    return lock.l_type == F_UNLCK ? BASE_LOCKED : BASE_BUSY;
}

void base_lock_release(int fd, enum base_lock_place place)
{
    struct flock lock = lock_of(place, F_UNLCK);
    while (fcntl(fd, F_OFD_SETLK, &lock) != 0 && errno == EINTR)
        continue;
}

#else

bool base_lock_is_known(void)
{
    return false;
}

enum base_locked base_lock_try(int fd, enum base_lock_place place, bool exclusive)
{
    (void)fd, (void)place, (void)exclusive;
    return BASE_LOCKLESS;
}

enum base_locked base_lock_test(int fd, enum base_lock_place place, bool exclusive)
{
    (void)fd, (void)place, (void)exclusive;
    return BASE_LOCKLESS;
}

void base_lock_release(int fd, enum base_lock_place place)
{
    (void)fd, (void)place;
}

#endif

/* Returns whether the file has been written to since the last call with the same `last`.
 * Compares st_ctim, which a writer cannot set, unlike st_mtim. */
static bool has_changed(const char *path, struct timespec *last)
{
    struct stat st;
    if (path == NULL || base_fs_stat(path, &st) != 0) return false;
    bool same = st.st_ctim.tv_sec == last->tv_sec && st.st_ctim.tv_nsec == last->tv_nsec;
    *last = st.st_ctim;
    return !same;
}

/* Waits up to `seconds` for the lock. The timeout restarts whenever the file `worked`
 * (may be NULL) is written to. The waits between attempts grow to 100 ms. */
static int wait_for(int fd, enum base_lock_place place, int seconds, const char *path,
                    const char *worked, const char *what)
{
    const int64_t second = 1000000000, patience = seconds * second;
    struct timespec last = {0};
    int64_t looked = 0;
    for (int64_t waited = 0, nap = 50000; waited < patience; waited += nap) {
        if (base_lock_try(fd, place, true) != BASE_BUSY) return NC_NOERR;
        if (waited - looked > second) {
            looked = waited;
            if (has_changed(worked, &last)) looked = waited = 0;
        }
        if (nap < waited / 100 && nap < second / 10) nap = waited / 100;
        base_sleep_us(nap / 1000);
    }
    return base_error_set(
        NC_EFILE,
        "%s: another program has been %s for %d seconds; check whether it was suspended",
        path, what, seconds);
}

int base_lock_header(int fd, const char *path)
{
    return wait_for(fd, BASE_LOCK_HEADER, 10, path, NULL, "writing the header");
}

int base_lock_name(int fd, const char *path)
{
    return wait_for(fd, BASE_LOCK_NAME, 30, path, NULL, "replacing the dataset");
}

/* The timeout is long, because waiting for a stopped owner that later resumes costs only
 * time, whereas puts could be lost otherwise. */
int base_lock_frames(int fd, const char *path, const char *master)
{
    return wait_for(fd, BASE_LOCK_FRAMES, 300, path, master,
                    "moving values to the master file");
}

enum base_locked base_lock_whole(int fd, bool exclusive)
{
    while (flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        return errno == EWOULDBLOCK ? BASE_BUSY : BASE_LOCKLESS;
    }
    return BASE_LOCKED;
}

static bool set_bytes(int fd, short type, int64_t at, int64_t n)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = (off_t)n};
    while (fcntl(fd, F_SETLKW, &lock) != 0)
        if (errno != EINTR) return false;
    return true;
}

bool base_lock_bytes(int fd, int64_t at, int64_t n)
{
    return set_bytes(fd, F_WRLCK, at, n);
}

bool base_unlock_bytes(int fd, int64_t at, int64_t n)
{
    return set_bytes(fd, F_UNLCK, at, n);
}

bool base_lock_busy(int fd, enum base_lock_place place)
{
    return base_lock_test(fd, place, true) == BASE_BUSY;
}
