/* Whether nodes see on a mount what others have written: see file_trial.c. */
#ifndef FILE_TRIAL_H
#define FILE_TRIAL_H

#include "dataset.h"

/* OWN_SIZE: they do, once a node has been told how long the file is. */
enum file_trial { FILE_UNTRIED, FILE_RIGHT, FILE_OWN_SIZE, FILE_WRONG };

/* What is known of the mount on which the dataset's file is. Local. */
enum file_trial file_trial_known(const struct dataset *ds);

/* Tries it, if there are several nodes. The result is the same everywhere; it stays as it
 * was where no file could be made. Agreed. */
int file_trial_all(struct dataset *ds, enum file_trial *result);

#endif
