/* The registry of all drivers, from bottom to top. */
#include "config.h"

#include "driver.h"

const struct driver_kind *const driver_registry[] = {
    &mpio_driver,  &nc4_driver, &stage_driver, &blob_driver,
#ifdef NCMPI_BURST
    &burst_driver,
#endif
    NULL,
};
