# Tables from which typed functions are generated, and the templates that use them.
EXTRA_DIST += src/tables/tables.m4 src/tables/api_typed.c.m4 src/tables/api_typed_att.c.m4

API_TYPED = src/lib/api/api_typed_put.c src/lib/api/api_typed_get.c \
	src/lib/api/api_typed_iput.c src/lib/api/api_typed_iget.c \
	src/lib/api/api_typed_bput.c src/lib/api/api_typed_mput.c \
	src/lib/api/api_typed_mget.c
CLEANFILES += $(API_TYPED) src/lib/api/api_typed_att.c

$(API_TYPED): src/tables/api_typed.c.m4 src/tables/tables.m4
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
		mode=`echo $@ | sed 's/.*api_typed_//; s/\.c$$//'` && \
		$(M4) -P -I $(srcdir)/src/tables -D MODE=$$mode \
			$(srcdir)/src/tables/api_typed.c.m4 > $@.tmp && mv $@.tmp $@

src/lib/api/api_typed_att.c: src/tables/api_typed_att.c.m4 src/tables/tables.m4
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(M4) -P -I $(srcdir)/src/tables \
		$(srcdir)/src/tables/api_typed_att.c.m4 > $@.tmp && mv $@.tmp $@
