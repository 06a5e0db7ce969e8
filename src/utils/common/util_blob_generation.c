/* Checks whether a dataset in subfiles is complete and unchanged, and names the temporary
 * files that will replace its files. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base_error.h"
#include "base_io.h"
#include "base_mem.h"
#include "subfile_digest.h"
#include "subfile_generation.h"
#include "util_blob_impl.h"

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

/* Returns whether the header that was read is one of the two that the superblock
 * describes. */
static bool has_definitions(const struct cdf_superblock *page, const struct cdf_header *h)
{
    struct cdf_definitions is;
    if (!page->checked) return true;
    if (subfile_digest_master(h, &is) != NC_NOERR) return false;
    for (int i = 0; i < 2; i++)
        if (is.size == page->definitions[i].size && is.sum == page->definitions[i].sum)
            return true;
    return false;
}

bool util_blob_is_unchanged(const struct util_classic *c)
{
    struct cdf_superblock now;
    const struct cdf_superblock *was = &c->blob->facts;
    if (util_blob_is_foreign(c->blob)) return true;
    return subfile_read_superblock(c->path, &now) == NC_NOERR &&
           now.stage == was->stage && now.now.nonce == was->now.nonce &&
           now.now.syncs == was->now.syncs && has_definitions(&now, &c->header) &&
           now.token[0] == was->token[0] && now.token[1] == was->token[1];
}

char *util_blob_joining(const struct util_classic *c, const char *path)
{
    return subfile_join_path(path, &c->blob->facts);
}

/* The name is not longer than those of other files beside the master file. The length of
 * these was checked when the dataset was created. */
char *util_blob_compacting(const struct util_classic *c, const char *subfile)
{
    const struct cdf_superblock *e = &c->blob->facts;
    size_t size = strlen(subfile) + 24;
    char *path = base_malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s.compact-%08" PRIx32, subfile,
                 (uint32_t)(e->token[0] ^ e->token[1]));
    return path;
}
