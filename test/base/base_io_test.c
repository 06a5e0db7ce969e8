/* A file is made longer and never shorter, whatever another program adds between looking
 * and making: here the calls in between add it. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base_error.h"
#include "base_io.h"

enum { LATER = 5000 }; /* where the other program writes */

static struct {
    int error;  /* of fallocate; 0: it does as asked */
    bool other; /* another program writes before it does */
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
    strcpy(path, "/tmp/ncmpi-io.XXXXXX");
    if (access("/dev/shm", W_OK) == 0) strcpy(path, "/dev/shm/ncmpi-io.XXXXXX");
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

static void it_gets_longer(void **state)
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

static void what_another_program_adds_stays(void **state)
{
    static const int errors[] = {0, EOPNOTSUPP};
    (void)state;
    scene.other = true;
    for (int i = 0; i < 2; i++) {
        scene.error = errors[i];
        expect(100, LATER + 5);
        expect(LATER + 5, LATER + 5); /* its last byte, too */
        expect(LATER + 2, LATER + 5);
    }
    scene.other = false;
}

static void a_full_device_is_told(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_gets_longer),
        cmocka_unit_test(what_another_program_adds_stays),
        cmocka_unit_test(a_full_device_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
