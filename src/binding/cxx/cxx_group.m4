
/** A file, seen as a container of dimensions, variables and attributes. Classic files
 * have a single group, the root, so searches in parents or children find nothing. */
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

    /** Creates a null object. */
    NcmpiGroup();
    /** Creates an object for the root group of a file that a C function has opened. */
    NcmpiGroup(int groupId);
    NcmpiGroup(const NcmpiGroup &rhs);
    NcmpiGroup &operator=(const NcmpiGroup &rhs);
    virtual ~NcmpiGroup();

    bool operator==(const NcmpiGroup &rhs) const;
    bool operator!=(const NcmpiGroup &rhs) const;
ORDER([NcmpiGroup])m4_dnl

    bool isNull() const { return nullObject; }
    /** Returns the ncid to pass to C functions. Throws exceptions::NcNullGrp for a null
     * object. */
    int getId() const;
    /** Returns "/". */
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
    /** Returns the size of a record in bytes. */
    MPI_Offset getRecSize(NcmpiGroup::Location location = Current) const;
    std::multimap<std::string, NcmpiVar>
    getVars(NcmpiGroup::Location location = Current) const;
    std::set<NcmpiVar> getVars(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    /** Returns a null object if there is no such variable. */
    NcmpiVar getVar(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    /** Define a variable, which may be a scalar or have any number of dimensions,
     * slowest first. Collective. */
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
    /** Returns a null object if there is no such attribute. */
    NcmpiGroupAtt getAtt(const std::string &name,
        NcmpiGroup::Location location = Current) const;
PUT_ATTS([NcmpiGroupAtt])m4_dnl
    /** Always throws, because classic files do not support strings. */
    NcmpiGroupAtt putAtt(const std::string &name, MPI_Offset len,
        const char **dataValues) const;

    int getDimCount(NcmpiGroup::Location location = Current) const;
    std::multimap<std::string, NcmpiDim>
    getDims(NcmpiGroup::Location location = Current) const;
    std::set<NcmpiDim> getDims(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    /** Returns a null object if there is no such dimension. */
    NcmpiDim getDim(const std::string &name,
        NcmpiGroup::Location location = Current) const;
    /** Defines a dimension. The dimension is unlimited if its size is NC_UNLIMITED or
     * omitted. Collective. */
    NcmpiDim addDim(const std::string &name) const;
    NcmpiDim addDim(const std::string &name, MPI_Offset dimSize) const;

    /* User-defined types do not exist. A search by name finds the types that all files
     * have, such as "int". Other searches return a null object or an empty container. */
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

/** An open file. The destructor closes it. */
class NcmpiFile : public NcmpiGroup
{
public:
    enum FileMode {
        read,    /**< an existing file for reading */
        write,   /**< an existing file for reading and writing */
        replace, /**< a new file, which replaces an existing one */
        newFile  /**< a new file; throws exceptions::NcExist if the file exists */
    };
    /** The values are the same as in PnetCDF, because programs built for PnetCDF contain
     * them. They differ from the NC_FORMAT_ constants in C. */
    enum FileFormat {
        classic,    /**< CDF-1 */
        classic2,   /**< CDF-2 */
        nc4,        /**< netCDF-4, through netCDF-C; NC_ENOTBUILT if it is not
                     * installed */
        nc4classic, /**< netCDF-4 with the classic model */
        classic5,   /**< CDF-5 */
        BadFormat
    };
    enum FillMode { Fill = NC_FILL, NoFill = NC_NOFILL, Bad };

    /** Creates an object that refers to no file. */
    NcmpiFile();
    /** Opens or creates a file by calling ncmpi_open() or ncmpi_create(). A new file has
     * the default format unless a format is given. Collective. */
    NcmpiFile(const MPI_Comm &comm, const std::string &filePath, FileMode fMode,
        const MPI_Info &info = MPI_INFO_NULL);
    NcmpiFile(const MPI_Comm &comm, const std::string &filePath, FileMode fMode,
        FileFormat fFormat, const MPI_Info &info = MPI_INFO_NULL);
    NcmpiFile(const NcmpiFile &) = delete;
    NcmpiFile &operator=(const NcmpiFile &) = delete;
    NcmpiFile(NcmpiFile &&rhs) noexcept;
    NcmpiFile &operator=(NcmpiFile &&rhs) noexcept;
    /** Closes the file and ignores errors. To detect errors, call close(). Collective,
     * unless the file is closed or MPI has been finalized. */
    virtual ~NcmpiFile();

    /** Closes the file. Even after an error, the object then refers to no file, as if
     * created by NcmpiFile(). Collective. */
    void close();
    /** Leaves define mode. Functions that access values also leave it. Collective. */
    void enddef();
    /** Enter and leave independent data mode. Collective. */
    void begin_indep_data();
    void end_indep_data();
    void sync();
    void flush();
    FileFormat getFormat(void) const;
    /** Sets the fill mode of all variables that are not yet in the file. Collective. */
    void set_fill(FillMode fillmode, FillMode *old_modep = NULL);

    /* Wait for or cancel pending requests, and manage the buffer for bput.
     * array_of_statuses receives the result of each request. An error from the C function
     * itself is thrown. */
    void Wait_all(int num, int *array_of_requests, int *array_of_statuses);
    void Wait(int num, int *array_of_requests, int *array_of_statuses);
    void Cancel(int num, int *array_of_requests, int *array_of_statuses);
    void Buffer_attach(MPI_Offset bufsize);
    void Buffer_detach(void);
    void Inq_buffer_usage(MPI_Offset *usage);
    void Inq_buffer_size(MPI_Offset *buf_size);
    void Inq_nreqs(int *nreqs);

    /** Returns the hints in effect. Free them with MPI_Info_free. */
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
