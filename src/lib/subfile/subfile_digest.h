/* Checksums of the metadata that locates the values of a dataset in subfiles: the headers
 * of the master and of the subfiles, and the tables of frames. (Checksums of maps are in
 * subfile_map.h, those of chains and frames in subfile_frame.h.) Needs neither MPI nor
 * xxHash. A dataset has these checksums if its first page states so
 * (cdf_superblock.checked). In older datasets, nothing is checked.
 *
 * A subfile's header contains its own checksum as an attribute, so the two always reach
 * the file together. The master's header is an ordinary netCDF header, which other code
 * writes and journals as a whole. So the master's first page stores the checksums of the
 * header before and after a change, and is written before the header. From each close to
 * the next opening for writing, the page also stores the number of records. */
#ifndef SUBFILE_DIGEST_H
#define SUBFILE_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "cdf.h"
#include "cdf_superblock.h"

/* Read a master's first page. If the page is missing, damaged or of a later version,
 * return NC_ENOTNC or NC_ENOTBUILT with a message that names the file. */
int subfile_read_superblock(const char *master, struct cdf_superblock *e);
int subfile_read_page(int fd, const char *master, struct cdf_superblock *e);

/* ---- headers ---- */

/* Computes the checksum and the size of a master's header. NC_ENOMEM. */
int subfile_digest_master(const struct cdf_header *h, struct cdf_definitions *d);

/* Checks the header that was read from a master against the master's first page. On
 * success, definitions[0] describes this header, and h->numrecs is the valid number of
 * records. NC_ENOTNC with a message that names the file. */
int subfile_digest_check_master(struct cdf_header *h, struct cdf_superblock *e, int fd,
                                const char *path);

/* Checks the header's bytes in the open file, including those that decoding skips,
 * because a program that copies the header needs all of it intact. */
int subfile_digest_check_bytes(int format, struct cdf_superblock *e, int fd,
                               const char *path);

/* Sets the checksum attribute, which must exist, in a subfile's header. The header's
 * layout must be final. NC_ENOTATT, NC_ENOMEM. */
int subfile_digest_seal(struct cdf_header *h);

/* Checks a subfile's header against its checksum. NC_ENOTNC names the file. */
int subfile_digest_check_subfile(const struct cdf_header *h,
                                 const struct cdf_superblock *e, const char *path);

/* ---- tables of frames ---- */

/* Encodes the offset of a table's page in the log, for storage in a subfile: check bits
 * above a 48-bit offset. Returns 0 if there is no page. */
enum { SUBFILE_DIGEST_PAGE_BITS = 48, SUBFILE_DIGEST_LENGTH_BITS = 40 };
int64_t subfile_digest_encode_page(const struct cdf_superblock *e, int varid, int level,
                                   int64_t at);

/* Removes the check bits from an encoded offset. Returns false if they are wrong. */
bool subfile_digest_decode_page(const struct cdf_superblock *e, int varid, int level,
                                int64_t *at);

/* Encodes the length of a chain at offset `at` of the log, for storage in a table: check
 * bits above a 40-bit length. A length of 0 at offset 0 means that the values are in the
 * master; it has no check bits. */
int64_t subfile_digest_encode_length(const struct cdf_superblock *e, int64_t at,
                                     int64_t bytes);

/* Removes the check bits from an encoded length. Returns false if they are wrong. */
bool subfile_digest_decode_length(const struct cdf_superblock *e, int64_t at,
                                  int64_t *bytes);

#endif
