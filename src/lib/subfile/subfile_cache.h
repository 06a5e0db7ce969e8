/* Reads values that are in frames: finds chains through a subfile's tables, reads the
 * chains, and expands their frames. Caches all of these for all subfiles of a dataset.
 *
 * The log only grows, and nothing in it is overwritten except the places in tables. So
 * cached chains and frames stay valid, but rows of tables become stale when another
 * process puts values. The identity of a chain is also checked, because a damaged place
 * may refer to another blob's chain. Every offset is checked against the file's size. */
#ifndef SUBFILE_CACHE_H
#define SUBFILE_CACHE_H

#include "subfile.h"
#include "subfile_frame.h"

/* A zero-initialised struct is empty and ready for use. */
struct subfile_cache {
    int64_t turn;                    /* incremented to make all cached rows stale */
    struct subfile_row *rows;        /* cached parts of table rows */
    struct subfile_entries *entries; /* cached chains and expanded frames */
    struct base_coder coder;
};

void subfile_cache_free(struct subfile_cache *cache);

/* Returns the seed that makes checksums valid only in this dataset. */
static inline uint64_t subfile_seed(const struct cdf_superblock *e)
{
    return e->token[0] ^ e->token[1];
}

/* ---- subfile_table.c ---- */

/* A blob's number, and its elements in the subfile's variable. */
struct subfile_blob {
    int64_t number, start, nelems;
};

/* Finds the blob that contains element `pos` of the subfile's variable. NC_ENOTNC if
 * there is none. */
int subfile_find_blob(struct subfile *s, int decomposition, int varid, int64_t pos,
                      struct subfile_blob *blob);
/* Sets the elements of a blob, given its number. */
int subfile_get_blob(struct subfile *s, int decomposition, int varid,
                     struct subfile_blob *blob);

/* Sets *pages to the cached offsets of the pages of a variable's table; an offset is 0 if
 * there is no page, and -1 if it is damaged. If `again`, reads such offsets once more. */
int subfile_get_pages(struct subfile *s, int varid, bool again, int64_t **pages);

/* Sets *page to the offset of the page that covers the record; 0 if there is none. */
int subfile_find_page(struct subfile *s, int varid, int64_t record, int64_t *page);

/* Returns whether the log contains the whole page. This also bounds the page's size. */
bool subfile_has_page(struct subfile *s, int level, int64_t page);

/* Finds the place of a record's chain. It has 0 bytes if the values are in the master. */
int subfile_find_place(struct subfile *s, int varid, int64_t record, int64_t blob,
                       struct subfile_place *place);

/* ---- subfile_cache.c ---- */

/* Finds the chain of one record of a blob, which is valid until the next call. Sets
 * *chain to NULL if the values are in the master. */
int subfile_find_chain(struct subfile *s, int varid, int64_t record,
                       const struct subfile_blob *blob,
                       const struct subfile_chain **chain);

/* Reads frame i of a chain and verifies its checksum, but does not expand it. The bytes
 * are valid until the next call. */
int subfile_read_frame(struct subfile *s, const struct subfile_chain *c, int64_t i,
                       const unsigned char **bytes);

/* Finds the values of frame i of a chain, in external form. They remain valid until the
 * next call. */
int subfile_find_values(struct subfile *s, const struct subfile_chain *c, int64_t i,
                        const unsigned char **values);

#endif
