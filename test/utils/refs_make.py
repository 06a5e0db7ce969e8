"""refs_make.py KIND NAME: creates a dataset that is too large to be written in CDL."""
import sys

import netCDF4
import numpy as np


def create(name):
    d = netCDF4.Dataset(name, "w", format="NETCDF3_64BIT_DATA")
    d.set_fill_off()
    return d


def many(name):
    """Creates a million records and puts only the last one."""
    d = create(name)
    d.createDimension("time", None)
    d.createDimension("x", 16)
    d.createVariable("time", "f8", ("time",))[999999] = 1
    d.createVariable("T", "f4", ("time", "x"))[999999] = 1
    d.close()


def huge(name):
    """Puts values beyond 4 GiB in a sparse file."""
    d = create(name)
    for dim, n in ("time", None), ("n", 262144), ("x", 7):
        d.createDimension(dim, n)
    d.createVariable("large", "f4", ("time", "n"))
    d.createVariable("behind", "f4", ("time", "x"))
    d["large"][4999] = 3
    d["behind"][4999] = range(7)
    d.close()


def fields(name):
    """Creates variables that ncmpicopy divides among processes in different ways: evenly,
    unevenly, more than a frame for each, incompressible noise, and a single value."""
    rng = np.random.default_rng(4711)
    d = create(name)
    for dim, n in ("time", None), ("z", 4), ("y", 24), ("x", 64), ("col", 1001), ("wide", 65536):
        d.createDimension(dim, n)
    d.createVariable("time", "f8", ("time",))[:] = range(3)
    for var, dims in ("T", "zyx"), ("U", "zyx"):
        v = d.createVariable(var, "f4", ("time", *dims), fill_value=1e20 if var == "T" else None)
        v[:] = 280 + rng.normal(size=(3, 4, 24, 64)).round(1)
    d.createVariable("P", "f8", ("y", "x"))[:] = np.arange(24 * 64).reshape(24, 64)
    d.createVariable("odd", "i2", ("time", "col"))[:] = rng.integers(0, 100, (3, 1001))
    d.createVariable("deep", "f4", ("z", "wide"))[:] = rng.normal(size=(4, 65536)).round(1)
    d.createVariable("noise", "u1", ("time", "col", "z"))[:] = rng.integers(0, 256, (3, 1001, 4))
    d.createVariable("flag", "i1", ("time", "z", "y"))[:] = 1
    d.close()


globals()[sys.argv[1]](sys.argv[2])
