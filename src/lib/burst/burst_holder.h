/* Who has a log: the job that writes it, or the process that replays it. And is it the
 * very file that the job left, or a copy? Both stand in the log's head, behind the commit
 * records. A lock (flock) decides whether the holder still lives, where the file system
 * has locks; there the record only says who it is. Where it has none, the record decides.
 * No MPI. */
#ifndef BURST_HOLDER_H
#define BURST_HOLDER_H

#include "base_owner.h"
#include "burst_format.h"

struct burst_holder {
    struct base_owner owner;
    bool replays;  /* what is in the log; false: it is what writes it */
    bool released; /* it has the log no more, though it may live */
};

/* Writes both records into the head of a new log, which is open as `fd`. */
void burst_holder_start(unsigned char *head, const struct burst_header *h, int fd);

/* Who has the log now. False: it does not say, or the record is torn. */
bool burst_holder_read(int fd, const struct burst_header *h, struct burst_holder *who);

/* Makes this process the one that replays the log; does nothing if there is no place for
 * the record, or the log may only be read: then `who` is all zero. NC_EWRITE ... */
int burst_holder_take(int fd, const struct burst_header *h, struct burst_holder *who,
                      const char *path);

/* This process, if it has the log, has it no more: another opening of its own may take
 * it, though it goes on. */
void burst_holder_release(int fd, const struct burst_header *h);

/* What the holder is at, in words, in text, which is returned. */
const char *burst_holder_words(const struct burst_holder *who, char text[256]);

/* Is the file that is open as `fd` another one than the log says it was when it was made?
 * False where nothing tells. */
bool burst_holder_copied(int fd, const struct burst_header *h);

/* From now on it is this one: nothing speaks against the copy. NC_EWRITE ... */
int burst_holder_adopt(int fd, const struct burst_header *h, const char *path);

#endif
