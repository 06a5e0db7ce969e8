m4_define([ORDER], [    friend bool operator<(const $1 &lhs, const $1 &rhs);
    friend bool operator>(const $1 &lhs, const $1 &rhs);
])m4_dnl

class NcmpiGroup;

/** An external type: the type that values have in the file. */
class NcmpiType
{
public:
    enum ncmpiType {
foreach_external([        ncmpi_[]A_CODE = NC_[]A_CODE,
])m4_dnl
        ncmpi_STRING = NC_STRING,
        ncmpi_VLEN = NC_VLEN,
        ncmpi_OPAQUE = NC_OPAQUE,
        ncmpi_ENUM = NC_ENUM,
        ncmpi_COMPOUND = NC_COMPOUND
    };

    /** Creates a null object. */
    NcmpiType();
    NcmpiType(nc_type id);
    NcmpiType(const PnetCDF::NcmpiGroup &grp, nc_type id);
    NcmpiType(const PnetCDF::NcmpiGroup &grp, const std::string &name);
    NcmpiType(const NcmpiType &rhs);
    NcmpiType &operator=(const NcmpiType &rhs);
    virtual ~NcmpiType() {}

    bool operator==(const NcmpiType &) const;
    bool operator!=(const NcmpiType &) const;
ORDER([NcmpiType])m4_dnl

    nc_type getId() const { return myId; }
    bool isNull() const { return nullObject; }
    PnetCDF::NcmpiGroup getParentGroup() const;
    /** Returns the name, such as "int". */
    std::string getName() const;
    /** Returns the size of a value in bytes. */
    MPI_Offset getSize() const;
    ncmpiType getTypeClass() const;
    /** Returns the name of the class, such as "ncmpi_INT". */
    std::string getTypeClassName() const;

protected:
    bool nullObject;
    nc_type myId;
    int groupId;
};
foreach_external([
/// NC_[]A_CODE
class Ncmpi[]A_NAME : public NcmpiType
{
public:
    Ncmpi[]A_NAME[]();
    ~Ncmpi[]A_NAME[]();
    PNETCDF_COMPARISON(Ncmpi[]A_NAME, NcmpiType)
m4_ifelse(A_NAME, [Byte], [    int sizeoff();
])m4_dnl
};
])
foreach_external([extern Ncmpi[]A_NAME ncmpi[]A_NAME;
])
/* User-defined netCDF-4 types. Classic files do not have such types, so only null objects
 * can be created and copied. All other methods throw exceptions::NcNotNc4. */
m4_define([USER_TYPE], [
class Ncmpi$1Type : public NcmpiType
{
public:
    Ncmpi$1Type();
    Ncmpi$1Type(const NcmpiGroup &grp, const std::string &name);
    Ncmpi$1Type(const NcmpiType &ncmpiType);
    Ncmpi$1Type(const Ncmpi$1Type &rhs);
    ~Ncmpi$1Type() {}
    Ncmpi$1Type &operator=(const NcmpiType &rhs);
    Ncmpi$1Type &operator=(const Ncmpi$1Type &rhs);
$2};
])m4_dnl
USER_TYPE([Compound], [    PNETCDF_COMPARISON(NcmpiCompoundType, NcmpiType)
    void addMember(const std::string &memName, const NcmpiType &newMemberType,
        MPI_Offset offset);
    void addMember(const std::string &memName, const NcmpiType &newMemberType,
        MPI_Offset offset, const std::vector<int> &shape);
    MPI_Offset getMemberCount() const;
    NcmpiType getMember(int memberIndex) const;
    int getMemberDimCount(int memberIndex) const;
    std::vector<int> getMemberShape(int memberIndex) const;
    MPI_Offset getMemberOffset(const int index) const;
])m4_dnl
USER_TYPE([Enum], [
    enum ncmpiEnumType {
        ncmpi_BYTE = NC_BYTE,
        ncmpi_SHORT = NC_SHORT,
        ncmpi_INT = NC_INT,
        ncmpi_UBYTE = NC_UBYTE,
        ncmpi_USHORT = NC_USHORT,
        ncmpi_UINT = NC_UINT,
        ncmpi_INT64 = NC_INT64,
        ncmpi_UINT64 = NC_UINT64
    };

    template <class T> void addMember(const std::string &, T)
    {
        throw exceptions::NcNotNc4("addMember: classic files have no enumerations",
            "pnetcdf", __LINE__);
    }
    template <class T> void getMemberValue(int, T &) const
    {
        throw exceptions::NcNotNc4("getMemberValue: classic files have no enumerations",
            "pnetcdf", __LINE__);
    }
    template <class T> std::string getMemberNameFromValue(const T) const
    {
        throw exceptions::NcNotNc4(
            "getMemberNameFromValue: classic files have no enumerations", "pnetcdf",
            __LINE__);
    }
    std::string getMemberNameFromIndex(int index) const;
    MPI_Offset getMemberCount() const;
    NcmpiType getBaseType() const;
])m4_dnl
USER_TYPE([Opaque], [    MPI_Offset getTypeSize() const;
])m4_dnl
USER_TYPE([Vlen], [    NcmpiType getBaseType() const;
])m4_dnl
