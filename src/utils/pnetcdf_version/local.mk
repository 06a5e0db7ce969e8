bin_SCRIPTS += src/utils/pnetcdf_version/pnetcdf_version
dist_man_MANS += src/utils/pnetcdf_version/pnetcdf_version.1
