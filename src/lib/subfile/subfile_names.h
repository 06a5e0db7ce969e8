/* Names of dimensions, variables and attributes in subfiles: those used in E3SM's blob
 * files, and additional ones. */
#ifndef SUBFILE_NAMES_H
#define SUBFILE_NAMES_H

#define SUBFILE_ATT_NPROCS         "global_nprocs"
#define SUBFILE_ATT_DECOMPOSITIONS "num_decompositions"
#define SUBFILE_ATT_SUBFILES       "num_subfiles"
#define SUBFILE_ATT_NUMBER         "subfile_number" /* 0 to num_subfiles - 1 */
#define SUBFILE_ATT_TOKEN                                                                \
    "dataset_token" /* two NC_INT64, as in the master's first page */

#define SUBFILE_ATT_SUM         "header_checksum" /* see subfile_digest.h */
#define SUBFILE_ATT_DESCRIPTION "description"     /* of a variable with maps or frames */

#define SUBFILE_DIM_BLOBS "nblobs"
/* Variable with the checksums of a decomposition's maps (see subfile_map_sum). */
#define SUBFILE_VAR_MAP_SUMS "checksums"
/* Variable with checksums of values. Its name contains the decomposition's number and the
 * variable's id in the master. */
#define SUBFILE_VAR_SUMS "D%lld.sums.%d"
/* Name of the variable with the subfile's generation, and of its dimension. */
#define SUBFILE_VAR_GENERATION "dataset_moment"
/* Prefix, followed by the id, of a name that replaces the name of a dimension or variable
 * if that is reserved in subfiles. */
#define SUBFILE_RENAMED "global_id_"

/* Attributes of a variable that has a decomposition, and of variable Dk.nreqs. */
#define SUBFILE_ATT_DECOMPOSITION "decomposition_ID"
#define SUBFILE_ATT_DIMIDS        "global_dimids"
#define SUBFILE_ATT_VARID         "global_varid"

/* Names in a subfile with frames: the log, which is both a variable and the record
 * dimension; and the dimension of each variable's list of pages. */
#define SUBFILE_VAR_FRAMES "frames"
#define SUBFILE_DIM_LEVELS "frame_levels"
#define SUBFILE_ATT_CODEC  "frames_codec" /* the rules of nc_compress */
#define SUBFILE_ATT_TYPE   "global_type"  /* the type of a variable's values */
#define SUBFILE_LOG_BEGIN  8              /* smallest offset in the log */

#endif
