
/** A variable. */
class NcmpiVar
{
public:
    /* The names in PnetCDF, followed by those in netCDF's C++ interface. */
    enum EndianMode {
        ncmpi_ENDIAN_NATIVE = NC_ENDIAN_NATIVE,
        ncmpi_ENDIAN_LITTLE = NC_ENDIAN_LITTLE,
        ncmpi_ENDIAN_BIG = NC_ENDIAN_BIG,
        nc_ENDIAN_NATIVE = NC_ENDIAN_NATIVE,
        nc_ENDIAN_LITTLE = NC_ENDIAN_LITTLE,
        nc_ENDIAN_BIG = NC_ENDIAN_BIG
    };
    enum ChunkMode {
        ncmpi_CHUNKED = NC_CHUNKED,
        ncmpi_CONTIGUOUS = NC_CONTIGUOUS,
        nc_CHUNKED = NC_CHUNKED,
        nc_CONTIGUOUS = NC_CONTIGUOUS
    };
    enum ChecksumMode {
        ncmpi_NOCHECKSUM = NC_NOCHECKSUM,
        ncmpi_FLETCHER32 = NC_FLETCHER32,
        nc_NOCHECKSUM = NC_NOCHECKSUM,
        nc_FLETCHER32 = NC_FLETCHER32
    };

    /** Creates a null object. */
    NcmpiVar();
    NcmpiVar(const NcmpiGroup &grp, const int &varId);
    NcmpiVar(const NcmpiVar &ncmpiVar);
    NcmpiVar &operator=(const NcmpiVar &rhs);
    ~NcmpiVar() {}

    bool operator==(const NcmpiVar &rhs) const;
    bool operator!=(const NcmpiVar &rhs) const;
ORDER([NcmpiVar])m4_dnl

    bool isNull() const { return nullObject; }
    int getId() const;
    std::string getName() const;
    NcmpiGroup getParentGroup() const;
    NcmpiType getType() const;
    int getDimCount() const;
    NcmpiDim getDim(int i) const;
    std::vector<NcmpiDim> getDims() const;
    /** Renames the variable. Collective. */
    void rename(const std::string &newname) const;
    /** Gets the offset of the variable in the file, in bytes. */
    void Inq_file_offset(MPI_Offset *offset);

    int getAttCount() const;
    std::map<std::string, NcmpiVarAtt> getAtts() const;
    /** Throws exceptions::NcNotAtt if there is no such attribute. */
    NcmpiVarAtt getAtt(const std::string &name) const;
PUT_ATTS([NcmpiVarAtt])m4_dnl

    /** Sets the fill mode and the fill value, which has the variable's type. If the
     * value is NULL, it is not changed. Collective. */
    void setFill(bool fillMode, const void *fillValue = NULL) const;
    void getFillModeParameters(bool &fillMode, void *fillValue = NULL) const;
    /** Set and get the quantization; see ncmpix_def_var_quantize() in pnetcdf_ext.h.
     * Collective. */
    void setQuantize(int mode, int digits) const;
    void getQuantizeParameters(int &mode, int &digits) const;
    /** Same as getFillModeParameters() above, but for a fill value of any numeric type.
     * A pointer must point to a value of the variable's type. */
    template <class T> void getFillModeParameters(bool &fillMode, T &fillValue) const
    {
        readFill(fillMode, fillValue, typename std::is_pointer<T>::type());
    }
    /** Fills a record. Collective. */
    void fillRec(MPI_Offset recno) const;

    /* Storage parameters for netCDF-4 files. In classic files they are fixed: functions
     * that set them throw, and functions that get them return the fixed parameters. */
    void setChunking(ChunkMode chunkMode, std::vector<MPI_Offset> &chunksizes) const;
    void getChunkingParameters(ChunkMode &chunkMode,
        std::vector<MPI_Offset> &chunkSizes) const;
    void setCompression(bool enableShuffleFilter, bool enableDeflateFilter,
        int deflateLevel) const;
    void getCompressionParameters(bool &shuffleFilterEnabled, bool &deflateFilterEnabled,
        int &deflateLevel) const;
    void setEndianness(EndianMode endianMode) const;
    EndianMode getEndianness() const;
    void setChecksum(ChecksumMode checksumMode) const;
    ChecksumMode getChecksum() const;

    /* Access values through ncmpi_put_ (putVar), ncmpi_get_, ncmpi_iput_, ncmpi_iget_ and
     * ncmpi_bput_. The arguments determine the rest of the name:
     *
     *         (values)                                     var
     *         (index, value)                               var1
     *         (startp, countp, values)                     vara
     *         (startp, countp, stridep, values)            vars
     *         (startp, countp, stridep, imapp, values)     varm
     *
     * Functions whose names end in _all are collective. The others need independent data
     * mode (NcmpiFile::begin_indep_data). With bufcount and buftype, an MPI datatype
     * describes the values. A vector has one element per dimension; stridep and imapp may
     * be empty. If a string is put at an index, only its first character is stored. A
     * single value passed to iputVar may be destroyed before the wait, but values passed
     * by pointer must remain valid. */
foreach_cxx_mode([m4_indir(M_KINDS, [m4_indir(M_SHARING, [foreach_form([
    void V_NAME[]V_ARGS;])
])])])m4_dnl

    /* Access values through ncmpi_put_vard and ncmpi_get_vard: an MPI datatype selects
     * the values in the file. */
    void putVard(MPI_Datatype filetype, const void *dataValues, MPI_Offset bufcount,
        MPI_Datatype buftype) const;
    void putVard_all(MPI_Datatype filetype, const void *dataValues, MPI_Offset bufcount,
        MPI_Datatype buftype) const;
    void getVard(MPI_Datatype filetype, void *dataValues, MPI_Offset bufcount,
        MPI_Datatype buftype) const;
    void getVard_all(MPI_Datatype filetype, void *dataValues, MPI_Offset bufcount,
        MPI_Datatype buftype) const;

private:
    template <class T> void readFill(bool &fillMode, T &fillValue, std::true_type) const
    {
        getFillModeParameters(fillMode, static_cast<void *>(fillValue));
    }
    template <class T> void readFill(bool &fillMode, T &fillValue, std::false_type) const
    {
        union {
foreach_number_type([            T_C T_NAME[]_;
])m4_dnl
        } value;
        getFillModeParameters(fillMode, static_cast<void *>(&value));
        switch (getType().getId()) {
m4_define([FILL_CASE], [        case NC_[]$1:
            fillValue = static_cast<T>(value.$2_);
            break;
])m4_dnl
FILL_CASE([BYTE], [schar])FILL_CASE([CHAR], [uchar])FILL_CASE([UBYTE], [uchar])m4_dnl
FILL_CASE([SHORT], [short])FILL_CASE([USHORT], [ushort])FILL_CASE([INT], [int])m4_dnl
FILL_CASE([UINT], [uint])FILL_CASE([INT64], [longlong])FILL_CASE([UINT64], [ulonglong])m4_dnl
FILL_CASE([FLOAT], [float])FILL_CASE([DOUBLE], [double])m4_dnl
        }
    }

    bool nullObject;
    int myId;
    int groupId;
};
