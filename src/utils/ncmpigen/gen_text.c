/* Text as one piece of memory. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_mem.h"
#include "gen.h"
#include "util_message.h"

/* The file lies over zeros that go on behind its end. */
static bool map(struct gen_text *t, int fd, size_t length)
{
    const size_t size = length + 1;
    void *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (zeros == MAP_FAILED) return false;
    if (mmap(zeros, length, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(zeros, size);
        return false;
    }
    *t = (struct gen_text){.text = zeros, .length = length, .mapped = size};
    return true;
}

static bool open_mapped(struct gen_text *t, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool done = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
                map(t, fd, (size_t)st.st_size);
    close(fd);
    return done;
}

int gen_text_open(struct gen_text *t, const char *path)
{
    *t = (struct gen_text){0};
    if (strcmp(path, "-") == 0) path = "/dev/stdin";
    if (open_mapped(t, path)) return 0;
    int err = cdl_load(path, &t->text, &t->length);
    return err == NC_NOERR ? 0 : gen_complain(err);
}

void gen_text_close(struct gen_text *t)
{
    if (t->mapped > 0)
        munmap(t->text, t->mapped);
    else
        base_free(t->text);
}
