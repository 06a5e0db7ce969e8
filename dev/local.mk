# What developers run.
EXTRA_DIST += .ci/run dev/build dev/check dev/clients dev/clients.d/netcdf.sh \
	dev/clients.d/pnetcdf.sh dev/demo dev/differ dev/setup

# Which lines of the library the tests reach, from a build of its own.
EXTRA_DIST += dev/coverage
coverage:
	$(srcdir)/dev/coverage coverage-build
.PHONY: coverage
