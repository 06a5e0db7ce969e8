# tests: base
