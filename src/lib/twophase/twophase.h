/* Two-phase exchange: values of many processes to and from large blocks of the file.
 *
 * Also known as collective buffering (MPI-IO's term) or two-phase I/O: in one phase
 * values travel to the processes that will write them, in the other these aggregators
 * write large pieces. The part of the file that an aggregator looks after is its file
 * domain; here it is a node that has one, and several of its processes write. That values
 * are first put together within a node, so that nodes rather than processes exchange
 * messages, is intra-node aggregation. To read holes and write them back in order to
 * write one large piece is data sieving.
 *
 * A put by two nodes of four processes each. Values of p0 to p7 are anywhere in the
 * part of the file that the call moves; nodes know each other's domains without
 * asking:
 *
 *               node 0                                             node 1
 *       p0     p1     p2     p3                             p4     p5     p6     p7
 *        |      |      |      |   1  gathered, converted     |      |      |      |
 *        v      v      v      v                              v      v      v      v
 *     +--------------------+-------------+        +-------------+--------------------+
 *     | a block of domain  | areas: what |        | areas: what | a block of domain  |
 *     | 0, and its marks   | is node 1's |        | is node 0's | 1, and its marks   |
 *     +--------------------+-------------+        +-------------+--------------------+
 *        |        ^               |                      |               ^        |
 *        |        |               +--> p1 == message => p5 --- places ---+        |
 *        |        +--- places ------- p1 <= message == p5 <--+                    |
 *        |                                  2                                     |
 *        | 3  p2 and p3: whole stripes             p6 and p7: whole stripes   3   |
 *        v                                                                        v
 *     +--------------------------------------+--------------------------------------+
 *     | file domain 0: whole stripes         | file domain 1: whole stripes         |
 *     +--------------------------------------+--------------------------------------+
 *
 * All of this is one round. While p2 and p3 write the block, everybody puts values of
 * the next round into the other buffer.
 *
 * Survey and choice. access_survey finds what each request amounts to (bounds, pieces,
 * bytes, of which power of 2 all places are multiples, whether it goes upwards in the
 * file) without walking it. mpio_is_long calls a request long if its pieces have 8 KiB
 * or more on average; with several nodes and known stripes, if it is one run of two
 * stripes or more, since two nodes that write to one stripe wait for each other's lock,
 * which such a run has at its ends alone. A process's short requests go together with
 * others' if they are many, 32 pieces or more, and not too far apart; where stripes are
 * known and there are several nodes, always. Its long ones go directly, in the same
 * call: those of stripes a stripe at a time, from another server on than the runs
 * before them (mpio_run), and only if the agreement does not show that processes move
 * the same bytes, or some much more than others. Puts that may overlap go one way, or
 * the later one would not hold. A file type of the caller that does not go
 * upwards goes directly, and if it is short or may overlap, the others of the
 * process's call with it. Of a varn whose segments are runs of bytes, mostly in the
 * order of the file, api_runs makes one raw request, or one for each stretch that
 * ascends: 16 bytes a segment.
 *
 * Domains (twophase_domain). What is moved together is cut into blocks, at multiples
 * of their size in the file, and each node (or cb_nodes of them) gets a row of blocks,
 * all of them as many, the last one what is left. A block is one stripe or several: so
 * many that all nodes' blocks of a round keep every server busy, if it is known how
 * many there are, else as many as fit into a buffer. Where neighbouring nodes would be
 * at one server at once, they begin with another block of their domain, which spreads
 * them evenly because domains are equally long. Where no such rule holds, because
 * blocks do not divide the servers, some sizes and ways to begin are tried by counting
 * (try_sizes). Of 40 nodes and 32 servers 32 have a domain: with 40, a round would
 * last until eight servers had moved two blocks. A call of at most a block a node
 * finds the same part of the file with the same node each time. Where stripes are not
 * known, domains begin at multiples of 64 KiB; where one does not fit into a buffer,
 * at multiples of the buffer's size, so that two nodes may share a stripe. One node
 * alone has one domain, in blocks as large as a buffer. A short call, of two blocks a
 * node at most, would be over before anything overlaps: where stripes are known, and
 * there are two for each node, they are dealt out to the nodes, some in a row, each a
 * domain of its own, and a round moves a quarter of every stripe, of neighbours
 * different ones, so that all nodes have something to send; a node's blocks of a round
 * lie in lanes, side by side in its buffer. So while a part is written the next one is
 * exchanged, and every server is at work from the first round on. Everybody computes
 * all this from what the agreement told.
 *
 * Window (twophase_window). When data first goes together, the processes of each node
 * (those that node_find_all finds: once a dataset, for all its layers) make an MPI-3
 * shared window, which takes a few agreements, once; where it cannot be had, all go
 * direct. In it are, for two rounds by turns: a buffer, which holds a block, and its
 * marks, a byte for each 1 to 64 bytes of the file, as all places allow; with several
 * nodes an area for each process, for what it has for other nodes; a slot for each
 * process, where it says what it has; and counters, which only go up, on which those
 * who wait sleep. Nothing else keeps processes of a node in step: no locks, no
 * barriers of MPI. twophase.c begins with the reasons why that is safe. node_kept
 * keeps up to two windows of closed datasets for the next ones of the same processes,
 * until MPI ends: making one takes milliseconds.
 *
 * Walking (access_walk, access_place). No piece is listed and none sorted: only the
 * requests are, by the block they begin in and about how many they span (a stable
 * radix sort), and up to 64 keep a cursor. In a block they go by their number, so that
 * of overlapping puts of a process the last one holds. A value that is put and lies in
 * two blocks is cut; one that is got belongs to the block its first byte is in, so
 * that 8 bytes more are read.
 *
 * Messages (twophase_pack, twophase_exchange). What is for another node is packed into
 * the process's area, already converted, as a row of records: a head of 16 bytes for a
 * strip of runs of one length, whatever their number; a head and 4 bytes a run for
 * lists of short ones; then the values. What does not fit waits for the next step of
 * the same round. Some processes of each node exchange messages with other nodes, as
 * many on every node; their like form a column, a communicator with one process of
 * each node. Pairs of nodes are dealt out to the columns as to the rounds of a
 * tournament, so that no node has two of them in one column as long as there are
 * columns enough; where there are more, several share what a pair has to exchange.
 * Such a process makes messages of what the processes of its node have for another
 * one, each an eighth of an area unless a single process has more, sent from where it
 * lies: one is unpacked while the next is under way. Before, it must know how many
 * messages come to it: in a step for each power of two below the number of nodes, each
 * process of a column tells another one what is on its way through there, so that this
 * takes log2(nodes) short messages, no list of all nodes, and no message where there
 * are no values. By the same messages all learn which round comes next, and rounds
 * that nobody has values in are left out. Who receives a message puts the values to
 * their places in the block and marks them.
 *
 * Writing (twophase_cover). When all of a round has come, the processes that store
 * write the block, each a row of whole stripes (of pages, where a stripe is more than
 * half a buffer), 64 KiB at least. With one node all of it store. With several, half
 * of each node's processes do (nc_num_aggrs_per_node: so many), those with the highest
 * ranks, and the first ones exchange, so that files and messages do not wait for each
 * other; a process that is a node by itself does both. What is marked is written and
 * nothing else: holes up to 2 KiB are read first, if two or more lie near each other,
 * which is safe because each byte of the domain has one writer as long as the exchange
 * lasts; where others go directly holes stay holes. What goes directly has no such
 * writer: short pieces near each other are stored through a mapping, a thousand to a
 * call, where one host has the file (file_scatter.c has the argument), else written
 * one by one.
 *
 * Gets are the same backwards. A process tells in its slot which bytes of its own
 * node's block it needs, and packs the same records for other nodes, without values:
 * questions. Those who store read what anybody needs and earlier steps of the round
 * have not read, in one piece each; the answers come back to the areas, one value
 * behind the other.
 *
 * A file error is told to all at the end: across nodes by a second agreement, within
 * one node by the slots.
 *
 * The counters of the window, and when each has come:
 *
 * - TWOPHASE_ARRIVED: a process is at a barrier of the node: marks are cleared, or a
 *   node alone is through
 * - TWOPHASE_PACKED: a process put its values into block and area, or its questions
 * - TWOPHASE_PLANNED: the node's first process knows which round comes next on all
 *   nodes
 * - TWOPHASE_MOVED: an exchanging process sent and received the messages
 *   of a step
 * - TWOPHASE_STORED: a process that stores wrote or read its share of the block
 * - TWOPHASE_ANSWERED: an exchanging process has the answers to its node's
 *   questions */
#ifndef TWOPHASE_H
#define TWOPHASE_H

#include "twophase_domain.h"
#include "access_walk.h"

/* Puts, or gets, what the walk, begun or empty, is about: all of it lies in `mine`.
 * Collective, after twophase_window_ready_all; nobody returns before all that is put is
 * written. The result is this process's own error; *io is the worst that the file or
 * messages gave anybody, the same everywhere. */
int twophase_all(struct twophase *t, struct access_walk *walk,
                 const struct access_survey *mine, const struct twophase_domains *d,
                 int *io);

/* ---- twophase_cover.c ---- */

/* Writes the bytes [low, high) of the block that are marked, and clears their marks. What
 * lies between them in the file stays. low is a multiple of 1 << shift. */
int twophase_cover_write(struct twophase *t, const struct access_block *b, int64_t low,
                         int64_t high);

#endif
