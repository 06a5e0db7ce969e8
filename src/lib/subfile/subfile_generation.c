/* Compares the generations of a dataset's files. */
#include "subfile_generation.h"

#include "base_error.h"
#include "subfile_digest.h"
#include "subfile_names.h"

int subfile_generation_var(const struct cdf_header *h)
{
    int id;
    if (cdf_find_var(h, SUBFILE_VAR_GENERATION, &id) != NC_NOERR) return -1;
    const struct cdf_var *v = &h->vars[id];
    bool good = v->type == NC_INT64 && v->ndims == 1 && !v->is_record &&
                v->nelems == SUBFILE_GENERATION;
    return good ? id : -1;
}

static bool generations_fit(const struct cdf_generation *master,
                            const struct cdf_generation *sub)
{
    enum { AHEAD = 2 };
    return sub->opening == master->opening && sub->nonce == master->nonce &&
           sub->syncs >= master->syncs && sub->syncs - master->syncs <= AHEAD;
}

/* If the opening numbers are equal but the nonces differ, two copies of the dataset were
 * both opened for writing, and neither is newer. */
static const char *describe(const struct cdf_generation *master,
                            const struct cdf_generation *sub)
{
    if (sub->opening == master->opening && sub->nonce != master->nonce)
        return "it and the master file come from two copies of the dataset that were "
               "both modified";
    bool older = sub->opening < master->opening ||
                 (sub->opening == master->opening && sub->syncs < master->syncs);
    return older ? "it is older than the master file: was it restored from a copy?"
                 : "it is newer than the master file: was the master file restored from "
                   "a copy?";
}

/* Returns NULL if the generations match, or a message that describes what is wrong. A
 * subfile may be ahead by the sync that a kill interrupted, and by one more if the power
 * failed before the page reached its device. */
static const char *compare_generation(const struct cdf_superblock *e,
                                      const int64_t numbers[SUBFILE_GENERATION])
{
    const struct cdf_generation sub = {(uint64_t)numbers[0], (uint64_t)numbers[1],
                                       (uint64_t)numbers[2]};
    if (generations_fit(&e->now, &sub)) return NULL;
    if (e->stage == CDF_BEGINNING && generations_fit(&e->before, &sub)) return NULL;
    /* The header has been written, but the generation has not. */
    if (!e->defined && sub.opening == 0) return NULL;
    return describe(&e->now, &sub);
}

int subfile_generation_check(const struct subfile *s, subfile_read *read,
                             const char *master, bool *stale)
{
    enum { TRIES = 3 };
    struct cdf_superblock page = *s->facts;
    const char *wrong = "its generation is missing";
    int id = subfile_generation_var(s->h);
    for (int i = 0; id >= 0 && i < (master == NULL ? 1 : TRIES); i++) {
        int64_t numbers[SUBFILE_GENERATION] = {0};
        const struct subfile_numbers list = {id, 0, 0, SUBFILE_GENERATION, numbers};
        int64_t end = s->h->vars[id].begin + (int64_t)sizeof numbers;
        int err =
            page.defined || s->size >= end ? read(s->who, &list, 1, NC_NOERR) : NC_NOERR;
        if (err != NC_NOERR) return err;
        *stale = page.stage == CDF_COMPLETE && (uint64_t)numbers[2] == page.now.syncs;
        wrong = compare_generation(&page, numbers);
        if (wrong == NULL) return NC_NOERR;
        err = master == NULL ? NC_NOERR : subfile_read_superblock(master, &page);
        if (err != NC_NOERR) return err;
    }
    return base_error_set(NC_ENOTNC, "%s: %s", s->path, wrong);
}
