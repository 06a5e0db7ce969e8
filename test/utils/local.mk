# tests: utils
