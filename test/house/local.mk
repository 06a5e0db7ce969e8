# tests: house
