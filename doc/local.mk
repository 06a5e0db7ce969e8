EXTRA_DIST += README.md CONTRIBUTING.md CHANGELOG.md LICENSE \
	doc/README.md doc/glossary.md doc/tools.md doc/differences.md doc/packages.md doc/platforms.md doc/troubleshooting.md doc/architecture.md doc/driver.md doc/blob.md doc/burst-buffer.md doc/formats.md doc/stage.md \
	doc/statistics.md doc/hints.md doc/behaviour.md doc/porting.md doc/calls.md \
	doc/clients.md doc/cxx.md doc/reliability.md doc/slow.md doc/trace.md doc/tuning.md \
	doc/slow/records.svg doc/slow/late.svg doc/slow/notes.svg

dist_man_MANS += doc/pnetcdf.3

# The reference as HTML, from the header's comments.
doc: include/pnetcdf.h
	@test -n '$(DOXYGEN)' || { echo 'doxygen was not found (Debian: doxygen)' >&2; exit 1; }
	$(AM_V_GEN)$(DOXYGEN) doc/Doxyfile

clean-local:
	-rm -rf doc/reference

.PHONY: doc
