/* What the engine that moves data together works with, for one dataset. */
#ifndef TWOPHASE_ENGINE_H
#define TWOPHASE_ENGINE_H

#include "access_tile.h"
#include "file.h"
#include "twophase_window.h"

struct twophase {
    struct dataset *ds;
    struct file *file;
    struct access_staging *staging; /* the driver's, for holes */
    int64_t unit; /* who writes what changes at multiples of it: a stripe */
    struct twophase_window window; /* of the processes that share memory */
};

#endif
