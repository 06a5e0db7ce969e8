# Completion files for shells. bash looks for a file named after each command.
completed_tools = cdfdiff ncmpicopy ncmpidiff ncmpidump ncmpigen ncmpihints ncmpijoin ncmpilog ncmpirefs ncmpitrace \
	ncoffsets ncvalidator pnetcdf-config pnetcdf_version
bashcompdir = $(datadir)/bash-completion/completions
zshcompdir = $(datadir)/zsh/site-functions
dist_zshcomp_DATA = src/utils/completion/_pnetcdf
EXTRA_DIST += src/utils/completion/pnetcdf.bash

install-completion:
	$(MKDIR_P) '$(DESTDIR)$(bashcompdir)'
	for tool in $(completed_tools); do \
		$(INSTALL_DATA) $(srcdir)/src/utils/completion/pnetcdf.bash \
			"$(DESTDIR)$(bashcompdir)/$$tool" || exit 1; \
	done
uninstall-completion:
	for tool in $(completed_tools); do rm -f "$(DESTDIR)$(bashcompdir)/$$tool"; done
.PHONY: install-completion uninstall-completion
