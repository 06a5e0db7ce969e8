/* Fuzz target for datasets whose values are compressed in frames, for libFuzzer and
 * replay.c. Either the input must be rejected with an error message, or the dataset must
 * be readable and valid and must keep its values when it is compacted.
 *
 * The input consists of the length of the master file in two bytes, the master file, and
 * its subfile. The checksums of the page, the chains and the frames are corrected first,
 * because mutations would not produce valid ones. */
#define _GNU_SOURCE
#include "cdf_fuzz.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_bytes.h"
#include "base_mem.h"
#include "base_sum.h"
#include "cdf_superblock.h"
#include "pnetcdf_constants.h"
#include "subfile_frame.h"
#include "subfile_names.h"
#include "util_blob.h"
#include "util_blob_compact.h"
#include "util_message.h"

const char fuzz_corpus[] = "frames-corpus";

enum { LENGTH = 2, SUM_AT = 112, REST_AT = 640, MOST_READ = 1 << 16 };

#define CHECK(condition)                                                                 \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);      \
            abort();                                                                     \
        }                                                                                \
    } while (0)

/* ---- checksums ---- */

static uint64_t add(uint64_t sum, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(1099511628211);
    return sum;
}

static void seal_page(unsigned char *page)
{
    uint64_t sum = add(UINT64_C(14695981039346656037), page, SUM_AT);
    (void)base_put_word(page + SUM_AT,
                        add(sum, page + REST_AT, CDF_SUPERBLOCK - REST_AT));
}

static uint64_t word(const unsigned char *p)
{
    return base_get_word(&p);
}

/* Corrects the checksums of a chain of at most `left` bytes, and those of the chain's
 * frames in the log. */
static void seal_chain(unsigned char *chain, size_t left, const unsigned char *log,
                       size_t size, uint64_t seed)
{
    unsigned char *at = chain + SUBFILE_CHAIN_HEAD;
    uint64_t values = word(chain + 32) * (word(chain + 40) >> 32);
    size_t n = values > 1 << 24 ? 0 : (size_t)subfile_chain_frames((int64_t)values);
    if (left < (size_t)subfile_chain_size((int64_t)n)) return;
    for (size_t i = 0; i < n; i++, at += SUBFILE_CHAIN_FRAME) {
        uint64_t from = word(at), bytes = word(at + 8);
        if (from <= size && bytes <= size - from)
            (void)base_put_word(at + 16, base_sum(log + from, bytes, seed));
    }
    (void)base_put_word(at, base_sum(chain, (size_t)(at - chain), seed));
}

static void seal_log(unsigned char *file, size_t size, uint64_t seed)
{
    static const char mark[] = {'N', 'C', 'C', 'H', 'A', 'I', 'N', '\n'};
    struct cdf_header h;
    struct cdf_fault fault;
    int id;
    if (cdf_decode(&h, file, size, INT64_MAX, &fault) != NC_NOERR) return;
    bool found = cdf_find_var(&h, SUBFILE_VAR_FRAMES, &id) == NC_NOERR;
    size_t begin = found ? (size_t)h.vars[id].begin : size;
    for (size_t at = begin; at + SUBFILE_CHAIN_HEAD <= size; at++)
        if (memcmp(file + at, mark, sizeof mark) == 0)
            seal_chain(file + at, size - at, file + begin, size - begin, seed);
    cdf_free(&h);
}

/* ---- files ---- */

static char dir[] = "/tmp/frames_fuzz.XXXXXX";
static char master[64], subfile[64];

static void tidy(void)
{
    (void)unlink(master);
    (void)unlink(subfile);
    (void)rmdir(dir);
}

static void begin(void)
{
    if (master[0] != '\0') return;
    CHECK(mkdtemp(dir) != NULL);
    snprintf(master, sizeof master, "%s/m", dir);
    snprintf(subfile, sizeof subfile, "%s/m.0000", dir);
    CHECK(atexit(tidy) == 0);
    util_mute(true);
}

static void write_file(const char *path, const unsigned char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n && close(fd) == 0);
}

/* ---- the dataset ---- */

static void ignore(void *to, const char *path, const char *reason)
{
    (void)to;
    CHECK(reason != NULL && *reason != '\0');
    CHECK(path == NULL || *path != '\0');
}

/* Reads the first bytes of the dataset. Returns the number of bytes, or -1 after an
 * error, in which case there must be an error message. */
static int64_t read_dataset(struct util_classic *c, unsigned char *bytes)
{
    int64_t got = util_classic_read(c, 0, bytes, MOST_READ);
    CHECK(got >= 0 || *util_classic_why(c) != '\0');
    return got;
}

static bool check_dataset(struct util_classic *c)
{
    struct util_progress progress;
    struct util_blob_sums sums;
    bool good = util_blob_check(c, ignore, NULL) == 0;
    util_progress_start(&progress, "fuzz", 0);
    good = util_blob_check_sums(c, 0, 1, ignore, NULL, &progress, &sums) == 0 && good;
    CHECK(sums.wrong == 0 || !good);
    return good;
}

/* Replaces the subfile with its compacted copy. */
static bool compact(struct util_classic *c, int64_t size)
{
    int64_t saved = 0;
    int fd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    CHECK(fd >= 0);
    bool good = !util_blob_is_empty(c, 0) &&
                util_blob_compact(c, 0, fd, "new", &saved) == NC_NOERR;
    off_t n = lseek(fd, 0, SEEK_END);
    unsigned char *bytes = good ? malloc((size_t)n + 1) : NULL;
    if (good) {
        CHECK(n <= 2 * size + 65536);
        CHECK(pread(fd, bytes, (size_t)n, 0) == n);
        write_file(subfile, bytes, (size_t)n);
    }
    free(bytes);
    close(fd);
    return good;
}

static void check_files(int64_t size)
{
    static unsigned char bytes[2][MOST_READ];
    struct util_classic c;
    if (util_classic_open(&c, "fuzz", master) != 0) return;
    bool framed = util_blob_has_frames(&c), good = c.blob != NULL && check_dataset(&c);
    int64_t had = read_dataset(&c, bytes[0]);
    good = framed && compact(&c, size) && good;
    util_classic_close(&c);
    if (!good || had < 0) return;
    CHECK(util_classic_open(&c, "fuzz", master) == 0);
    CHECK(check_dataset(&c));
    CHECK(read_dataset(&c, bytes[1]) == had);
    CHECK(memcmp(bytes[0], bytes[1], (size_t)had) == 0);
    util_classic_close(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t memory = base_mem_in_use();
    begin();
    if (size < LENGTH + CDF_SUPERBLOCK) return 0;
    size_t first = (size_t)(data[0] << 8 | data[1]), left = size - LENGTH;
    unsigned char *bytes = malloc(left);
    CHECK(bytes != NULL);
    memcpy(bytes, data + LENGTH, left);
    if (first > left) first = left;
    if (first >= CDF_SUPERBLOCK) {
        seal_page(bytes);
        seal_log(bytes + first, left - first, word(bytes + 16) ^ word(bytes + 24));
    }
    write_file(master, bytes, first);
    write_file(subfile, bytes + first, left - first);
    free(bytes);
    check_files((int64_t)size);
    CHECK(base_mem_in_use() == memory);
    return 0;
}
