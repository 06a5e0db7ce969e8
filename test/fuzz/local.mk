# tests: fuzz
