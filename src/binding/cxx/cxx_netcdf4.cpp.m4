m4_include(`cxx_tables.m4')m4_dnl
/* Generated from cxx_netcdf4.cpp.m4: methods for netCDF-4 features that classic files
 * lack. */
#include "cxx_parts.hpp"

namespace PnetCDF
{
m4_define([NONE], [throw exceptions::NcNotNc4("$1: only netCDF-4 files have that",
        __FILE__, __LINE__)])m4_dnl
m4_define([USER_TYPE], [
Ncmpi$1Type::Ncmpi$1Type() {}

Ncmpi$1Type::Ncmpi$1Type(const NcmpiGroup &, const std::string &)
{
    NONE([Ncmpi$1Type]);
}

Ncmpi$1Type::Ncmpi$1Type(const NcmpiType &other) : NcmpiType(other)
{
    if (!isNull()) NONE([Ncmpi$1Type]);
}

Ncmpi$1Type::Ncmpi$1Type(const Ncmpi$1Type &) = default;
Ncmpi$1Type &Ncmpi$1Type::operator=(const Ncmpi$1Type &) = default;

Ncmpi$1Type &Ncmpi$1Type::operator=(const NcmpiType &rhs)
{
    return *this = Ncmpi$1Type(rhs);
}
])m4_dnl
m4_define([ABSENT], [
$1 $2::$3
{
    NONE([$2::m4_regexp([$3], [^[a-zA-Z_]*], [\&])]);
}
])m4_dnl
USER_TYPE([Compound])USER_TYPE([Enum])USER_TYPE([Opaque])USER_TYPE([Vlen])m4_dnl
m4_dnl
ABSENT([void], [NcmpiCompoundType], [addMember(const std::string &, const NcmpiType &,
    MPI_Offset)])m4_dnl
ABSENT([void], [NcmpiCompoundType], [addMember(const std::string &, const NcmpiType &,
    MPI_Offset, const std::vector<int> &)])m4_dnl
ABSENT([MPI_Offset], [NcmpiCompoundType], [getMemberCount() const])m4_dnl
ABSENT([NcmpiType], [NcmpiCompoundType], [getMember(int) const])m4_dnl
ABSENT([int], [NcmpiCompoundType], [getMemberDimCount(int) const])m4_dnl
ABSENT([std::vector<int>], [NcmpiCompoundType], [getMemberShape(int) const])m4_dnl
ABSENT([MPI_Offset], [NcmpiCompoundType], [getMemberOffset(const int) const])m4_dnl
ABSENT([std::string], [NcmpiEnumType], [getMemberNameFromIndex(int) const])m4_dnl
ABSENT([MPI_Offset], [NcmpiEnumType], [getMemberCount() const])m4_dnl
ABSENT([NcmpiType], [NcmpiEnumType], [getBaseType() const])m4_dnl
ABSENT([MPI_Offset], [NcmpiOpaqueType], [getTypeSize() const])m4_dnl
ABSENT([NcmpiType], [NcmpiVlenType], [getBaseType() const])m4_dnl
m4_dnl
ABSENT([NcmpiGroup], [NcmpiGroup], [addGroup(const std::string &) const])m4_dnl
ABSENT([NcmpiEnumType], [NcmpiGroup], [addEnumType(const std::string &,
    NcmpiEnumType::ncmpiEnumType) const])m4_dnl
ABSENT([NcmpiVlenType], [NcmpiGroup], [addVlenType(const std::string &,
    NcmpiType &) const])m4_dnl
ABSENT([NcmpiOpaqueType], [NcmpiGroup], [addOpaqueType(const std::string &,
    MPI_Offset) const])m4_dnl
ABSENT([NcmpiCompoundType], [NcmpiGroup], [addCompoundType(const std::string &,
    MPI_Offset) const])m4_dnl
ABSENT([NcmpiGroupAtt], [NcmpiGroup], [putAtt(const std::string &, MPI_Offset,
    const char **) const])m4_dnl
ABSENT([void], [NcmpiAtt], [getValues(char **) const])m4_dnl
m4_dnl
ABSENT([void], [NcmpiVar], [setChunking(ChunkMode, std::vector<MPI_Offset> &) const])m4_dnl
ABSENT([void], [NcmpiVar], [setCompression(bool, bool, int) const])m4_dnl
ABSENT([void], [NcmpiVar], [setEndianness(EndianMode) const])m4_dnl
ABSENT([void], [NcmpiVar], [setChecksum(ChecksumMode) const])m4_dnl

void NcmpiVar::getChunkingParameters(ChunkMode &chunkMode,
    std::vector<MPI_Offset> &chunkSizes) const
{
    chunkMode = nc_CONTIGUOUS;
    chunkSizes.clear();
}

void NcmpiVar::getCompressionParameters(bool &shuffleFilterEnabled,
    bool &deflateFilterEnabled, int &deflateLevel) const
{
    shuffleFilterEnabled = deflateFilterEnabled = false;
    deflateLevel = 0;
}

NcmpiVar::EndianMode NcmpiVar::getEndianness() const
{
    return nc_ENDIAN_BIG;
}

NcmpiVar::ChecksumMode NcmpiVar::getChecksum() const
{
    return nc_NOCHECKSUM;
}
} // namespace PnetCDF
