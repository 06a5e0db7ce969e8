/* File domains: each part of the file that a collective call moves belongs to one node,
 * as long as the exchange lasts, in whole stripes, if they fit into a buffer. */
#ifndef TWOPHASE_DOMAIN_H
#define TWOPHASE_DOMAIN_H

#include "twophase_engine.h"

/* What all processes have agreed on. The file is cut into blocks, at multiples of their
 * size. A domain has `each` of them, the last one what is left, be it more or less; in a
 * round one is moved.
 *
 * A node has one domain, of many stripes, in blocks of whole ones. A short call would be
 * over after a round or two, in which nothing overlaps: its stripes are dealt out to the
 * nodes, each a domain, and a round moves a part of every stripe. So all servers are busy
 * from the first round on, and still no stripe is touched by two nodes.
 *
 * Where a server locks its part of a file as a whole (file->objects), nodes that put
 * would keep taking such a lock from each other. There a domain is what some of the
 * servers have: a block in every `apart`, each domain beginning in another part of the
 * file, so that all nodes have something to send. */
struct twophase_domains {
    int64_t low, high; /* bytes that anybody moves lie between */
    int64_t unit;      /* a block has so many bytes, or a multiple: a stripe, if it is
                        * known and fits into a buffer */
    int64_t block;     /* bytes */
    int64_t first;     /* the first domain begins with this block */
    int64_t count;
    int64_t each;
    int64_t rounds; /* that bring the longest domain to its end */
    int64_t period; /* so many domains begin with their first block, as many with the
                     * second, and so on: then they go round */
    int64_t apart;  /* a domain has a block in so many; 0: its blocks lie side by side */
    int64_t dealt; /* a stripe is a domain, and a node gets so many in a row; 0: not so */
    int64_t lanes; /* domains that a node may have: their blocks of a round lie side by
                    * side in its buffer ... */
    int64_t pitch; /* ... so many bytes apart */
    int nodes;
    int shift; /* all that is moved begins and ends at multiples of 1 << shift */
};

void twophase_domains_make(struct twophase_domains *d, const struct twophase *t,
                           int64_t low, int64_t high, int shift, bool put);

/* Whose domain it is. */
int twophase_domain_node(const struct twophase_domains *d, int64_t domain);
/* Which of its node's it is, from 0 on; and the other way round, -1: there is none. */
int64_t twophase_domain_lane(const struct twophase_domains *d, int64_t domain);
int64_t twophase_domain_of_node(const struct twophase_domains *d, int node, int64_t lane);
/* The domain that has this byte; those, from *from to before *to, that have bytes between
 * low and high, and perhaps others; the first byte from `offset` on that a domain has. */
int64_t twophase_domain_at(const struct twophase_domains *d, int64_t offset);
void twophase_domains_between(const struct twophase_domains *d, int64_t low, int64_t high,
                              int64_t *from, int64_t *to);
int64_t twophase_domain_next(const struct twophase_domains *d, int64_t domain,
                             int64_t offset);
/* The block of a round: from *origin on, of which [*low, *high) is moved; false: nothing
 * of it. */
bool twophase_domain_block(const struct twophase_domains *d, int64_t domain,
                           int64_t round, int64_t *origin, int64_t *low, int64_t *high);

/* Where the bytes of a domain lie whose rounds come after this one, in
 * TWOPHASE_DOMAIN_PARTS parts in the order of rounds. False: a part has none. */
enum { TWOPHASE_DOMAIN_PARTS = 3 };
bool twophase_domain_rest(const struct twophase_domains *d, int64_t domain, int64_t round,
                          int part, int64_t *low, int64_t *high);
/* In which round the domain comes to this byte of it. */
int64_t twophase_domain_round(const struct twophase_domains *d, int64_t domain,
                              int64_t offset);

#endif
