/* Checks one file. The header is examined twice: first without reports, to determine its
 * size, and then to report the findings. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "journal.h"
#include "util_blob.h"
#include "util_message.h"
#include "validator.h"

static void put_json(struct validator *v, const struct cdf_finding *f)
{
    util_json_open(&v->j, NULL, '{');
    util_json_text(&v->j, "kind", f->note ? "note" : "violation");
    if (f->offset >= 0) util_json_int(&v->j, "offset", v->base + f->offset);
    util_json_text(&v->j, "reason", f->reason);
    util_json_bool(&v->j, "readable", f->code == NC_NOERR);
    util_json_bool(&v->j, "repairable", f->fix_length > 0);
    util_json_close(&v->j, '}');
}

static void put_text(struct validator *v, const struct cdf_finding *f)
{
    char line[2048], offset[32] = "";
    if (f->offset >= 0)
        snprintf(offset, sizeof offset, "offset %" PRId64 ": ", v->base + f->offset);
    snprintf(line, sizeof line, "%.500s: %s%s%s", v->path, offset,
             f->note ? "note: " : "", f->reason);
    util_escape_controls(line);
    util_out_print(&v->out, "%s\n", line);
}

/* Returns whether the fix for a finding only clears padding. Padding is at most 3 bytes
 * long, and all other fixes replace a number of 4 or 8 bytes. */
static bool is_padding(const struct cdf_finding *f)
{
    return f->fix_length < 4;
}

static void report_finding_to_user(void *to, const struct cdf_finding *f)
{
    struct validator *v = to;
    if (f->note)
        v->notes++;
    else
        v->violations++;
    if (f->fix_length > 0 && (is_padding(f) || !v->pad)) {
        v->fixes++;
        if (v->copy >= 0) validator_copy_fix(v, f);
    }
    if (v->quiet || (f->note && v->no_notes)) return;
    if (v->json)
        put_json(v, f);
    else
        put_text(v, f);
}

/* Reads the header of the file. Sets *apart if the file's values are in subfiles, and
 * *size to the number of bytes that its data may occupy. */
static int read_head(struct util_classic *file, struct util_head *head, int64_t *size,
                     bool *apart)
{
    int err = CDF_MORE;
    while (err == CDF_MORE) {
        if (util_classic_more(file, head) != 0) return -1;
        err = cdf_validate(head->bytes, head->length, file->size, NULL, NULL);
    }
    struct cdf_fault fault;
    *apart = err == NC_NOERR && util_classic_try(file, &fault) == 0 &&
             util_blob_is_apart(file);
    int64_t whole = *apart ? cdf_file_size(&file->header) : 0;
    *size = file->size > whole ? file->size : whole;
    if (err != NC_ENOMEM) return 0;
    util_message(VALIDATOR_TOOL, file->path, -1, "%s", base_error_text(err));
    return -1;
}

static void begin(struct validator *v)
{
    v->violations = v->notes = v->fixes = 0;
    if (v->quiet || !v->json) return;
    util_json_open(&v->j, NULL, '{');
    util_json_text(&v->j, "file", v->path);
    util_json_open(&v->j, "findings", '[');
}

static void end(struct validator *v, const struct util_head *head)
{
    if (v->quiet) return;
    if (v->json) {
        util_json_close(&v->j, ']');
        util_json_bool(&v->j, "valid", v->violations == 0);
        util_json_close(&v->j, '}');
        return;
    }
    char path[512];
    snprintf(path, sizeof path, "%s", v->path);
    util_escape_controls(path);
    if (v->violations == 0 && head->bytes != NULL)
        util_out_print(&v->out, "%s: a valid CDF-%d file\n", path, head->bytes[3]);
    else
        util_out_print(&v->out, "%s: %" PRId64 " violation%s of the format\n", path,
                       v->violations, v->violations == 1 ? "" : "s");
}

static int examine(struct validator *v, struct util_classic *file)
{
    struct util_head head = {0};
    int64_t size;
    bool apart;
    int status = read_head(file, &head, &size, &apart);
    if (status == 0) {
        begin(v);
        int err = cdf_validate(head.bytes, head.length, size, report_finding_to_user, v);
        if (err == NC_ENOMEM) status = -1;
        if (err == NC_NOERR && apart)
            status = validator_subfiles(v, file, report_finding_to_user);
        end(v, &head);
    }
    base_free(head.bytes);
    if (status != 0) return VALIDATOR_TROUBLE;
    return v->violations == 0 ? VALIDATOR_GOOD : VALIDATOR_BAD;
}

/* Checks the repaired file, because the exit status depends on its faults and not on the
 * original file's. If it was rescued, `format` is its format, otherwise 0. */
static int recheck(struct validator *v, const char *path, int format)
{
    int64_t fixes = v->fixes;
    const bool copy = v->repair != NULL;
    v->repair = NULL;
    v->pad = false;
    if (!v->quiet && !v->json && format > 0)
        util_out_print(&v->out,
                       "%s: a copy with the values that the header describes, in a valid "
                       "layout of CDF-%d\n",
                       path, format);
    else if (!v->quiet && !v->json)
        util_out_print(&v->out, "%s: %s%" PRId64 " place%s repaired\n", path,
                       copy ? "a copy with " : "", fixes, fixes == 1 ? "" : "s");
    return validator_check(v, path);
}

/* Handles -x: fixes padding in the file itself. */
static int examine_and_pad(struct validator *v, struct util_classic *file)
{
    if (validator_pad_start(v, file) != 0) return VALIDATOR_TROUBLE;
    int status = examine(v, file);
    if (validator_pad_finish(v, v->path) != 0) return VALIDATOR_TROUBLE;
    if (status == VALIDATOR_TROUBLE || v->fixes == 0) return status;
    status = recheck(v, v->path, 0);
    v->pad = true;
    return status;
}

static int examine_and_copy(struct validator *v, struct util_classic *file)
{
    int format = validator_rescue(v, file);
    if (format < 0) return VALIDATOR_TROUBLE;
    if (format == 0 && validator_copy_start(v, file) != 0) return VALIDATOR_TROUBLE;
    int status = examine(v, file);
    if (format == 0 && validator_copy_finish(v) != 0) return VALIDATOR_TROUBLE;
    if (status == VALIDATOR_TROUBLE) return status;
    if (status == VALIDATOR_GOOD || format > 0 || v->fixes > 0)
        return recheck(v, v->repair, format);
    (void)unlink(v->repair);
    if (!v->quiet && !v->json)
        util_out_print(&v->out, "%s: nothing can be repaired; no copy\n", v->path);
    return status;
}

/* Reports that the first bytes of the file are a mixture of a header and the mark of an
 * interrupted redefinition. */
static int report_torn(struct validator *v, const struct util_classic *file)
{
    const struct util_head none = {0};
    char words[512], text[600];
    snprintf(text, sizeof text, "the first 12 bytes were only partly written: %s",
             journal_describe_use(file->path, file->fd, words));
    const struct cdf_finding f = {.code = NC_ENOTNC, .reason = text};
    begin(v);
    report_finding_to_user(v, &f);
    end(v, &none);
    return VALIDATOR_BAD;
}

static bool begins_with_mark(const struct util_classic *file)
{
    unsigned char first[4] = "";
    return util_classic_read(file, 0, first, sizeof first) == sizeof first &&
           cdf_is_moving(first, sizeof first);
}

int validator_check(struct validator *v, const char *path)
{
    struct util_classic file;
    bool moving;
    v->path = path;
    v->copy = -1;
    if (util_classic_open_any(&file, VALIDATOR_TOOL, path) != 0) return VALIDATOR_TROUBLE;
    v->base = file.base;
    if (util_refuse_nc4(&file)) {
        util_classic_close(&file);
        return VALIDATOR_TROUBLE;
    }
    if (v->repair != NULL && (file.base > 0 || file.stands_in)) {
        util_message(VALIDATOR_TOOL, path, -1,
                     "its values are in subfiles; join them into one file with "
                     "ncmpijoin, and repair that file");
        util_classic_close(&file);
        return VALIDATOR_TROUBLE;
    }
    if (util_classic_check_head(&file, &moving) != 0) {
        util_classic_close(&file);
        return VALIDATOR_TROUBLE;
    }
    if (moving && v->finish > 0) {
        util_classic_close(&file);
        if (validator_finish(v, path) != 0) return VALIDATOR_TROUBLE;
        if (util_classic_open_any(&file, VALIDATOR_TOOL, path) != 0)
            return VALIDATOR_TROUBLE;
    } else if (moving && !begins_with_mark(&file)) {
        int status = report_torn(v, &file);
        util_classic_close(&file);
        return status;
    }
    int status = v->repair != NULL ? examine_and_copy(v, &file)
                 : v->pad          ? examine_and_pad(v, &file)
                                   : examine(v, &file);
    util_classic_close(&file);
    return status;
}
