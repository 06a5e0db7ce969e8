/* Implements attributes, except for their typed values. */
#include "cxx_parts.hpp"

namespace PnetCDF
{
NcmpiAtt::NcmpiAtt() : NcmpiAtt(true)
{
}

NcmpiAtt::NcmpiAtt(bool null) : nullObject(null), groupId(-1), varId(-1)
{
}

NcmpiAtt::NcmpiAtt(const NcmpiGroup &grp, int var, int index)
    : nullObject(false), groupId(grp.getId()), varId(var)
{
    myName = get_object_name([this, index](char *name) {
        return ncmpi_inq_attname(groupId, varId, index, name);
    });
}

NcmpiAtt::NcmpiAtt(const NcmpiAtt &rhs) = default;
NcmpiAtt &NcmpiAtt::operator=(const NcmpiAtt &rhs) = default;
NcmpiAtt::~NcmpiAtt()
{
}

bool NcmpiAtt::operator==(const NcmpiAtt &rhs) const
{
    return nullObject == rhs.nullObject && groupId == rhs.groupId && varId == rhs.varId &&
           myName == rhs.myName;
}

bool NcmpiAtt::operator!=(const NcmpiAtt &rhs) const
{
    return !(*this == rhs);
}

NcmpiType NcmpiAtt::getType() const
{
    return NcmpiType(told<nc_type>([this](nc_type *type) {
        return ncmpi_inq_atttype(groupId, varId, myName.c_str(), type);
    }));
}

MPI_Offset NcmpiAtt::getAttLength() const
{
    return told<MPI_Offset>([this](MPI_Offset *length) {
        return ncmpi_inq_attlen(groupId, varId, myName.c_str(), length);
    });
}

NcmpiGroup NcmpiAtt::getParentGroup() const
{
    return nullObject ? NcmpiGroup() : NcmpiGroup(groupId);
}

void NcmpiAtt::getValues(std::string &dataValues) const
{
    /* If the attribute is numeric, the C function fails and leaves the text unchanged. */
    std::string text(static_cast<size_t>(getAttLength()), '\0');
    getValues(&text[0]);
    dataValues.swap(text);
}

void NcmpiAtt::getValues(void *dataValues) const
{
    CXX_CHECK(ncmpi_get_att(groupId, varId, myName.c_str(), dataValues));
}

NcmpiGroupAtt::NcmpiGroupAtt() = default;
NcmpiGroupAtt::NcmpiGroupAtt(const NcmpiGroup &grp, const int index)
    : NcmpiAtt(grp, NC_GLOBAL, index)
{
}
NcmpiGroupAtt::NcmpiGroupAtt(const NcmpiGroupAtt &rhs) = default;
NcmpiGroupAtt &NcmpiGroupAtt::operator=(const NcmpiGroupAtt &rhs) = default;

NcmpiVarAtt::NcmpiVarAtt() = default;
NcmpiVarAtt::NcmpiVarAtt(const NcmpiGroup &grp, const NcmpiVar &ncmpiVar, const int index)
    : NcmpiAtt(grp, ncmpiVar.getId(), index)
{
}
NcmpiVarAtt::NcmpiVarAtt(const NcmpiVarAtt &rhs) = default;
NcmpiVarAtt &NcmpiVarAtt::operator=(const NcmpiVarAtt &rhs) = default;

NcmpiVar NcmpiVarAtt::getParentVar() const
{
    return isNull() ? NcmpiVar() : NcmpiVar(NcmpiGroup(groupId), varId);
}
} // namespace PnetCDF
