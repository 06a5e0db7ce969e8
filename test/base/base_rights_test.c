/* Tests the permissions of a file that is created on behalf of another file (the model).
 * The new file must never have more permissions than the model. */
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base_error.h"
#include "base_rights.h"

enum { OTHER_GROUP = 1, BOB = 4321 };

/* The model, and a file that is created with the same permissions. */
struct pair {
    char folder[64];
    int model, made;
};

static int new_file(const struct pair *p, const char *name, mode_t mode)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", p->folder, name);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    return fd;
}

static struct pair pair_of(mode_t mode)
{
    struct pair p;
    snprintf(p.folder, sizeof p.folder, "%s/ncmpi-rights.XXXXXX", unit_directory());
    assert_non_null(mkdtemp(p.folder));
    p.model = new_file(&p, "model", 0600);
    assert_int_equal(0, fchmod(p.model, mode));
    p.made = new_file(&p, "made", BASE_RIGHTS_PRIVATE);
    return p;
}

static void end_pair(struct pair *p)
{
    char path[96];
    close(p->model);
    close(p->made);
    snprintf(path, sizeof path, "%s/model", p->folder);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/made", p->folder);
    (void)unlink(path);
    assert_int_equal(0, rmdir(p->folder));
}

static struct stat facts_of(int fd)
{
    struct stat st;
    assert_int_equal(0, fstat(fd, &st));
    return st;
}

static mode_t mode_of(int fd)
{
    return facts_of(fd).st_mode & 07777;
}

static void the_mode_is_copied(void **state)
{
    static const mode_t modes[] = {0600, 0640, 0644, 0660, 0664, 0666, 0400, 0755};
    (void)state;
    mode_t mask = umask(077); /* the umask must have no effect */
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct pair p = pair_of(modes[i]);
        assert_int_equal(NC_NOERR, base_rights_copy(p.model, p.made, "made"));
        assert_int_equal(modes[i], mode_of(p.made));
        end_pair(&p);
    }
    umask(mask);
}

static void other_bits_are_not_copied(void **state)
{
    (void)state;
    struct pair p = pair_of(06755);
    assert_int_equal(NC_NOERR, base_rights_copy(p.model, p.made, "made"));
    assert_int_equal(0755, mode_of(p.made));
    end_pair(&p);
}

static void group_and_owner_are_copied(void **state)
{
    (void)state;
    if (geteuid() != 0) skip();
    struct pair p = pair_of(0640);
    assert_int_equal(0, fchown(p.model, BOB, OTHER_GROUP));
    assert_int_equal(NC_NOERR, base_rights_copy(p.model, p.made, "made"));
    assert_int_equal(BOB, facts_of(p.made).st_uid);
    assert_int_equal(OTHER_GROUP, facts_of(p.made).st_gid);
    assert_int_equal(0640, mode_of(p.made));
    end_pair(&p);
}

/* Runs as a user who is not a member of the model's group. */
static void rights_shrink_if_the_group_cannot_be_set(void **state)
{
    static const mode_t modes[][2] = {
        {0640, 0600}, {0644, 0644}, {0664, 0644}, {0604, 0600}, {0660, 0600}};
    (void)state;
    if (geteuid() != 0) skip();
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        struct pair p = pair_of(modes[i][0]);
        assert_int_equal(0, fchown(p.model, 0, OTHER_GROUP));
        assert_int_equal(0, fchown(p.made, BOB, BOB));
        assert_int_equal(0, seteuid(BOB));
        int err = base_rights_copy(p.model, p.made, "made");
        assert_int_equal(0, seteuid(0));
        assert_int_equal(NC_NOERR, err);
        assert_int_equal(modes[i][1], mode_of(p.made));
        end_pair(&p);
    }
}

/* ---- access control lists ---- */

static const char list_name[] = "system.posix_acl_access";

/* Encodes an access control list as the kernel does (acl(5), little-endian). Its entries
 * are for the owner, a given user, the group, the mask, and all others. */
static size_t make_list(unsigned char *list, uint32_t user, const unsigned char *rights)
{
    static const unsigned char tags[] = {1, 2, 4, 0x10, 0x20};
    memcpy(list, "\2\0\0\0", 4);
    for (int i = 0; i < 5; i++) {
        unsigned char *entry = list + 4 + 8 * i;
        memcpy(entry, (unsigned char[]){tags[i], 0, rights[i], 0}, 4);
        memset(entry + 4, 0xff, 4);
        for (int b = 0; b < 4 && tags[i] == 2; b++)
            entry[4 + b] = (unsigned char)(user >> 8 * b);
    }
    return 44;
}

static bool set_list(int fd, const unsigned char *rights)
{
    unsigned char list[44];
    return fsetxattr(fd, list_name, list, make_list(list, BOB, rights), 0) == 0;
}

static bool has_list(int fd, unsigned char *list)
{
    return fgetxattr(fd, list_name, list, 64) > 0;
}

static void a_list_is_copied(void **state)
{
    unsigned char was[64] = {0}, is[64] = {0};
    (void)state;
    struct pair p = pair_of(0600);
    bool can = set_list(p.model, (unsigned char[]){6, 4, 0, 4, 0});
    if (can) {
        assert_int_equal(NC_NOERR, base_rights_copy(p.model, p.made, "made"));
        assert_true(has_list(p.model, was) && has_list(p.made, is));
        assert_memory_equal(was, is, sizeof is);
        assert_int_equal(0640, mode_of(p.made));
    }
    end_pair(&p);
    if (!can) skip();
}

/* The file has inherited an access list from its directory. If it were not removed, a
 * user whom the model excludes would have access. */
static void an_extra_access_list_is_removed(void **state)
{
    unsigned char list[64];
    (void)state;
    struct pair p = pair_of(0640);
    bool can = set_list(p.made, (unsigned char[]){6, 6, 0, 6, 0});
    if (can) {
        assert_int_equal(NC_NOERR, base_rights_copy(p.model, p.made, "made"));
        assert_false(has_list(p.made, list));
        assert_int_equal(0640, mode_of(p.made));
    }
    end_pair(&p);
    if (!can) skip();
}

/* The access list's entry for the model's group must not apply to a different group. */
static void a_list_is_copied_only_with_its_group(void **state)
{
    unsigned char list[64];
    (void)state;
    if (geteuid() != 0) skip();
    struct pair p = pair_of(0600);
    bool can = set_list(p.model, (unsigned char[]){6, 4, 4, 4, 4});
    assert_int_equal(0, fchown(p.model, 0, OTHER_GROUP));
    assert_int_equal(0, fchown(p.made, BOB, BOB));
    assert_int_equal(0, seteuid(BOB));
    int err = base_rights_copy(p.model, p.made, "made");
    assert_int_equal(0, seteuid(0));
    if (can) {
        assert_int_equal(NC_NOERR, err);
        assert_false(has_list(p.made, list));
        assert_int_equal(0600, mode_of(p.made));
    }
    end_pair(&p);
    if (!can) skip();
}

/* The file belongs to another user, so this process is not allowed to change its mode. */
static void rights_that_cannot_be_set_are_an_error(void **state)
{
    (void)state;
    if (geteuid() != 0) skip();
    struct pair p = pair_of(0644);
    assert_int_equal(0, seteuid(BOB));
    int err = base_rights_copy(p.model, p.made, "the made file");
    assert_int_equal(0, seteuid(0));
    assert_int_equal(NC_EACCESS, err);
    assert_non_null(strstr(base_error_text(err), "the made file"));
    assert_int_equal(0600, mode_of(p.made));
    end_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mode_is_copied),
        cmocka_unit_test(other_bits_are_not_copied),
        cmocka_unit_test(group_and_owner_are_copied),
        cmocka_unit_test(rights_shrink_if_the_group_cannot_be_set),
        cmocka_unit_test(a_list_is_copied),
        cmocka_unit_test(an_extra_access_list_is_removed),
        cmocka_unit_test(a_list_is_copied_only_with_its_group),
        cmocka_unit_test(rights_that_cannot_be_set_are_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
