m4_include(`cxx_tables.m4')m4_dnl
/* Generated from cxx_atts.cpp.m4: access to attribute values. */
#include "cxx_parts.hpp"

namespace PnetCDF
{
foreach_type([
void NcmpiAtt::getValues(T_C *dataValues) const
{
    CXX_CHECK(ncmpi_get_att_[]T_NAME[](groupId, varId, myName.c_str(), dataValues));
}
])m4_dnl

m4_define([PUT_ATT], [
OWNER[]Att OWNER::putAtt(const std::string &name, const $1) const
{
    const int ncid = NCID;
    ncmpiCheckDefineMode(ncid);
    CXX_CHECK(ncmpi_put_att$2(ncid, VARID, c_name(name), $3));
    return getAtt(name);
}
])m4_dnl
m4_define([PUT_ATTS], [m4_dnl
PUT_ATT([std::string &dataValues], [_text],
    [static_cast<MPI_Offset>(dataValues.size()), dataValues.data()])m4_dnl
PUT_ATT([NcmpiType &type, MPI_Offset len,
    const void *dataValues], [], [type.getId(), len, dataValues])m4_dnl
foreach_number_type([PUT_ATT([NcmpiType &type, MPI_Offset len,
    const T_C *dataValues], [_]T_NAME, [type.getId(), len, dataValues])])m4_dnl
foreach_single_type([PUT_ATT([NcmpiType &type,
    T_C datumValue], [_]T_NAME, [type.getId(), 1, &datumValue])])])m4_dnl
m4_define([OWNER], [NcmpiVar])m4_define([NCID], [groupId])m4_define([VARID], [myId])m4_dnl
PUT_ATTS()m4_dnl
m4_define([OWNER], [NcmpiGroup])m4_define([NCID], [getId()])m4_define([VARID], [NC_GLOBAL])m4_dnl
PUT_ATTS()m4_dnl
} // namespace PnetCDF
