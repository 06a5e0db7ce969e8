
/** Exceptions. An error code is thrown as the class for that code, or else as
 * NcmpiException. */
namespace exceptions
{
class NcmpiException : public std::runtime_error
{
public:
    /** Describes an error that has no code: errorCode() returns 0. */
    NcmpiException(const char *complaint, const char *fileName, int lineNumber);
    NcmpiException(int errorCode, const char *complaint, const char *fileName,
        int lineNumber);
    NcmpiException(const NcmpiException &e) noexcept;
    NcmpiException &operator=(const NcmpiException &e) noexcept;
    virtual ~NcmpiException() noexcept;
    /** Returns the message, followed by a line with the location where the exception was
     * thrown. */
    const char *what() const noexcept override;
    /** Returns the error code, one of the NC_E... constants in pnetcdf.h. */
    int errorCode() const noexcept;

private:
    int code; /* the only member: programs built for PnetCDF copy objects of this size */
};

m4_define([EXCEPTION], [
/// X_CODE
class X_NAME : public NcmpiException
{
public:
    X_NAME[](const char *complaint, const char *file, int line);
};
])m4_dnl
foreach_exception([EXCEPTION()])m4_dnl
foreach_null_exception([EXCEPTION()])m4_dnl
} // namespace exceptions

/** Throws the exception for the result of a C function unless it is NC_NOERR.
 * @param retCode the result
 * @param file, line location of the call */
void ncmpiCheck(int retCode, const char *file, int line);

/** Switch a file to define mode or data mode unless it is already in that mode.
 * Collective. */
void ncmpiCheckDefineMode(int ncid);
void ncmpiCheckDataMode(int ncid);
