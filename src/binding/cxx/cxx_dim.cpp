/* Dimensions. */
#include "cxx_parts.hpp"

namespace PnetCDF
{
NcmpiDim::NcmpiDim() : nullObject(true), myId(-1), groupId(-1)
{
}

NcmpiDim::NcmpiDim(const NcmpiGroup &grp, int dimId)
    : nullObject(false), myId(dimId), groupId(grp.getId())
{
}

NcmpiDim::NcmpiDim(const NcmpiDim &ncmpiDim) = default;
NcmpiDim &NcmpiDim::operator=(const NcmpiDim &) = default;

bool NcmpiDim::operator==(const NcmpiDim &rhs) const
{
    return nullObject == rhs.nullObject && groupId == rhs.groupId && myId == rhs.myId;
}

bool NcmpiDim::operator!=(const NcmpiDim &rhs) const
{
    return !(*this == rhs);
}

NcmpiGroup NcmpiDim::getParentGroup() const
{
    return nullObject ? NcmpiGroup() : NcmpiGroup(groupId);
}

const std::string NcmpiDim::getName() const
{
    return get_object_name(
        [this](char *name) { return ncmpi_inq_dimname(groupId, myId, name); });
}

MPI_Offset NcmpiDim::getSize() const
{
    return told<MPI_Offset>(
        [this](MPI_Offset *size) { return ncmpi_inq_dimlen(groupId, myId, size); });
}

bool NcmpiDim::isUnlimited() const
{
    return myId != -1 &&
           myId == told<int>([this](int *id) { return ncmpi_inq_unlimdim(groupId, id); });
}

void NcmpiDim::rename(const std::string &newName)
{
    ncmpiCheckDefineMode(groupId);
    CXX_CHECK(ncmpi_rename_dim(groupId, myId, c_name(newName)));
}
} // namespace PnetCDF
