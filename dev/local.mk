# What developers run.
EXTRA_DIST += .ci/run dev/build dev/check dev/clients dev/clients.d/netcdf.sh \
	dev/clients.d/pnetcdf.sh dev/demo dev/differ dev/packages dev/portable dev/setup

# Packages.
EXTRA_DIST += packaging/spack/repo.yaml packaging/spack/packages/ncmpi/package.py \
	debian/changelog debian/control debian/copyright debian/rules debian/source/format \
	debian/libpnetcdf-mpich8.lintian-overrides debian/libpnetcdf-openmpi8.lintian-overrides \
	debian/tests/control debian/tests/programs

# Which lines of the library the tests reach, from a build of its own.
EXTRA_DIST += dev/coverage
coverage:
	$(srcdir)/dev/coverage coverage-build
.PHONY: coverage
