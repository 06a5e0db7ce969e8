# tests: region
