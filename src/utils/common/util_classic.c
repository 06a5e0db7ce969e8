/* Opens datasets for the serial tools and reads the bytes of classic ones.
 *
 * Opening a dataset determines the kind of file, decodes the header, and opens the
 * subfiles if there are any. Reads combine the bytes of the file with the values in
 * subfiles. */
#include "util_classic.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "cdf_superblock.h"
#include "journal.h"
#include "nc4.h"
#include "subfile_foreign.h"
#include "util_blob.h"
#include "util_message.h"
#include "util_nc4.h"

enum { FIRST_READ = 1 << 16, READ_GROWTH = 4 };

/* Reads from the file itself, without subfiles. */
static int64_t read_plain(const struct util_classic *c, int64_t offset, void *bytes,
                          size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t n = pread(c->fd, (char *)bytes + done, length - done,
                          (off_t)(c->base + offset + (int64_t)done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        done += (size_t)n;
    }
    return (int64_t)done;
}

int64_t util_classic_read(const struct util_classic *c, int64_t offset, void *bytes,
                          size_t length)
{
    int64_t got = util_blob_has_head(c) ? util_blob_head(c, offset, bytes, length)
                                        : read_plain(c, offset, bytes, length);
    return c->blob == NULL || got < 0 ? got
                                      : util_blob_insert(c, offset, bytes, length, got);
}

const char *util_classic_why(const struct util_classic *c)
{
    int error = errno;
    const char *words = error == EIO ? util_blob_why(c) : "";
    return words[0] != '\0' ? words : strerror(error);
}

static int complain(const char *tool, const char *path, int error)
{
    util_message(tool, path, -1, "%s", strerror(error));
    return -1;
}

int util_classic_more(struct util_classic *c, struct util_head *head)
{
    int64_t want = head->length == 0 ? FIRST_READ : (int64_t)head->length * READ_GROWTH;
    size_t length = (size_t)(want < c->size ? want : c->size);
    unsigned char *larger = base_realloc(head->bytes, length);
    if (larger == NULL) return complain(c->tool, c->path, ENOMEM);
    head->bytes = larger;
    int64_t got = util_classic_read(c, 0, larger, length);
    if (got < 0) return complain(c->tool, c->path, errno);
    if (got < (int64_t)length) c->size = got; /* the file was truncated in the meantime */
    head->length = (size_t)got;
    return 0;
}

/* Reads a growing prefix of the file until the header can be decoded. */
int util_classic_try(struct util_classic *c, struct cdf_fault *fault)
{
    struct util_head head = {0};
    int status = CDF_MORE;
    *fault = (struct cdf_fault){.offset = -1, .reason = "out of memory"};
    while (status == CDF_MORE && util_classic_more(c, &head) == 0)
        status = cdf_decode(&c->header, head.bytes, head.length, c->size, fault);
    base_free(head.bytes);
    if (status == CDF_MORE) fault->reason[0] = '\0';
    return status == NC_NOERR ? 0 : -1;
}

/* If the path names a dataset without a master file, which another library wrote, opens
 * its first subfile instead. */
static void open_stand_in(struct util_classic *c)
{
    char *first = errno == ENOENT ? subfile_foreign_first(c->path) : NULL;
    if (first == NULL) return;
    c->fd = open(first, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    c->stands_in = c->fd >= 0;
    if (c->fd < 0) errno = ENOENT;
    base_free(first);
}

int util_classic_open_any(struct util_classic *c, const char *tool, const char *path)
{
    *c = (struct util_classic){.tool = tool, .path = path};
    /* O_NONBLOCK: opening a FIFO must not wait for a writer. FIFOs are rejected below. */
    c->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (c->fd < 0) open_stand_in(c);
    if (c->fd < 0) return complain(tool, path, errno);

    struct stat st;
    int error = fstat(c->fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : 0;
    if (error != 0)
        complain(tool, path, error);
    else if (!S_ISREG(st.st_mode))
        util_message(tool, path, -1, "not a regular file");
    else {
        unsigned char first[8];
        c->size = st.st_size;
        if (util_classic_read(c, 0, first, sizeof first) == (int64_t)sizeof first &&
            cdf_is_superblock(first, sizeof first))
            c->base = CDF_SUPERBLOCK;
        c->size -= c->size < c->base ? c->size : c->base;
        return 0;
    }
    close(c->fd);
    return -1;
}

int util_classic_check_head(const struct util_classic *c, bool *moving)
{
    unsigned char first[4];
    *moving = false;
    if (util_classic_read(c, 0, first, sizeof first) != (int64_t)sizeof first) return 0;
    *moving = cdf_is_moving(first, sizeof first);
    if (first[0] != 'C' || c->stands_in) return 0;
    if (journal_check_head(c->path, moving) != NC_ENOTNC) return 0;
    util_message(c->tool, NULL, -1, "%s", base_error_detail(NC_ENOTNC));
    return -1;
}

static void report_subfile(void *to, const char *path, const char *reason)
{
    const struct util_classic *c = to;
    util_message(c->tool, path, -1, "%s", reason);
}

/* Decodes the header of a classic dataset and opens its subfiles. */
static int decode(struct util_classic *c)
{
    struct cdf_fault fault;
    bool moving;
    if (util_classic_check_head(c, &moving) != 0) return -1;
    if (moving) {
        char text[512];
        util_message(c->tool, c->path, -1, "%s",
                     journal_describe_use(c->path, c->fd, text));
        return -1;
    }
    int status = util_classic_try(c, &fault);
    if (status != 0 && fault.reason[0] != '\0')
        util_message(c->tool, c->path, fault.offset, "%s", fault.reason);
    return status == 0 && util_blob_is_apart(c) ? util_blob_open(c, report_subfile, c)
                                                : status;
}

int util_classic_open(struct util_classic *c, const char *tool, const char *path)
{
    if (util_classic_open_any(c, tool, path) != 0) return -1;
    int status = util_refuse_nc4(c) ? -1 : decode(c);
    if (status != 0) util_classic_close(c);
    return status;
}

int util_open(struct util_classic *c, const char *tool, const char *path)
{
    if (util_classic_open_any(c, tool, path) != 0) return -1;
    int status = util_nc4_is(c) ? util_nc4_open(c) : decode(c);
    if (status != 0) util_classic_close(c);
    return status;
}

int util_format(const struct util_classic *c)
{
    return c->nc4 == NULL ? c->header.format : util_nc4_format(c);
}

bool util_is_limitless(const struct util_classic *c, int dimid)
{
    return c->nc4 == NULL ? dimid == c->header.unlimited
                          : nc4_is_limitless(c->nc4, dimid);
}

bool util_refuse_nc4(const struct util_classic *c)
{
    if (!util_nc4_is(c)) return false;
    util_message(c->tool, c->path, -1,
                 "a netCDF-4 (HDF5) file, which this tool does not support; show it with "
                 "ncmpidump or h5dump, or convert it with ncmpicopy -k cdf5");
    return true;
}

void util_classic_close(struct util_classic *c)
{
    util_blob_close(c);
    util_nc4_close(c);
    cdf_free(&c->header);
    close(c->fd);
}
