/* The smallest possible driver: a layer that only creates and closes itself, and inherits
 * all other slots from the layer below. doc/driver.md explains how to extend it.
 *
 * This file also defines a registry of drivers, in which an empty layer is above each of
 * the others. A program that is linked with this file uses this registry instead of the
 * library's. */
#include "config.h"

#include "base_mem.h"
#include "driver.h"

/* A driver's state begins with a struct driver, which links the driver into the stack.
 * The driver's own data follows. */
struct empty {
    struct driver base;
};

/* Frees this layer and closes the layers below. Collective. */
static int close_layer_all(struct driver *self, bool abort)
{
    struct driver *lower = self->lower;
    base_free(self);
    return driver_call(lower, close_all, abort);
}

static const struct driver_ops slots = {
    .close_all = close_layer_all,
};

/* Adds the layer. If a process is out of memory, it omits the layer. The other processes
 * need not know, because the layer makes no collective calls. A layer that makes them
 * must agree first (see burst_attach_all). */
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
