/* Defines file domains. During an exchange, each part of the file that a collective call
 * moves is assigned to one node, in whole stripes if they fit into a buffer. */
#ifndef TWOPHASE_DOMAIN_H
#define TWOPHASE_DOMAIN_H

#include "twophase_engine.h"

/* The division that all processes have agreed on. The file is cut into blocks at
 * multiples of the block size. A domain has `each` blocks; the last domain has the rest,
 * which may be more or less. A round moves one block of each domain.
 *
 * Normally a node has one domain of many stripes, in blocks of whole stripes. A short
 * call would end after one or two rounds, before file access and messages overlap. In
 * such a call each stripe becomes a domain, so a node has several, and a round moves a
 * part of every stripe. All servers are busy from the first round on, and no stripe is
 * accessed by two nodes.
 *
 * Where a server locks its part of a file as a whole (file->objects), nodes that put
 * would keep revoking each other's lock. In that case a domain consists of the blocks
 * that some of the servers store: one block in every `block_stride`. Each domain begins
 * in a different part of the file, so that all nodes have values to send. */
struct twophase_domains {
    int64_t low, high; /* bounds of all bytes that any process moves */
    int64_t unit;      /* alignment in bytes, which divides the block size: the stripe
                        * size, if known and not larger than a buffer */
    int64_t block;     /* size of a block, in bytes */
    int64_t first;     /* number of the first domain's first block */
    int64_t count;     /* number of domains */
    int64_t each;      /* number of blocks in each domain but the last */
    int64_t rounds;    /* number of blocks in the longest domain */
    int64_t period; /* the first `period` domains begin with their first block, the next
                     * `period` domains with their second, and so on, cyclically */
    int64_t
        block_stride; /* distance between a domain's blocks, in blocks; 0 if adjacent */
    int64_t stripes_per_node; /* short calls: number of adjacent stripes per node, each of
                               * which is a domain; 0 for a long call */
    int64_t lanes; /* maximum number of domains per node; their blocks share its buffer */
    int64_t pitch; /* distance between lanes in the buffer, in bytes */
    int nodes;
    int shift; /* all pieces begin and end at multiples of 1 << shift */
};

void twophase_domains_make(struct twophase_domains *d, const struct twophase *t,
                           int64_t low, int64_t high, int shift, bool put);

/* Returns the node that owns a domain. */
int twophase_domain_node(const struct twophase_domains *d, int64_t domain);
/* Return a domain's lane in its node's buffer, and the domain in a node's lane, or -1. */
int64_t twophase_domain_lane(const struct twophase_domains *d, int64_t domain);
int64_t twophase_domain_of_node(const struct twophase_domains *d, int node, int64_t lane);
/* Return a byte's domain; find a range [*from, *to) that includes all domains with bytes
 * in [low, high); return a domain's first byte at or after `offset`. */
int64_t twophase_domain_at(const struct twophase_domains *d, int64_t offset);
void twophase_domains_between(const struct twophase_domains *d, int64_t low, int64_t high,
                              int64_t *from, int64_t *to);
int64_t twophase_domain_next(const struct twophase_domains *d, int64_t domain,
                             int64_t offset);
/* Finds a domain's block in a round. The block begins at *origin, and its bytes [*low,
 * *high) are moved. Returns false if there are no such bytes. */
bool twophase_domain_block(const struct twophase_domains *d, int64_t domain,
                           int64_t round, int64_t *origin, int64_t *low, int64_t *high);

/* Finds the bytes in a domain that later rounds move. There are TWOPHASE_DOMAIN_PARTS
 * parts, in the order of rounds. Returns false if part number `part` is empty. */
enum { TWOPHASE_DOMAIN_PARTS = 3 };
bool twophase_domain_rest(const struct twophase_domains *d, int64_t domain, int64_t round,
                          int part, int64_t *low, int64_t *high);
/* Returns the round that moves a byte of a domain. */
int64_t twophase_domain_round(const struct twophase_domains *d, int64_t domain,
                              int64_t offset);

#endif
