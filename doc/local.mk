EXTRA_DIST += README.md CHANGELOG.md LICENSE \
	.ci/run dev/build dev/check dev/setup
