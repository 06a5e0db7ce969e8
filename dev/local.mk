# What developers run.
EXTRA_DIST += .ci/run dev/build dev/check dev/demo dev/setup
