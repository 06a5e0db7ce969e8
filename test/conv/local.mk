# tests: conv
