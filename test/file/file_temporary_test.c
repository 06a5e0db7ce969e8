/* Tests files that have a temporary name until they are complete: a new one replaces a
 * file that a killed process has left, but never one that another process is writing, nor
 * a file that has taken the name since. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base_error.h"
#include "base_lock.h"
#include "file_temporary.h"

static char folder[64], name[3][96]; /* the temporary file, its final name, the model */
enum { FRESH, TO, MODEL };

static int make_file(const char *path, const char *text)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(strlen(text), write(fd, text, strlen(text)));
    return fd;
}

static void assert_text(const char *path, const char *text)
{
    char bytes[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(read(fd, bytes, sizeof bytes - 1) >= 0);
    assert_string_equal(text, bytes);
    close(fd);
}

enum there { NOTHING, LEFT, BUSY, SHARED, LINK };

static void only_files_that_nobody_writes_are_replaced(void **state)
{
    static const struct {
        enum there there;
        bool only;
        int rc;
    } rows[] = {
        {NOTHING, false, NC_NOERR}, {NOTHING, true, NC_NOERR},   {LEFT, false, NC_NOERR},
        {LEFT, true, NC_NOERR},     {BUSY, false, NC_EFILE},     {BUSY, true, NC_NOERR},
        {SHARED, false, NC_EFILE},  {LINK, false, NC_EBAD_FILE}, {LINK, true, NC_NOERR}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct file_descriptor made;
        enum there there = rows[i].there;
        int other = -1, model = make_file(name[MODEL], "model");
        assert_int_equal(0, fchmod(model, 0640));
        if (there == LINK) assert_int_equal(0, symlink(name[MODEL], name[FRESH]));
        if (there == LEFT || there == BUSY || there == SHARED)
            other = make_file(name[FRESH], "theirs");
        if (there == BUSY || there == SHARED)
            assert_int_equal(BASE_LOCKED,
                             base_lock_try(other, BASE_LOCK_PARTS, there == BUSY));
        assert_int_equal(rows[i].rc,
                         file_temporary_create(model, name[FRESH], rows[i].only, &made));
        if (rows[i].rc == NC_NOERR) {
            struct stat st;
            assert_int_equal(0, fstat(made.fd, &st));
            assert_int_equal(0640, st.st_mode & 07777);
            assert_text(name[FRESH], "");
            assert_true(other < 0 || !base_lock_busy(other, BASE_LOCK_PARTS));
            close(model);
            model = open(name[FRESH], O_RDWR | O_CLOEXEC);
            assert_true(base_lock_busy(model, BASE_LOCK_PARTS));
            close(made.fd);
        } else {
            assert_non_null(strstr(base_error_detail(rows[i].rc), name[FRESH]));
            assert_text(name[FRESH], there == LINK ? "model" : "theirs");
        }
        assert_text(name[MODEL], "model");
        close(model);
        if (other >= 0) close(other);
        unlink(name[FRESH]);
    }
}

static void a_file_that_has_taken_the_name_is_not_renamed(void **state)
{
    struct file_descriptor made;
    (void)state;
    for (int taken = 0; taken < 2; taken++) {
        int model = make_file(name[MODEL], "model"), to = make_file(name[TO], "old");
        assert_int_equal(NC_NOERR,
                         file_temporary_create(model, name[FRESH], false, &made));
        assert_int_equal(3, write(made.fd, "new", 3));
        if (taken) assert_int_equal(0, unlink(name[FRESH]));
        if (taken) close(make_file(name[FRESH], "theirs"));
        assert_int_equal(taken ? NC_EFILE : NC_NOERR,
                         file_temporary_rename(made.fd, name[FRESH], name[TO]));
        assert_text(name[TO], taken ? "old" : "new");
        if (taken) assert_text(name[FRESH], "theirs");
        assert_int_equal(taken ? 0 : -1, access(name[FRESH], F_OK));
        close(to);
        to = open(name[TO], O_RDWR | O_CLOEXEC);
        assert_false(base_lock_busy(to, BASE_LOCK_PARTS));
        close(made.fd);
        assert_int_equal(NC_EEXIST, file_create_like(model, name[TO], &made));
        close(to);
        close(model);
        unlink(name[FRESH]);
    }
}

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/ncmpi-temporary.XXXXXX", unit_directory());
    if (mkdtemp(folder) == NULL) return -1;
    for (int i = 0; i < 3; i++)
        snprintf(name[i], sizeof name[i], "%s/%d", folder, i);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        unlink(name[i]);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_files_that_nobody_writes_are_replaced),
        cmocka_unit_test(a_file_that_has_taken_the_name_is_not_renamed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
