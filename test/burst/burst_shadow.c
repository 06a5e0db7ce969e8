/* Implements burst_shadow.h. The test's files are small, so each of them is read and
 * written as a whole. */
#include "burst_shadow.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, NAMES = 64 };

struct bytes {
    unsigned char *at;
    size_t n;
};

static void fail(const char *what)
{
    perror(what);
    _exit(98);
}

/* Reads a whole file. Returns NULL and 0 bytes if the file does not exist. */
static struct bytes read_whole(const char *path)
{
    struct bytes b = {NULL, 0};
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0) return b;
    if (fstat(fd, &st) != 0) fail(path);
    b.at = calloc(1, (size_t)st.st_size + 1);
    if (b.at == NULL) fail("memory");
    ssize_t n = read(fd, b.at, (size_t)st.st_size);
    if (n < 0) fail(path);
    b.n = (size_t)n;
    close(fd);
    return b;
}

/* Overwrites the file in place, because datasets are identified by their inode. */
static void write_whole(const char *path, struct bytes b)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) fail(path);
    for (size_t done = 0; done < b.n;) {
        ssize_t n = write(fd, b.at + done, b.n - done);
        if (n <= 0) fail(path);
        done += (size_t)n;
    }
    close(fd);
}

/* Writes a temporary file first, because the process may be killed at any time. */
static void replace(const char *path, struct bytes b)
{
    char temporary[4096 + 8];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    write_whole(temporary, b);
    if (rename(temporary, path) != 0) fail(path);
}

static void grow(struct bytes *b, size_t n)
{
    if (n <= b->n) return;
    b->at = realloc(b->at, n);
    if (b->at == NULL) fail("memory");
    memset(b->at + b->n, 0, n - b->n);
    b->n = n;
}

static void copy_range(struct bytes *to, const unsigned char *from, size_t at, size_t n)
{
    grow(to, at + n);
    memcpy(to->at + at, from, n);
}

static void image_path(const char *shadow, unsigned long inode, char *path, size_t size)
{
    snprintf(path, size, "%s/%lu", shadow, inode);
}

/* Locks the shadow, so that only one process at a time uses it. */
static int lock(const char *shadow)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lock", shadow);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || flock(fd, LOCK_EX) != 0) fail(path);
    return fd;
}

/* ---- names ---- */

struct names {
    int n;
    struct {
        char name[256];
        unsigned long inode;
    } of[NAMES];
};

static void list(const char *directory, struct names *names)
{
    DIR *d = opendir(directory);
    struct dirent *e;
    names->n = 0;
    if (d == NULL) fail(directory);
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.') continue;
        if (names->n == NAMES) fail("too many files");
        snprintf(names->of[names->n].name, sizeof names->of[0].name, "%s", e->d_name);
        names->of[names->n++].inode = e->d_ino;
    }
    closedir(d);
}

static unsigned long inode_of(const struct names *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->of[i].name, name) == 0) return names->of[i].inode;
    return 0;
}

/* ---- calls while the program is running ---- */

void burst_shadow_sync(int fd)
{
    const char *shadow = getenv("BURST_SHADOW");
    char link[64], path[4096];
    struct stat st;
    if (shadow == NULL) return;
    int locked = lock(shadow);
    if (fstat(fd, &st) != 0) fail("fstat");
    if (S_ISDIR(st.st_mode)) {
        struct names names;
        list(getenv("BURST_CALLS_DIR"), &names);
        snprintf(path, sizeof path, "%s/names", shadow);
        replace(path, (struct bytes){(unsigned char *)&names, sizeof names});
    } else {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        image_path(shadow, st.st_ino, path, sizeof path);
        struct bytes b = read_whole(link);
        replace(path, b);
        free(b.at);
    }
    close(locked);
}

void burst_shadow_range(int fd, long at, size_t length)
{
    const char *shadow = getenv("BURST_SHADOW");
    char link[64], path[4096];
    struct stat st;
    if (shadow == NULL) return;
    int locked = lock(shadow);
    if (fstat(fd, &st) != 0) fail("fstat");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    struct bytes now = read_whole(link);
    image_path(shadow, st.st_ino, path, sizeof path);
    struct bytes image = read_whole(path);
    size_t low = (size_t)at / PAGE * PAGE,
           high = ((size_t)at + length + PAGE - 1) / PAGE * PAGE;
    if (high > now.n) high = now.n;
    if (low < high) copy_range(&image, now.at + low, low, high - low);
    if (image.at != NULL) replace(path, image);
    free(now.at);
    free(image.at);
    close(locked);
}

/* Finds the file that is mapped at an address, and the offset of the address in the
 * file. */
static bool mapped_there(const void *address, unsigned long *inode, size_t *offset)
{
    char line[4600];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        unsigned long from, to, at;
        if (sscanf(line, "%lx-%lx %*s %lx %*s %lu", &from, &to, &at, inode) != 4)
            continue;
        found = (uintptr_t)address >= from && (uintptr_t)address < to && *inode != 0;
        *offset = at + ((uintptr_t)address - from);
    }
    if (f != NULL) fclose(f);
    return found;
}

void burst_shadow_msync(const void *address, size_t length)
{
    const char *shadow = getenv("BURST_SHADOW");
    char path[4096];
    unsigned long inode;
    size_t offset;
    if (shadow == NULL || !mapped_there(address, &inode, &offset)) return;
    int locked = lock(shadow);
    image_path(shadow, inode, path, sizeof path);
    struct bytes b = read_whole(path);
    copy_range(&b, address, offset, length);
    replace(path, b);
    free(b.at);
    close(locked);
}

/* Copies each page of `now` to `image` with probability 1 / chance. */
static void some_pages(struct bytes *image, struct bytes now, unsigned *seed, int chance)
{
    for (size_t at = 0; at < now.n; at += PAGE) {
        size_t n = now.n - at < PAGE ? now.n - at : PAGE;
        if (rand_r(seed) % chance == 0) copy_range(image, now.at + at, at, n);
    }
}

void burst_shadow_write_back(int call)
{
    const char *shadow = getenv("BURST_SHADOW"), *word = getenv("BURST_SHADOW_SEED");
    const char *directory = getenv("BURST_CALLS_DIR");
    unsigned seed = (unsigned)(word == NULL ? 0 : atoi(word)) * 7919u + (unsigned)call;
    struct names names;
    char path[4096];
    if (shadow == NULL || word == NULL || rand_r(&seed) % 4 != 0) return;
    int locked = lock(shadow);
    list(directory, &names);
    for (int i = 0; i < names.n; i++) {
        if (rand_r(&seed) % 2 == 0) continue;
        snprintf(path, sizeof path, "%s/%s", directory, names.of[i].name);
        struct bytes now = read_whole(path);
        image_path(shadow, names.of[i].inode, path, sizeof path);
        struct bytes image = read_whole(path);
        some_pages(&image, now, &seed, 3);
        if (image.at != NULL) replace(path, image);
        free(now.at);
        free(image.at);
    }
    close(locked);
}

/* ---- restoring after the power cut ---- */

/* The contents of a file after the power cut. They are held in memory, because all files
 * must be read before the first one is written. */
struct file {
    const char *name;
    bool there;
    struct bytes bytes;
};

static void find_file(const char *shadow, const char *directory, unsigned long inode,
                      bool lives, unsigned *seed, struct file *f)
{
    char path[4096];
    image_path(shadow, inode, path, sizeof path);
    f->there = inode != 0;
    f->bytes = read_whole(path);
    if (!lives || *seed == 0) return;
    snprintf(path, sizeof path, "%s/%s", directory, f->name);
    struct bytes now = read_whole(path);
    some_pages(&f->bytes, now, seed, 2);
    free(now.at);
}

/* Copies all files in their current state to the shadow directory, as if everything had
 * been synced. This is the initial state for the next simulated power cut. */
static void start_over(const char *shadow, const char *directory)
{
    struct names names;
    char path[4096];
    list(shadow, &names);
    for (int i = 0; i < names.n; i++) {
        snprintf(path, sizeof path, "%s/%s", shadow, names.of[i].name);
        unlink(path);
    }
    list(directory, &names);
    snprintf(path, sizeof path, "%s/names", shadow);
    replace(path, (struct bytes){(unsigned char *)&names, sizeof names});
    for (int i = 0; i < names.n; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names.of[i].name);
        struct bytes b = read_whole(path);
        image_path(shadow, names.of[i].inode, path, sizeof path);
        replace(path, b);
        free(b.at);
    }
}

int burst_shadow_restore(const char *shadow, const char *directory, unsigned seed)
{
    struct names now, synced = {.n = 0};
    struct file files[2 * NAMES];
    char path[4096];
    int n = 0;
    list(directory, &now);
    snprintf(path, sizeof path, "%s/names", shadow);
    struct bytes b = read_whole(path);
    if (b.n == sizeof synced) memcpy(&synced, b.at, sizeof synced);
    free(b.at);
    for (int i = 0; i < now.n + synced.n; i++) {
        bool old = i >= now.n;
        struct file *f = &files[n];
        f->name = old ? synced.of[i - now.n].name : now.of[i].name;
        unsigned long is = inode_of(&now, f->name), was = inode_of(&synced, f->name);
        if (old && is != 0) continue; /* already handled as a current name */
        unsigned long inode = seed != 0 && rand_r(&seed) % 2 == 0 ? is : was;
        find_file(shadow, directory, inode, inode != 0 && inode == is, &seed, f);
        n++;
    }
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i].name);
        if (files[i].there)
            write_whole(path, files[i].bytes);
        else
            unlink(path);
        free(files[i].bytes.at);
    }
    start_over(shadow, directory);
    return 0;
}
