# The recipe for Spack (https://spack.io):
#
#     spack repo add packaging/spack
#     spack dev-build ncmpi@main        # this checkout
#     spack install --add ncmpi@1.0.0   # a tarball of `make dist`, from a mirror
#
# For packages with depends_on("parallel-netcdf"), list ncmpi in packages.yaml as an external with
# that name and the `prefix` that `spack location -i ncmpi` prints.
from spack.package import *


class Ncmpi(AutotoolsPackage):
    """Parallel netCDF library on MPI-IO for the classic formats CDF-1, CDF-2 and CDF-5, with
    the interface of PnetCDF in C, C++ and Fortran."""

    # Neither version has a public address yet. The source is a checkout or a tarball in a mirror.
    manual_download = True

    license("BSD-3-Clause")

    version("main")
    version("1.0.0")

    variant("cxx", default=True, description="C++ interface")
    variant("fortran", default=True, description="Fortran interfaces")
    variant("burstbuffer", default=True, description="Driver that logs writes on fast devices")
    variant("utf8", default=True, description="Names in Unicode's composed form (NFC)")
    variant("traces", default=True, description="JSON: hints files, summaries of traces")
    variant("compression", default=True, description="zstd and lz4 for values in subfiles")
    variant("netcdf4", default=False, description="netCDF-4 files, through netCDF-C")
    variant("shared", default=True, description="Shared library")
    variant("pic", default=True, description="Position-independent code in the static library")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cxx")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("mpi")
    depends_on("m4", type="build")
    depends_on("utf8proc", when="+utf8")
    depends_on("jansson", when="+traces")
    depends_on("xxhash", type="build", when="+burstbuffer")
    depends_on("zstd", when="+compression")
    depends_on("lz4", when="+compression")
    depends_on("netcdf-c+mpi", type="run", when="+netcdf4")  # loaded at run time, not linked
    with when("@main"):
        depends_on("autoconf@2.69:", type="build")
        depends_on("automake@1.16:", type="build")
        depends_on("libtool", type="build")
        depends_on("flex", type="build")
        depends_on("bison@3.6:", type="build")

    @when("@main")
    def autoreconf(self, spec, prefix):
        which("autoreconf")("-i")

    def configure_args(self):
        spec = self.spec
        args = ["MPICC=" + spec["mpi"].mpicc]
        args += self.enable_or_disable("cxx") + self.enable_or_disable("fortran")
        args += self.enable_or_disable("burst-buffering", variant="burstbuffer")
        args += self.with_or_without("utf8proc", variant="utf8")
        args += self.with_or_without("jansson", variant="traces")
        for codec in ("zstd", "lz4"):
            args += self.with_or_without(codec, variant="compression")
        if "+netcdf4" in spec:
            args.append("--with-netcdf4=" + join_path(spec["netcdf-c"].prefix.lib, "libnetcdf.so"))
        else:
            args.append("--without-netcdf4")
        args += self.enable_or_disable("shared")
        args += self.with_or_without("pic")
        if "+cxx" in spec:
            args.append("MPICXX=" + spec["mpi"].mpicxx)
        if "+fortran" in spec:
            args += ["MPIF77=" + spec["mpi"].mpif77, "MPIF90=" + spec["mpi"].mpifc]
        return args

    @property
    def libs(self):
        return find_libraries(
            "libpnetcdf", root=self.prefix, shared="+shared" in self.spec, recursive=True
        )

    @property
    def headers(self):
        return find_headers("pnetcdf", root=self.prefix.include, recursive=False)
