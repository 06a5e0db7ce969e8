EXTRA_DIST += README.md CONTRIBUTING.md CHANGELOG.md LICENSE doc/architecture.md \
	.ci/run dev/build dev/check dev/demo dev/setup
