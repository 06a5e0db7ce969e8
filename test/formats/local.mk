# The formats of our own, as documented.
TESTS += test/formats/formats.sh
EXTRA_DIST += test/formats/formats.sh test/formats/decoder.py
