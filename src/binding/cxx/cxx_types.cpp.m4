m4_include(`cxx_tables.m4')m4_dnl
/* Generated from cxx_types.cpp.m4: external types. */
#include "cxx_parts.hpp"

namespace PnetCDF
{
namespace
{
struct external {
    nc_type id;
    MPI_Offset size;
    const char *name, *class_name;
};

const external externals[]ARRAY[] = {
foreach_external([    {NC_[]A_CODE, A_SIZE, "A_WORD", "ncmpi_[]A_CODE"},
])m4_dnl
};

const external &look_up(nc_type id)
{
    for (const external &type : externals)
        if (type.id == id) return type;
    throw exceptions::NcBadType("no type of classic files", __FILE__, __LINE__);
}
} // namespace

NcmpiType::NcmpiType() : nullObject(true), myId(NC_NAT), groupId(-1) {}

NcmpiType::NcmpiType(nc_type id) : nullObject(false), myId(id), groupId(-1) {}

NcmpiType::NcmpiType(const NcmpiGroup &grp, nc_type id)
    : nullObject(false), myId(id), groupId(grp.getId())
{
}

NcmpiType::NcmpiType(const NcmpiGroup &grp, const std::string &name)
    : nullObject(true), myId(NC_NAT), groupId(grp.getId())
{
    for (const external &type : externals) {
        if (name != type.name) continue;
        nullObject = false;
        myId = type.id;
    }
}

NcmpiType::NcmpiType(const NcmpiType &rhs) = default;
NcmpiType &NcmpiType::operator=(const NcmpiType &rhs) = default;

bool NcmpiType::operator==(const NcmpiType &rhs) const
{
    return nullObject == rhs.nullObject && myId == rhs.myId;
}

bool NcmpiType::operator!=(const NcmpiType &rhs) const
{
    return !(*this == rhs);
}

NcmpiGroup NcmpiType::getParentGroup() const
{
    return groupId == -1 ? NcmpiGroup() : NcmpiGroup(groupId);
}

std::string NcmpiType::getName() const
{
    return look_up(myId).name;
}

MPI_Offset NcmpiType::getSize() const
{
    return look_up(myId).size;
}

NcmpiType::ncmpiType NcmpiType::getTypeClass() const
{
    return static_cast<ncmpiType>(look_up(myId).id);
}

std::string NcmpiType::getTypeClassName() const
{
    return look_up(myId).class_name;
}

int NcmpiByte::sizeoff()
{
    return 1;
}
foreach_external([
Ncmpi[]A_NAME::Ncmpi[]A_NAME[]() : NcmpiType(NC_[]A_CODE) {}
Ncmpi[]A_NAME::~Ncmpi[]A_NAME[]() {}
Ncmpi[]A_NAME ncmpi[]A_NAME;
])m4_dnl
} // namespace PnetCDF
