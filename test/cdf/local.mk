# tests: cdf
