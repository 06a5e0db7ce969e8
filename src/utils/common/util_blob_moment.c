/* Are the files of a dataset in subfiles of one moment, and complete? */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "base_owner.h"
#include "blob_moment.h"
#include "util_blob_impl.h"

/* A writer may have gone on since the page was read: what it says now counts, too. */
const char *util_blob_wrong_moment(struct util_blob *b, const struct util_classic *c,
                                   int number)
{
    enum { TRIES = 3 };
    struct cdf_envelope page = b->facts;
    const char *wrong = NULL;
    int id = blob_moment_var(&b->subs[number].file.header);
    if (id < 0) return "it does not say which moment it is of";
    for (int i = 0; i < TRIES; i++) {
        int64_t numbers[BLOB_MOMENT] = {0};
        const struct blob_numbers list = {id, 0, 0, BLOB_MOMENT, numbers};
        int err = util_blob_numbers(b, number, &list);
        if (err == NC_NOERR) wrong = blob_moment_wrong(&page, numbers);
        b->subs[number].behind = err == NC_NOERR && blob_moment_behind(&page, numbers);
        if (err == NC_NOERR && wrong == NULL) return NULL;
        if (err == NC_NOERR) err = blob_source_envelope(c->path, &page);
        if (err != NC_NOERR) return base_error_detail(err);
    }
    return wrong;
}

const char *util_blob_wrong_size(const struct util_blob *b, int number)
{
    const struct util_classic *file = &b->subs[number].file;
    if (b->facts.stage != CDF_COMPLETE) return NULL;
    return file->size < cdf_file_size(&file->header) ? "it was cut off" : NULL;
}

bool util_blob_is_complete(const struct util_classic *c)
{
    return util_blob_is_foreign(c->blob) || c->blob->facts.stage == CDF_COMPLETE;
}

const char *util_blob_behind(const struct util_classic *c)
{
    const struct util_blob *b = c->blob;
    for (int i = 0; i < b->facts.nsubfiles; i++)
        if (b->subs[i].there && b->subs[i].behind) return b->subs[i].path;
    return NULL;
}

bool util_blob_is_joined(const struct util_classic *c, char who[UTIL_BLOB_WHO])
{
    struct base_owner o;
    const struct cdf_envelope *e = &c->blob->facts;
    if (base_is_zero(e->joiner, sizeof e->joiner)) return false;
    base_owner_decode(&o, e->joiner);
    (void)base_owner_words(&o, who);
    return base_owner_alive(&o) != BASE_DEAD;
}

bool util_blob_is_unchanged(const struct util_classic *c)
{
    struct cdf_envelope now;
    const struct cdf_envelope *was = &c->blob->facts;
    if (util_blob_is_foreign(c->blob)) return true;
    return blob_source_envelope(c->path, &now) == NC_NOERR && now.stage == was->stage &&
           now.now.nonce == was->now.nonce && now.now.syncs == was->now.syncs &&
           now.token[0] == was->token[0] && now.token[1] == was->token[1];
}

char *util_blob_joining(const struct util_classic *c, const char *path)
{
    return blob_source_joining(path, &c->blob->facts);
}

/* Not longer than other names beside a master, which create looks at. */
char *util_blob_compacting(const struct util_classic *c, const char *subfile)
{
    const struct cdf_envelope *e = &c->blob->facts;
    size_t size = strlen(subfile) + 24;
    char *path = base_malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s.compact-%08" PRIx32, subfile,
                 (uint32_t)(e->token[0] ^ e->token[1]));
    return path;
}
