# The examples of examples/C in C++, which make the same files.
cxx_examples = examples/cxx/blocks.cpp examples/cxx/columns.cpp examples/cxx/errors.cpp \
	examples/cxx/fill_values.cpp examples/cxx/first_file.cpp examples/cxx/ghost_cells.cpp \
	examples/cxx/metadata.cpp examples/cxx/nonblocking.cpp examples/cxx/scattered.cpp \
	examples/cxx/time_series.cpp examples/cxx/tuning.cpp examples/cxx/ways_to_read.cpp
EXTRA_DIST += $(cxx_examples)
