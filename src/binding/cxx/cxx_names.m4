
/** A dimension. */
class NcmpiDim
{
public:
    /** Creates a null object. */
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
    /** Returns the length of the dimension. The length of the unlimited dimension is the
     * number of records. */
    MPI_Offset getSize() const;
    bool isUnlimited() const;
    /** Renames the dimension. Collective. */
    void rename(const std::string &newName);

private:
    bool nullObject;
    int myId;
    int groupId;
};

/** An attribute that belongs to a variable or to the file. */
class NcmpiAtt
{
public:
    /** Create a null object; the argument is ignored. */
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

    /** Get all values, converted to the type of the destination. No NUL is appended to
     * text. A std::string is resized. */
    void getValues(std::string &dataValues) const;
foreach_type([    void getValues(T_C *dataValues) const;
])m4_dnl
    /** Gets the values as the C type that corresponds to the attribute's type. */
    void getValues(void *dataValues) const;
    /** Always throws, because classic files do not support strings. */
    void getValues(char **dataValues) const;

protected:
    NcmpiAtt(const NcmpiGroup &grp, int varId, int index);
    bool nullObject;
    std::string myName;
    int groupId;
    int varId;
};

/** An attribute that belongs to the file. */
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

/** An attribute that belongs to a variable. */
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
m4_define([PUT_ATTS], [    /** Creates an attribute or changes its values: text, one value, or `len` values, which
     * are converted to `type`. Values passed as a void pointer must already have that
     * type. Collective. */
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
