/* Tests extending and writing files. base_extend must never truncate a file, even if
 * another program appends to the file after base_extend has checked its size. The test's
 * own version of fallocate simulates the other program. Writes beyond the process's file
 * size limit must fail. */
#define _GNU_SOURCE
#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base_error.h"
#include "base_io.h"

enum { LATER = 5000 }; /* offset at which the simulated other program writes */

static struct {
    int error;  /* error that fallocate returns; 0 for success */
    bool other; /* whether the other program writes just before fallocate */
} scene;

int fallocate(int fd, int mode, off_t at, off_t n)
{
    int (*next)(int, int, off_t, off_t);
    if (scene.other) assert_int_equal(5, pwrite(fd, "other", 5, LATER));
    errno = scene.error;
    if (scene.error != 0) return -1;
    *(void **)&next = dlsym(RTLD_NEXT, "fallocate");
    return next(fd, mode, at, n);
}

static int new_file(char *path)
{
    sprintf(path, "%s/ncmpi-io.XXXXXX", unit_directory());
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(3, pwrite(fd, "abc", 3, 0));
    return fd;
}

static void expect(int wanted, int64_t size)
{
    char path[64], bytes[5] = "";
    struct stat st;
    int fd = new_file(path);
    assert_int_equal(NC_NOERR, base_extend(fd, wanted, path));
    assert_int_equal(0, fstat(fd, &st));
    assert_int_equal(size, st.st_size);
    assert_int_equal(3, pread(fd, bytes, 3, 0));
    assert_memory_equal("abc", bytes, 3);
    if (scene.other) {
        assert_int_equal(5, pread(fd, bytes, 5, LATER));
        assert_memory_equal("other", bytes, 5);
    }
    close(fd);
    assert_int_equal(0, unlink(path));
}

static void extend_concurrently(void **state)
{
    static const int errors[] = {0, EOPNOTSUPP, ENOSYS};
    (void)state;
    for (int i = 0; i < 3; i++) {
        scene.error = errors[i];
        expect(100, 100);
        expect(3, 3);
        expect(1, 3);
    }
}

static void bytes_of_another_program_are_kept(void **state)
{
    static const int errors[] = {0, EOPNOTSUPP};
    (void)state;
    scene.other = true;
    for (int i = 0; i < 2; i++) {
        scene.error = errors[i];
        expect(100, LATER + 5);
        expect(LATER + 5, LATER + 5); /* the other program's write must survive */
        expect(LATER + 2, LATER + 5);
    }
    scene.other = false;
}

static void a_full_device_is_reported(void **state)
{
    char path[64];
    struct stat st;
    (void)state;
    scene.error = ENOSPC;
    int fd = new_file(path);
    assert_int_equal(NC_ENO_SPACE, base_extend(fd, 100, path));
    assert_non_null(strstr(base_error_text(NC_ENO_SPACE), path));
    assert_int_equal(0, fstat(fd, &st));
    assert_int_equal(3, st.st_size);
    scene.error = 0;
    close(fd);
    assert_int_equal(0, unlink(path));
}

/* Without the library's precautions, each of these writes would raise SIGXFSZ. */
static void no_write_exceeds_the_file_size_limit(void **state)
{
    char path[64];
    struct rlimit before, few;
    struct stat st;
    (void)state;
    int fd = new_file(path);
    assert_int_equal(0, getrlimit(RLIMIT_FSIZE, &before));
    few = before;
    few.rlim_cur = 4;
    assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &few));
    struct iovec pieces[2] = {{path, 2}, {path, 1}};
    assert_int_equal(NC_EWRITE, base_write_at(fd, 4, path, 1, path));
    assert_non_null(strstr(base_error_text(NC_EWRITE), strerror(EFBIG)));
    assert_int_equal(NC_EWRITE, base_write_pieces(fd, 2, pieces, 2, path));
    assert_int_equal(NC_EWRITE, base_resize(fd, 5, path));
    assert_int_equal(NC_EWRITE, base_extend(fd, 5, path));
    assert_false(base_write_stream(fd, path, 2));
    assert_int_equal(EFBIG, errno);
    assert_int_equal(0, fstat(fd, &st));
    assert_int_equal(3, st.st_size);
    assert_int_equal(NC_NOERR, base_write_pieces(fd, 1, pieces, 2, path));
    assert_int_equal(NC_NOERR, base_resize(fd, 4, path));
    assert_int_equal(0, setrlimit(RLIMIT_FSIZE, &before));
    close(fd);
    assert_int_equal(0, unlink(path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extend_concurrently),
        cmocka_unit_test(bytes_of_another_program_are_kept),
        cmocka_unit_test(a_full_device_is_reported),
        cmocka_unit_test(no_write_exceeds_the_file_size_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
