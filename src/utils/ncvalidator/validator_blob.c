/* Checks a dataset that has values in subfiles: whether all subfiles exist and match the
 * master file, whether their values match the checksums, and whether each subfile is a
 * valid file. */
#include <stdio.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_mem.h"
#include "base_sum.h"
#include "util_blob.h"
#include "validator.h"

struct finder {
    struct validator *v;
    cdf_report_fn *take;
};

static void found(struct finder *f, bool note, const char *path, const char *reason)
{
    char line[1400];
    struct cdf_finding finding = {
        .code = note ? NC_NOERR : NC_ENOTNC, .note = note, .offset = -1, .reason = line};
    snprintf(line, sizeof line, "%s%s%s", path, path[0] == '\0' ? "" : ": ", reason);
    f->take(f->v, &finding);
}

static void report_subfile(void *to, const char *path, const char *reason)
{
    struct finder *f = to;
    found(f, false, path == NULL || path == f->v->path ? "" : path, reason);
}

/* A subfile whose own format is being checked. */
struct inner {
    struct finder *f;
    const char *path;
};

static void take_inner(void *to, const struct cdf_finding *finding)
{
    struct inner *in = to;
    char reason[400];
    if (finding->note) return;
    snprintf(reason, sizeof reason, "offset %lld: %s", (long long)finding->offset,
             finding->reason);
    found(in->f, false, in->path, reason);
}

/* Checks the format of a subfile. Failures to open or decode it have already been
 * reported. */
static int examine_subfile(struct finder *f, const char *path)
{
    struct util_classic file;
    struct util_head head = {0};
    struct stat st;
    struct inner in = {f, path};
    int err = CDF_MORE;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return 0;
    if (st.st_size == 0) {
        found(f, true, path, "this subfile is empty: a job ended early");
        return 0;
    }
    if (util_classic_open_any(&file, VALIDATOR_TOOL, path) != 0) return 0;
    while (err == CDF_MORE && util_classic_more(&file, &head) == 0)
        err = cdf_validate(head.bytes, head.length, file.size, NULL, NULL);
    if (err == NC_NOERR)
        err = cdf_validate(head.bytes, head.length, file.size, take_inner, &in);
    base_free(head.bytes);
    util_classic_close(&file);
    return err == NC_ENOMEM ? -1 : 0;
}

/* Compares the values with their checksums. */
static void examine_values(struct finder *f, struct util_classic *file)
{
    struct util_progress progress;
    struct util_blob_sums sums;
    char line[128];
    util_progress_start(&progress, VALIDATOR_TOOL,
                        f->v->quiet ? 0 : util_blob_sum_turns(file, 0, 1));
    (void)util_blob_check_sums(file, 0, 1, report_subfile, f, &progress, &sums);
    util_progress_end(&progress);
    snprintf(line, sizeof line, "%lld of %lld blobs have no checksum",
             (long long)sums.none, (long long)sums.none + sums.right + sums.wrong);
    if (!base_can_sum())
        found(f, true, "",
              "checksums were not verified: this program was built without checksum "
              "support");
    else if (sums.none > 0)
        found(f, true, "", line);
}

int validator_subfiles(struct validator *v, struct util_classic *file,
                       cdf_report_fn *take)
{
    struct finder f = {v, take};
    bool good = util_blob_open(file, report_subfile, &f) == 0;
    if (file->blob == NULL) return 0; /* already reported */
    good = util_blob_check(file, report_subfile, &f) == 0 && good;
    if (!util_blob_is_complete(file))
        found(&f, true, "",
              "the last program that wrote to it did not close it: that program is still "
              "running or was killed");
    const char *behind = util_blob_behind(file);
    if (behind != NULL) found(&f, false, behind, UTIL_BLOB_BEHIND);
    if (good) examine_values(&f, file);
    int status = 0;
    for (int i = 0; i < util_blob_count(file) && status == 0; i++)
        status = examine_subfile(&f, util_blob_path(file, i));
    return status;
}
