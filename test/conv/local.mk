if HAVE_CMOCKA
conv_units = test/conv/conv_values.unit test/conv/conv_shape.unit test/conv/conv_rules.unit
check_PROGRAMS += $(conv_units)
TESTS += $(conv_units)

conv_model = test/conv/conv_model.c test/conv/conv_model.h
test_conv_conv_values_unit_SOURCES = test/conv/conv_values_test.c $(conv_model)
test_conv_conv_values_unit_LDADD = libserial.la -lcmocka -lm
test_conv_conv_shape_unit_SOURCES = test/conv/conv_shape_test.c $(conv_model)
test_conv_conv_shape_unit_LDADD = libserial.la -lcmocka -lm
test_conv_conv_rules_unit_SOURCES = test/conv/conv_rules_test.c $(conv_model)
test_conv_conv_rules_unit_LDADD = libserial.la -lcmocka -lm
endif
