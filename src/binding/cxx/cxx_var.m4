
/** A variable. */
class NcmpiVar
{
public:
    /* PnetCDF's names, and those of netCDF in C++. */
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

    /** One that stands for nothing. */
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
    /** Collective. */
    void rename(const std::string &newname) const;
    /** Where it begins in the file, in bytes. */
    void Inq_file_offset(MPI_Offset *offset);

    int getAttCount() const;
    std::map<std::string, NcmpiVarAtt> getAtts() const;
    /** Throws exceptions::NcNotAtt if there is none. */
    NcmpiVarAtt getAtt(const std::string &name) const;
PUT_ATTS([NcmpiVarAtt])m4_dnl

    /** Fill mode, and one fill value of the variable's type; NULL leaves that alone.
     * Collective. */
    void setFill(bool fillMode, const void *fillValue = NULL) const;
    void getFillModeParameters(bool &fillMode, void *fillValue = NULL) const;
    /** Quantization: see ncmpix_def_var_quantize() in pnetcdf_ext.h. Collective. */
    void setQuantize(int mode, int digits) const;
    void getQuantizeParameters(int &mode, int &digits) const;
    /** The same for a fill value of any type of number; a pointer is one to a value of the
     * variable's type. */
    template <class T> void getFillModeParameters(bool &fillMode, T &fillValue) const
    {
        readFill(fillMode, fillValue, typename std::is_pointer<T>::type());
    }
    /** Fills a record. Collective. */
    void fillRec(MPI_Offset recno) const;

    /* What netCDF-4 files may be told; in classic ones it cannot be changed: those of set
     * throw, those of get tell what there is. */
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

    /* Access to values: ncmpi_put_ (putVar), ncmpi_get_, ncmpi_iput_, ncmpi_iget_ and
     * ncmpi_bput_, followed by
     *
     *     (values)                                     var
     *     (index, value)                               var1
     *     (startp, countp, values)                     vara
     *     (startp, countp, stridep, values)            vars
     *     (startp, countp, stridep, imapp, values)     varm
     *
     * Those whose names end in _all are collective, the others need independent data mode
     * (NcmpiFile::begin_indep_data). With bufcount and buftype, the values are those of an
     * MPI datatype. A vector has an element for each dimension; stridep and imapp may be
     * empty. A string that is put at an index is one character, the first one. One value
     * that is put by iputVar may be gone before the wait; values behind a pointer not. */
foreach_cxx_mode([m4_indir(M_KINDS, [m4_indir(M_SHARING, [foreach_form([
    void V_NAME[]V_ARGS;])
])])])m4_dnl

    /* ncmpi_put_vard and ncmpi_get_vard: places by an MPI datatype. */
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
