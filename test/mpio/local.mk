# tests: mpio
