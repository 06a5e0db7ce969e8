/* A dataset whose values are partly in subfiles: are they all there, and right? */
#include <stdio.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_mem.h"
#include "util_blob.h"
#include "validator.h"

struct finder {
    struct validator *v;
    cdf_tell *take;
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

/* The format of a subfile by itself. */
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

/* What cannot be opened or decoded has been told. */
static int examine_subfile(struct finder *f, const char *path)
{
    struct util_classic file;
    struct util_head head = {0};
    struct stat st;
    struct inner in = {f, path};
    int err = CDF_MORE;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return 0;
    if (st.st_size == 0) {
        found(f, true, path,
              "this subfile has nothing, as of a job that was ended early");
        return 0;
    }
    if (util_classic_open_any(&file, VALIDATOR_TOOL, path) != 0) return 0;
    while (err == CDF_MORE && util_classic_more(&file, &head) == 0)
        err = cdf_examine(head.bytes, head.length, file.size, NULL, NULL);
    if (err == NC_NOERR)
        err = cdf_examine(head.bytes, head.length, file.size, take_inner, &in);
    base_free(head.bytes);
    util_classic_close(&file);
    return err == NC_ENOMEM ? -1 : 0;
}

int validator_subfiles(struct validator *v, struct util_classic *file, cdf_tell *take)
{
    struct finder f = {v, take};
    (void)util_blob_open(file, report_subfile, &f);
    if (file->blob == NULL) return 0; /* that has been told */
    (void)util_blob_check(file, report_subfile, &f);
    int status = 0;
    for (int i = 0; i < util_blob_count(file) && status == 0; i++)
        status = examine_subfile(&f, util_blob_path(file, i));
    return status;
}
