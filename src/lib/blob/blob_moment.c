/* Moments of a dataset's files. */
#include "blob_moment.h"

#include "base_error.h"
#include "blob_names.h"

int blob_moment_var(const struct cdf_header *h)
{
    int id;
    if (cdf_find_var(h, BLOB_MOMENT_NAME, &id) != NC_NOERR) return -1;
    const struct cdf_var *v = &h->vars[id];
    bool good =
        v->type == NC_INT64 && v->ndims == 1 && !v->is_record && v->nelems == BLOB_MOMENT;
    return good ? id : -1;
}

static bool moments_fit(const struct cdf_moment *master, const struct cdf_moment *sub)
{
    enum { AHEAD = 2 };
    return sub->opening == master->opening && sub->nonce == master->nonce &&
           sub->syncs >= master->syncs && sub->syncs - master->syncs <= AHEAD;
}

/* Without an order, two openings of one number are of two copies that were both written
 * on. */
static const char *words_of_moments(const struct cdf_moment *master,
                                    const struct cdf_moment *sub)
{
    if (sub->opening == master->opening && sub->nonce != master->nonce)
        return "it and the master file come from two copies of the dataset that were "
               "both written on";
    bool older = sub->opening < master->opening ||
                 (sub->opening == master->opening && sub->syncs < master->syncs);
    return older ? "it is older than the master file: was it put back from a copy?"
                 : "it is newer than the master file: was that put back from a copy?";
}

const char *blob_moment_wrong(const struct cdf_envelope *e,
                              const int64_t numbers[BLOB_MOMENT])
{
    const struct cdf_moment sub = {(uint64_t)numbers[0], (uint64_t)numbers[1],
                                   (uint64_t)numbers[2]};
    if (moments_fit(&e->now, &sub)) return NULL;
    if (e->stage == CDF_BEGINNING && moments_fit(&e->before, &sub)) return NULL;
    /* Its header was written, and its moment was not yet. */
    if (!e->defined && sub.opening == 0) return NULL;
    return words_of_moments(&e->now, &sub);
}

bool blob_moment_behind(const struct cdf_envelope *e, const int64_t numbers[BLOB_MOMENT])
{
    return e->stage == CDF_COMPLETE && (uint64_t)numbers[2] == e->now.syncs;
}
