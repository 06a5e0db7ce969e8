/* Implements variables, except for their typed values. */
#include "cxx_parts.hpp"
#include "pnetcdf_ext.h"

namespace PnetCDF
{
NcmpiVar::NcmpiVar() : nullObject(true), myId(-1), groupId(-1)
{
}

NcmpiVar::NcmpiVar(const NcmpiGroup &grp, const int &varId)
    : nullObject(false), myId(varId), groupId(grp.getId())
{
}

NcmpiVar::NcmpiVar(const NcmpiVar &ncmpiVar) = default;
NcmpiVar &NcmpiVar::operator=(const NcmpiVar &rhs) = default;

bool NcmpiVar::operator==(const NcmpiVar &rhs) const
{
    return nullObject == rhs.nullObject && groupId == rhs.groupId && myId == rhs.myId;
}

bool NcmpiVar::operator!=(const NcmpiVar &rhs) const
{
    return !(*this == rhs);
}

int NcmpiVar::getId() const
{
    return myId;
}

std::string NcmpiVar::getName() const
{
    return get_object_name(
        [this](char *name) { return ncmpi_inq_varname(groupId, myId, name); });
}

NcmpiGroup NcmpiVar::getParentGroup() const
{
    return nullObject ? NcmpiGroup() : NcmpiGroup(groupId);
}

NcmpiType NcmpiVar::getType() const
{
    return NcmpiType(told<nc_type>(
        [this](nc_type *type) { return ncmpi_inq_vartype(groupId, myId, type); }));
}

int NcmpiVar::getDimCount() const
{
    return told<int>([this](int *n) { return ncmpi_inq_varndims(groupId, myId, n); });
}

NcmpiDim NcmpiVar::getDim(int i) const
{
    const std::vector<NcmpiDim> dims = getDims();
    if (i < 0 || static_cast<size_t>(i) >= dims.size())
        throw exceptions::NcBadDim("getDim: the variable has not so many dimensions",
                                   __FILE__, __LINE__);
    return dims[static_cast<size_t>(i)];
}

std::vector<NcmpiDim> NcmpiVar::getDims() const
{
    std::vector<int> ids(static_cast<size_t>(getDimCount()));
    CXX_CHECK(ncmpi_inq_vardimid(groupId, myId, ids.data()));
    std::vector<NcmpiDim> dims;
    for (int id : ids)
        dims.push_back(NcmpiDim(NcmpiGroup(groupId), id));
    return dims;
}

void NcmpiVar::rename(const std::string &newname) const
{
    ncmpiCheckDefineMode(groupId);
    CXX_CHECK(ncmpi_rename_var(groupId, myId, c_name(newname)));
}

void NcmpiVar::Inq_file_offset(MPI_Offset *offset)
{
    CXX_CHECK(ncmpi_inq_varoffset(groupId, myId, offset));
}

/* ---- attributes ---- */

int NcmpiVar::getAttCount() const
{
    return told<int>([this](int *n) { return ncmpi_inq_varnatts(groupId, myId, n); });
}

std::map<std::string, NcmpiVarAtt> NcmpiVar::getAtts() const
{
    std::map<std::string, NcmpiVarAtt> atts;
    for (int i = 0, n = getAttCount(); i < n; i++) {
        NcmpiVarAtt att(NcmpiGroup(groupId), *this, i);
        atts.insert(std::make_pair(att.getName(), att));
    }
    return atts;
}

NcmpiVarAtt NcmpiVar::getAtt(const std::string &name) const
{
    const int index = told<int>([this, &name](int *id) {
        return ncmpi_inq_attid(groupId, myId, c_name(name), id);
    });
    return NcmpiVarAtt(NcmpiGroup(groupId), *this, index);
}

/* ---- fill values ---- */

void NcmpiVar::setFill(bool fillMode, const void *fillValue) const
{
    ncmpiCheckDefineMode(groupId);
    CXX_CHECK(ncmpi_def_var_fill(groupId, myId, !fillMode, fillValue));
}

void NcmpiVar::getFillModeParameters(bool &fillMode, void *fillValue) const
{
    int no_fill;
    CXX_CHECK(ncmpi_inq_var_fill(groupId, myId, &no_fill, fillValue));
    fillMode = no_fill == 0;
}

void NcmpiVar::setQuantize(int mode, int digits) const
{
    ncmpiCheckDefineMode(groupId);
    CXX_CHECK(ncmpix_def_var_quantize(groupId, myId, mode, digits));
}

void NcmpiVar::getQuantizeParameters(int &mode, int &digits) const
{
    CXX_CHECK(ncmpix_inq_var_quantize(groupId, myId, &mode, &digits));
}

void NcmpiVar::fillRec(MPI_Offset recno) const
{
    int err;
    do {
        err = ncmpi_fill_var_rec(groupId, myId, recno);
    } while (left_define_mode(groupId, err));
    CXX_CHECK(err);
}

/* ---- access to a part of the file described by an MPI datatype ---- */

void NcmpiVar::putVard(MPI_Datatype filetype, const void *dataValues, MPI_Offset bufcount,
                       MPI_Datatype buftype) const
{
    int err;
    do {
        err = ncmpi_put_vard(groupId, myId, filetype, dataValues, bufcount, buftype);
    } while (left_define_mode(groupId, err));
    CXX_CHECK(err);
}

void NcmpiVar::putVard_all(MPI_Datatype filetype, const void *dataValues,
                           MPI_Offset bufcount, MPI_Datatype buftype) const
{
    int err;
    do {
        err = ncmpi_put_vard_all(groupId, myId, filetype, dataValues, bufcount, buftype);
    } while (left_define_mode(groupId, err));
    CXX_CHECK(err);
}

void NcmpiVar::getVard(MPI_Datatype filetype, void *dataValues, MPI_Offset bufcount,
                       MPI_Datatype buftype) const
{
    int err;
    do {
        err = ncmpi_get_vard(groupId, myId, filetype, dataValues, bufcount, buftype);
    } while (left_define_mode(groupId, err));
    CXX_CHECK(err);
}

void NcmpiVar::getVard_all(MPI_Datatype filetype, void *dataValues, MPI_Offset bufcount,
                           MPI_Datatype buftype) const
{
    int err;
    do {
        err = ncmpi_get_vard_all(groupId, myId, filetype, dataValues, bufcount, buftype);
    } while (left_define_mode(groupId, err));
    CXX_CHECK(err);
}
} // namespace PnetCDF
