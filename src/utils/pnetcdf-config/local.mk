bin_SCRIPTS += src/utils/pnetcdf-config/pnetcdf-config
dist_man_MANS += src/utils/pnetcdf-config/pnetcdf-config.1
