/* A layer that adds nothing, and a registry that has it above each of the others. A
 * program that is linked with this file has these drivers instead of the library's.
 *
 * It is the smallest driver there can be: how it is made and how it ends. Whatever else
 * is called is a slot of the layer below. doc/driver.md tells what to add to it. */
#include "config.h"

#include "base_mem.h"
#include "driver.h"

/* A driver's state: a layer of the stack comes first, then what the driver itself needs.
 */
struct empty {
    struct driver base;
};

/* The layer frees itself, then ends those below, with the others. */
static int close_layer_all(struct driver *self, bool abort)
{
    struct driver *lower = self->lower;
    base_free(self);
    return driver_call(lower, close_all, abort);
}

static const struct driver_ops slots = {
    .close_all = close_layer_all,
};

/* A process without memory does without the layer. The others need not know, as it does
 * nothing together with them; a layer that does agrees on it (burst_attach_all). */
static int make_layer(struct dataset *ds, struct driver *lower, struct driver **self)
{
    struct empty *e = base_malloc(sizeof *e);
    *self = lower;
    if (e == NULL) return NC_NOERR;
    driver_stack(&e->base, &slots, lower, ds);
    *self = &e->base;
    return NC_NOERR;
}

static int create_all(struct dataset *ds, int cmode, struct driver *lower,
                      struct driver **self)
{
    (void)cmode;
    return make_layer(ds, lower, self);
}

static int open_all(struct dataset *ds, int omode, struct driver *lower,
                    struct driver **self)
{
    (void)omode;
    return make_layer(ds, lower, self);
}

static const struct driver_kind empty_driver = {
    .create_all = create_all,
    .open_all = open_all,
};

const struct driver_kind *const driver_registry[] = {
    &mpio_driver,  &empty_driver, &stage_driver,
    &empty_driver, &blob_driver,  &empty_driver,
#ifdef NCMPI_BURST
    &burst_driver, &empty_driver,
#endif
    NULL,
};
