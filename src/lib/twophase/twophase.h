/* Two-phase exchange: collective puts and gets in large blocks of the file.
 *
 * In the first phase, values are sent to the processes that write them, the aggregators;
 * in the second, the aggregators write large pieces. MPI-IO calls this collective
 * buffering. A file domain is the part of the file that one aggregator writes. Here the
 * aggregator is a whole node, and several of its processes write. Values are first
 * assembled inside a node, so that messages are exchanged by nodes rather than processes
 * (intra-node aggregation). Reading the gaps between values in order to write one large
 * piece is data sieving. doc/architecture.md has a drawing of one round.
 *
 * Choice of the path
 *
 * access_extent computes the bounds, the number of pieces, the number of bytes and the
 * common alignment of each request without walking it. mpio_is_long classifies it:
 * - A request is long if its pieces average 8 KiB or more. With several nodes and a known
 *   stripe size it is long if it is a single run of at least two stripes: two nodes that
 *   write to one stripe wait for each other's lock, and such a run shares a stripe only
 *   at its ends.
 * - Short requests of a process join the exchange if they have at least 32 pieces that
 *   are not too far apart. With known stripes and several nodes they always join it.
 * - Long requests are direct, in the same call. Runs of stripes are written one stripe at
 *   a time, and different runs start at different servers (mpio_run). They still join the
 *   exchange if the agreement shows that processes move the same bytes, or that some move
 *   much more than others.
 * - If puts of one process may overlap, all of them take the same path; otherwise the
 *   later value might not take precedence.
 * - A request with a caller-supplied file type whose offsets do not ascend is direct. If
 *   it is short or may overlap, the other requests of that call are also direct.
 * - For a varn whose segments are runs of bytes mostly in file order, api_runs makes one
 *   raw request, or one for each ascending part. It takes 16 bytes per segment.
 *
 * Domains (twophase_domain)
 *
 * The range that is exchanged is cut into blocks at multiples of the block size. Each
 * node, or each of cb_nodes nodes, is assigned the same number of consecutive blocks; the
 * last node has the rest. A block consists of one or more stripes. If the number of
 * servers is known, there are enough stripes for the blocks of one round to keep every
 * server busy; otherwise, as many as fit into a buffer.
 * - Neighbouring nodes that would access the same server at the same time start with
 *   different blocks of their domains. Domains have the same length, so this spreads them
 *   evenly. If the number of servers is not a multiple of a block's stripes, try_sizes
 *   counts the collisions for some block sizes and starting points and chooses the best.
 * - With 40 nodes and 32 servers, 32 nodes have a domain. With 40 domains a round would
 *   last until eight servers had moved two blocks.
 * - In calls of at most one block per node, a part of the file always belongs to the same
 *   node.
 * - Without known stripes, domains start at multiples of 64 KiB. If a domain exceeds a
 *   buffer, they start at multiples of the buffer size; two nodes may then share a
 *   stripe.
 * - A single node has one domain, with blocks as large as a buffer.
 * - A short call (at most two blocks per node) would end before file access and messages
 *   overlap. If stripes are known and there are two for each node, each stripe becomes a
 *   domain, and each node gets several adjacent ones. A round moves a quarter of every
 *   stripe, and neighbouring stripes begin with different quarters, so that every node
 *   has values to send and every server is busy from the first round on. A node's blocks
 *   of a round are stored in lanes, side by side in its buffer.
 * Every process computes all this from the result of the agreement.
 *
 * Window (twophase_window)
 *
 * At the first exchange of a dataset the processes on each node (node_find_all) create an
 * MPI-3 shared window. That takes a few agreements, once. If it cannot be created, all
 * requests are direct. For each of two alternating rounds the window has
 * - a buffer for one block, and its marks: one byte for each 1 to 64 bytes of the file,
 *   depending on the common alignment,
 * - with several nodes, one area for each process: its values for other nodes,
 * - one slot for each process, in which it publishes its state,
 * and monotonic counters on which waiting processes sleep. Nothing else synchronizes the
 * processes on a node: neither locks nor MPI barriers. twophase.c proves that this is
 * safe. Creating a window takes milliseconds, so node_cache caches up to two windows from
 * closed datasets, for the next datasets of the same processes, until MPI ends.
 *
 * Walking (access_walk, access_place)
 *
 * Pieces are neither listed nor sorted. Only the requests are sorted, with a stable radix
 * sort, by their first block and roughly by the number of blocks that they span; up to 64
 * of them keep a cursor. Within a block, requests are processed in the order of their
 * numbers, so that the last of several overlapping puts of a process takes precedence. A
 * value of a put that crosses a block boundary is cut. A value of a get belongs to the
 * block of its first byte, so reads extend 8 bytes beyond the block.
 *
 * Messages (twophase_pack, twophase_exchange)
 *
 * Values for another node are packed into the process's area in external form, as a list
 * of records: a 16-byte head for a strip of any number of runs of the same length, or a
 * head plus 4 bytes per run for short irregular runs; then the values. Values that do not
 * fit wait for the next step of the same round.
 *
 * Some processes on each node exchange messages, the same number on every node. The j-th
 * exchanging processes on all nodes form a column, a communicator with one process from
 * each node. Pairs of nodes are assigned to columns like rounds of a tournament: if there
 * are enough columns, no node has two partners in one column; if there are more than
 * enough, several columns share the data of one pair. A message contains the data that
 * all processes on a node have for one other node, sent from where they are stored. It is
 * at most an eighth of an area unless a single process has more, so that one message is
 * unpacked while the next arrives.
 *
 * Receivers must first know how many messages to expect. For each power of two below the
 * number of nodes, there is one step in which each process of a column forwards the
 * counts that pass through it. That takes log2(nodes) short messages and no list of all
 * nodes. Nodes without values for each other exchange no further messages. The same
 * messages determine the next round in which any node has values; empty rounds are
 * skipped. The receiver stores the values in the block and marks them.
 *
 * Writing (twophase_cover)
 *
 * When all values of a round have arrived, the storing processes write the block. Each
 * writes a range of whole stripes (of pages, if a stripe exceeds half a buffer), at least
 * 64 KiB. On a single node all processes are storing processes. With several nodes, the
 * upper half of each node's ranks are (the hint nc_num_aggrs_per_node sets their number),
 * and the first ranks exchange messages, so that file access and messages overlap. A
 * process that is alone on its node does both.
 *
 * Only marked bytes are written. Gaps of up to 2 KiB are read first if at least two are
 * close together. That is safe because each byte of a domain has only one writer during
 * the exchange. Direct writes have no exclusive writer, so they never write to gaps.
 *
 * Gets
 *
 * Gets run in reverse. A process publishes in its slot which bytes of its own node's
 * block it needs, and packs records without values, the questions, for other nodes. Each
 * storing process reads its share of the bytes that any process needs, except those that
 * earlier steps of the round have read, in one piece. The answers are returned to the
 * areas as contiguous values.
 *
 * Errors
 *
 * A file error is reported to all processes at the end: across nodes by a second
 * agreement, within a node through the slots.
 *
 * Counters of the window, and what an increment means
 *
 * - TWOPHASE_ARRIVED: a process is at a node barrier: marks are cleared, or the call on a
 *   single node is complete
 * - TWOPHASE_PACKED: a process has stored its values in block and area, or packed its
 *   questions
 * - TWOPHASE_PLANNED: the node's first process knows the next round of all nodes
 * - TWOPHASE_MOVED: an exchanging process has sent and received the messages of a step
 * - TWOPHASE_STORED: a storing process has written or read its share of the block
 * - TWOPHASE_ANSWERED: an exchanging process has the answers to its node's questions */
#ifndef TWOPHASE_H
#define TWOPHASE_H

#include "twophase_domain.h"
#include "access_walk.h"

/* Puts or gets the values of a walk, which may be empty. `mine` bounds all of them.
 * Collective; requires twophase_window_ready_all. Returns after all processes' puts are
 * written. Returns this process's own error. *io is the worst I/O or message error on any
 * process, and is the same on all processes. */
int twophase_all(struct twophase *t, struct access_walk *walk,
                 const struct access_extent *mine, const struct twophase_domains *d,
                 int *io);

/* ---- twophase_cover.c ---- */

/* Writes the marked bytes of [low, high) of the block and clears their marks. Unmarked
 * bytes keep their values in the file. low is a multiple of 1 << shift. */
int twophase_cover_write(struct twophase *t, const struct access_block *b, int64_t low,
                         int64_t high);

#endif
