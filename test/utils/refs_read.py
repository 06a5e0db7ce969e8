"""refs_read.py [REFS DATASET[:VARIABLE,...]]...

Checks that Zarr reads through the references what netCDF4 reads from the dataset: dimensions,
types, fill values, attributes and all values, bit for bit. The references must have exactly the
given variables, or all variables of the dataset."""
import sys

import fsspec
import netCDF4
import numpy as np
import zarr


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.shape == b.shape and a.tobytes() == b.astype(a.dtype.newbyteorder("="), copy=False).astype(a.dtype).tobytes()


def plain(value):
    return value.tolist() if hasattr(value, "tolist") else value


def attributes(of):
    return {name: plain(of.getncattr(name)) for name in of.ncattrs()}


def check(name, array, v):
    assert array.shape == v.shape, (name, array.shape, v.shape)
    assert array.dtype.itemsize == 1 or array.dtype.byteorder == ">", (name, array.dtype)
    assert array.dtype.newbyteorder("=") == v.dtype, (name, array.dtype, v.dtype)
    atts, expected = dict(array.attrs), attributes(v)
    assert atts.pop("_ARRAY_DIMENSIONS") == list(v.dimensions), name
    if "_FillValue" in expected:
        fill = expected.pop("_FillValue")
        fill = fill.encode() if isinstance(fill, str) else fill
        assert array.fill_value is not None and repr(plain(array.fill_value)) == repr(fill), (name, array.fill_value)
    else:
        assert array.fill_value is None, name
    assert repr(sorted(atts.items())) == repr(sorted(expected.items())), (name, atts, expected)
    assert same(array[...], v[...]), (name, array[...], v[...])


def compare(refs, path, only):
    dataset = netCDF4.Dataset(path)
    dataset.set_auto_mask(False)
    dataset.set_auto_scale(False)
    dataset.set_auto_chartostring(False)
    group = zarr.open(fsspec.filesystem("reference", fo=refs).get_mapper(""), mode="r")
    wanted = only.split(",") if only else list(dataset.variables)
    assert sorted(group.array_keys()) == sorted(wanted), sorted(group.array_keys())
    assert repr(sorted(group.attrs.items())) == repr(sorted(attributes(dataset).items())), dict(group.attrs)
    for name in wanted:
        check(name, group[name], dataset.variables[name])
    print(path, len(wanted), "variables")


for refs, path in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
    compare(refs, *path.split(":") if ":" in path else (path, ""))
