/* State of the two-phase engine for one dataset. */
#ifndef TWOPHASE_ENGINE_H
#define TWOPHASE_ENGINE_H

#include "access_tile.h"
#include "file.h"
#include "twophase_window.h"

struct twophase {
    struct dataset *ds;
    struct file *file;
    struct access_staging *staging; /* the driver's buffer, which is used to read gaps */
    int64_t unit;                   /* domain alignment in bytes: the stripe size */
    struct twophase_window window;  /* shared by the processes on this node */
};

#endif
