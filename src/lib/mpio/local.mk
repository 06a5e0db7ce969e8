# mpio
