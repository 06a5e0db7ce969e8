/* Reads the first page of a journal, which identifies the dataset, and the owner's
 * record. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_io.h"
#include "journal_impl.h"

const char *journal_read_facts(int fd, struct journal_facts *f, int64_t *size)
{
    unsigned char page[JOURNAL_PAGE] = {0};
    struct stat st;
    *size = -1;
    if (fstat(fd, &st) != 0) return strerror(errno);
    int64_t n = base_read_some(fd, 0, page, sizeof page);
    if (n < 0) return strerror(errno);
    *size = st.st_size;
    return journal_decode_facts(f, page, n < JOURNAL_PAGE ? n : st.st_size);
}

bool journal_same_file(const struct journal_facts *a, const struct journal_facts *b)
{
    return a->inode == b->inode &&
           (a->birth == 0 || b->birth == 0 || a->birth == b->birth);
}

bool journal_belongs(struct journal *j)
{
    const struct journal_facts of = j->facts;
    int64_t size;
    return journal_read_facts(j->fd, &j->facts, &size) == NULL &&
           journal_same_file(&j->facts, &of) && journal_read_record(j->fd, &j->lease);
}
