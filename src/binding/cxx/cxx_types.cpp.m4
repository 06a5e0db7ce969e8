m4_include(`cxx_tables.m4')m4_dnl
/* Generated from cxx_types.cpp.m4: external types, and the comparison operators of all
 * classes. */
#include "cxx_parts.hpp"

#include <tuple>

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
m4_define([COMPARED], [
bool $1::operator==(const $1 &rhs)
{
    return $2::operator==(rhs);
}
])m4_dnl
COMPARED([NcmpiCompoundType], [NcmpiType])COMPARED([NcmpiGroupAtt], [NcmpiAtt])m4_dnl
m4_define([ORDERED], [
bool operator<(const $1 &lhs, const $1 &rhs)
{
    return $2(lhs) < $2(rhs);
}

bool operator>(const $1 &lhs, const $1 &rhs)
{
    return rhs < lhs;
}
])m4_dnl
m4_define([BY_ID], [$1.myId])m4_dnl
m4_define([BY_PLACE], [std::tie($1.groupId, $1.myId)])m4_dnl
m4_define([BY_NAME], [std::tie($1.groupId, $1.varId, $1.myName)])m4_dnl
/* Friend functions do not inherit the visibility of their classes. */
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif
ORDERED([NcmpiType], [BY_ID])ORDERED([NcmpiGroup], [BY_ID])m4_dnl
ORDERED([NcmpiDim], [BY_PLACE])ORDERED([NcmpiVar], [BY_PLACE])m4_dnl
ORDERED([NcmpiGroupAtt], [BY_NAME])ORDERED([NcmpiVarAtt], [BY_NAME])m4_dnl
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
foreach_external([COMPARED(Ncmpi[]A_NAME, [NcmpiType])
Ncmpi[]A_NAME::Ncmpi[]A_NAME[]() : NcmpiType(NC_[]A_CODE) {}
Ncmpi[]A_NAME::~Ncmpi[]A_NAME[]() {}
Ncmpi[]A_NAME ncmpi[]A_NAME;
])m4_dnl
} // namespace PnetCDF
