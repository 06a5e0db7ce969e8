/* Names in subfiles: those of E3SM's blob files, and what is said beside them. */
#ifndef BLOB_NAMES_H
#define BLOB_NAMES_H

#define BLOB_ATT_NPROCS         "global_nprocs"
#define BLOB_ATT_DECOMPOSITIONS "num_decompositions"
#define BLOB_ATT_SUBFILES       "num_subfiles"
#define BLOB_ATT_NUMBER         "subfile_number" /* 0 to num_subfiles - 1 */
#define BLOB_ATT_TOKEN          "dataset_token" /* two NC_INT64, as in the master's envelope */

#define BLOB_DIM_BLOBS "nblobs"
/* Checksums of a variable: its decomposition, its number in the master. */
#define BLOB_SUMS_NAME "D%lld.sums.%d"
/* A variable, and its dimension: the moment that the subfile is of. */
#define BLOB_MOMENT_NAME "dataset_moment"
/* and its number: a dimension or variable of the master whose name is used here */
#define BLOB_OTHER "global_id_"

/* Of a variable that has a decomposition, and of Dk.nreqs. */
#define BLOB_ATT_DECOMPOSITION "decomposition_ID"
#define BLOB_ATT_DIMIDS        "global_dimids"
#define BLOB_ATT_VARID         "global_varid"

/* In a subfile whose values are in frames: the log that has them, a variable and its
 * dimension, which is the record dimension; and the dimension of each variable's pages.
 */
#define BLOB_FRAMES     "frames"
#define BLOB_DIM_LEVELS "frame_levels"
#define BLOB_ATT_CODEC  "frames_codec" /* the rules of nc_compress */
#define BLOB_ATT_TYPE   "global_type"  /* of a variable: the type that its values have */
#define BLOB_LOG_BEGIN  8              /* no place in the log is before this one */

#endif
