
/** A dimension. */
class NcmpiDim
{
public:
    /** One that stands for nothing. */
    NcmpiDim();
    NcmpiDim(const NcmpiGroup &grp, int dimId);
    NcmpiDim(const NcmpiDim &ncmpiDim);
    NcmpiDim &operator=(const NcmpiDim &);
    ~NcmpiDim() {}

    bool operator==(const NcmpiDim &rhs) const;
    bool operator!=(const NcmpiDim &rhs) const;
ORDER([NcmpiDim])m4_dnl

    int getId() const { return myId; }
    bool isNull() const { return nullObject; }
    NcmpiGroup getParentGroup() const;
    const std::string getName() const;
    /** Its length; of the unlimited one the number of records. */
    MPI_Offset getSize() const;
    bool isUnlimited() const;
    /** Collective. */
    void rename(const std::string &newName);

private:
    bool nullObject;
    int myId;
    int groupId;
};

/** An attribute, of a variable or of the file. */
class NcmpiAtt
{
public:
    /** One that stands for nothing, whatever is said. */
    NcmpiAtt();
    NcmpiAtt(bool nullObject);
    NcmpiAtt(const NcmpiAtt &rhs);
    NcmpiAtt(NcmpiAtt &&rhs) = default;
    NcmpiAtt &operator=(const NcmpiAtt &rhs);
    NcmpiAtt &operator=(NcmpiAtt &&rhs) = default;
    virtual ~NcmpiAtt();

    bool operator==(const NcmpiAtt &rhs) const;
    bool operator!=(const NcmpiAtt &rhs) const;

    std::string getName() const { return myName; }
    bool isNull() const { return nullObject; }
    NcmpiType getType() const;
    MPI_Offset getAttLength() const;
    NcmpiGroup getParentGroup() const;

    /** All its values, converted to the type of what they are written to. Text has no NUL
     * added, but in a string it is as long as it should be. */
    void getValues(std::string &dataValues) const;
foreach_type([    void getValues(T_C *dataValues) const;
])m4_dnl
    /** As the attribute's own type is in C. */
    void getValues(void *dataValues) const;
    /** Strings, which classic files do not have: throws. */
    void getValues(char **dataValues) const;

protected:
    NcmpiAtt(const NcmpiGroup &grp, int varId, int index);
    bool nullObject;
    std::string myName;
    int groupId;
    int varId;
};

/** An attribute of the file. */
class NcmpiGroupAtt : public NcmpiAtt
{
public:
    NcmpiGroupAtt();
    NcmpiGroupAtt(const NcmpiGroup &grp, const int index);
    NcmpiGroupAtt(const NcmpiGroupAtt &rhs);
    NcmpiGroupAtt(NcmpiGroupAtt &&rhs) = default;
    NcmpiGroupAtt &operator=(const NcmpiGroupAtt &rhs);
    NcmpiGroupAtt &operator=(NcmpiGroupAtt &&rhs) = default;
    PNETCDF_COMPARISON(NcmpiGroupAtt, NcmpiAtt)
ORDER([NcmpiGroupAtt])m4_dnl
};

class NcmpiVar;

/** An attribute of a variable. */
class NcmpiVarAtt : public NcmpiAtt
{
public:
    NcmpiVarAtt();
    NcmpiVarAtt(const NcmpiGroup &grp, const NcmpiVar &ncmpiVar, const int index);
    NcmpiVarAtt(const NcmpiVarAtt &rhs);
    NcmpiVarAtt(NcmpiVarAtt &&rhs) = default;
    NcmpiVarAtt &operator=(const NcmpiVarAtt &rhs);
    NcmpiVarAtt &operator=(NcmpiVarAtt &&rhs) = default;
ORDER([NcmpiVarAtt])m4_dnl
    NcmpiVar getParentVar() const;
};
m4_define([PUT_ATTS], [    /** Makes an attribute, or gives it other values: text, one value, or `len` of them,
     * which are converted to `type`. Of void they are of that type. Collective. */
    $1 putAtt(const std::string &name, const std::string &dataValues) const;
foreach_single_type([    $1 putAtt(const std::string &name, const NcmpiType &type,
        T_C datumValue) const;
])m4_dnl
foreach_number_type([    $1 putAtt(const std::string &name, const NcmpiType &type,
        MPI_Offset len, const T_C *dataValues) const;
])m4_dnl
    $1 putAtt(const std::string &name, const NcmpiType &type,
        MPI_Offset len, const void *dataValues) const;
])m4_dnl
