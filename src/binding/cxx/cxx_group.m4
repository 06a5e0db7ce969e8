
/** A file as something that has dimensions, variables and attributes. Classic files have one
 * group, the root; so nothing is found in parents or children. */
class NcmpiGroup
{
public:
    enum GroupLocation {
        ChildrenGrps,
        ParentsGrps,
        ChildrenOfChildrenGrps,
        AllChildrenGrps,
        ParentsAndCurrentGrps,
        AllGrps
    };
    enum Location {
        Current,
        Parents,
        Children,
        ParentsAndCurrent,
        ChildrenAndCurrent,
        All
    };

    /** One that stands for nothing. */
    NcmpiGroup();
    /** That of a file that is open in C. */
    NcmpiGroup(int groupId);
    NcmpiGroup(const NcmpiGroup &rhs);
    NcmpiGroup &operator=(const NcmpiGroup &rhs);
    virtual ~NcmpiGroup();

    bool operator==(const NcmpiGroup &rhs) const;
    bool operator!=(const NcmpiGroup &rhs) const;
ORDER([NcmpiGroup])m4_dnl

    bool isNull() const { return nullObject; }
    /** The ncid, for functions of C. Throws exceptions::NcNullGrp if there is none. */
    int getId() const;
    /** "/" */
    std::string getName(bool fullName = false) const;
    bool isRootGroup() const;
    NcmpiGroup getParentGroup() const;

    int getGroupCount(NcmpiGroup::GroupLocation location = ChildrenGrps) const;
    std::multimap<std::string, NcmpiGroup>
    getGroups(NcmpiGroup::GroupLocation location = ChildrenGrps) const;
    std::set<NcmpiGroup> getGroups(const std::string &name,
        NcmpiGroup::GroupLocation location = ChildrenGrps) const;
    NcmpiGroup getGroup(const std::string &name,
        NcmpiGroup::GroupLocation location = ChildrenGrps) const;
    NcmpiGroup addGroup(const std::string &name) const;

    int getVarCount(NcmpiGroup::Location location = Current) const;
    int getRecVarCount(NcmpiGroup::Location location = Current) const;
    int getFixVarCount(NcmpiGroup::Location location = Current) const;
    /** Bytes of a record. */
    MPI_Offset getRecSize(NcmpiGroup::Location location = Current) const;
    std::multimap<std::string, NcmpiVar>
    getVars(NcmpiGroup::Location location = Current) const;
    std::set<NcmpiVar> getVars(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    /** A null object if there is none. */
    NcmpiVar getVar(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    /** Each defines a variable: a scalar, along a dimension, along several, the slowest
     * first. Collective. */
    NcmpiVar addVar(const std::string &name, const NcmpiType &ncmpiType) const;
    NcmpiVar addVar(const std::string &name, const NcmpiType &ncmpiType,
        const NcmpiDim &ncmpiDim) const;
    NcmpiVar addVar(const std::string &name, const NcmpiType &ncmpiType,
        const std::vector<NcmpiDim> &ncmpiDimVector) const;
    NcmpiVar addVar(const std::string &name, const std::string &typeName,
        const std::string &dimName) const;
    NcmpiVar addVar(const std::string &name, const std::string &typeName,
        const std::vector<std::string> &dimNames) const;

    int getAttCount(NcmpiGroup::Location location = Current) const;
    std::multimap<std::string, NcmpiGroupAtt>
    getAtts(NcmpiGroup::Location location = Current) const;
    std::set<NcmpiGroupAtt> getAtts(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    /** A null object if there is none. */
    NcmpiGroupAtt getAtt(const std::string &name,
        NcmpiGroup::Location location = Current) const;
PUT_ATTS([NcmpiGroupAtt])m4_dnl
    /** Strings, which classic files do not have: throws. */
    NcmpiGroupAtt putAtt(const std::string &name, MPI_Offset len,
        const char **dataValues) const;

    int getDimCount(NcmpiGroup::Location location = Current) const;
    std::multimap<std::string, NcmpiDim>
    getDims(NcmpiGroup::Location location = Current) const;
    std::set<NcmpiDim> getDims(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    /** A null object if there is none. */
    NcmpiDim getDim(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    /** Defines a dimension; without a size, or with NC_UNLIMITED, the one that grows.
     * Collective. */
    NcmpiDim addDim(const std::string &name) const;
    NcmpiDim addDim(const std::string &name, MPI_Offset dimSize) const;

    /* Types that were defined: none. A type is found if its name is one of those that all
     * files have, such as "int"; else it is a null object. */
    int getTypeCount(NcmpiGroup::Location location = Current) const;
    int getTypeCount(NcmpiType::ncmpiType enumType,
        NcmpiGroup::Location location = Current) const;
    std::multimap<std::string, NcmpiType>
    getTypes(NcmpiGroup::Location location = Current) const;
    std::set<NcmpiType> getTypes(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    std::set<NcmpiType> getTypes(NcmpiType::ncmpiType enumType,
        NcmpiGroup::Location location = Current) const;
    std::set<NcmpiType> getTypes(const std::string &name, NcmpiType::ncmpiType enumType,
        NcmpiGroup::Location location = Current) const;
    NcmpiType getType(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    NcmpiEnumType addEnumType(const std::string &name,
        NcmpiEnumType::ncmpiEnumType basetype) const;
    NcmpiVlenType addVlenType(const std::string &name, NcmpiType &basetype) const;
    NcmpiOpaqueType addOpaqueType(const std::string &name, MPI_Offset size) const;
    NcmpiCompoundType addCompoundType(const std::string &name, MPI_Offset size) const;

protected:
    bool nullObject;
    int myId;
};

/** A file that is open: closed with the object. */
class NcmpiFile : public NcmpiGroup
{
public:
    enum FileMode {
        read,    /**< an existing one, to read */
        write,   /**< an existing one, to read and write */
        replace, /**< a new one, in place of one that may be there */
        newFile  /**< a new one; exceptions::NcExist if there is one */
    };
    /** Counted as in PnetCDF, not the NC_FORMAT_ of C: programs that were built for it have
     * these numbers. */
    enum FileFormat {
        classic,    /**< CDF-1 */
        classic2,   /**< CDF-2 */
        nc4,        /**< netCDF-4, by netCDF-C: NC_ENOTBUILT where that is not */
        nc4classic, /**< its classic model */
        classic5,   /**< CDF-5 */
        BadFormat
    };
    enum FillMode { Fill = NC_FILL, NoFill = NC_NOFILL, Bad };

    /** None that is open. */
    NcmpiFile();
    /** Opens a file, or makes one: ncmpi_open() and ncmpi_create(). A new one is of the
     * default format unless one is given. Collective. */
    NcmpiFile(const MPI_Comm &comm, const std::string &filePath, FileMode fMode,
        const MPI_Info &info = MPI_INFO_NULL);
    NcmpiFile(const MPI_Comm &comm, const std::string &filePath, FileMode fMode,
        FileFormat fFormat, const MPI_Info &info = MPI_INFO_NULL);
    NcmpiFile(const NcmpiFile &) = delete;
    NcmpiFile &operator=(const NcmpiFile &) = delete;
    NcmpiFile(NcmpiFile &&rhs) noexcept;
    NcmpiFile &operator=(NcmpiFile &&rhs) noexcept;
    /** Closes it, and keeps errors to itself: close() tells them. Collective, unless it is
     * closed, or MPI has ended. */
    virtual ~NcmpiFile();

    /** Closes it; the object is then as NcmpiFile() makes it, also after an error.
     * Collective. */
    void close();
    /** Leaves define mode. Collective. What accesses values does so too. */
    void enddef();
    /** To independent data mode and back. Collective. */
    void begin_indep_data();
    void end_indep_data();
    void sync();
    void flush();
    FileFormat getFormat(void) const;
    /** Fill mode of all variables that are not in the file yet. Collective. */
    void set_fill(FillMode fillmode, FillMode *old_modep = NULL);

    /* Requests that wait: what became of each is in its status; what is thrown is what C
     * returns. */
    void Wait_all(int num, int *array_of_requests, int *array_of_statuses);
    void Wait(int num, int *array_of_requests, int *array_of_statuses);
    void Cancel(int num, int *array_of_requests, int *array_of_statuses);
    void Buffer_attach(MPI_Offset bufsize);
    void Buffer_detach(void);
    void Inq_buffer_usage(MPI_Offset *usage);
    void Inq_buffer_size(MPI_Offset *buf_size);
    void Inq_nreqs(int *nreqs);

    /** The hints in force: to be freed by MPI_Info_free. */
    void Inq_file_info(MPI_Info *info);
    void Inq_get_size(MPI_Offset *get_size);
    void Inq_put_size(MPI_Offset *put_size);
    void Inq_header_size(MPI_Offset *header_size);
    void Inq_header_extent(MPI_Offset *header_extent);
    void Inq_path(int *pathlen, char *path);

private:
    void open(MPI_Comm comm, const std::string &path, FileMode mode, int format,
        MPI_Info info);
};
