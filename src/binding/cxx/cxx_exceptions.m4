
/** What is thrown: an NcmpiException, of the class that has its code if there is one. */
namespace exceptions
{
class NcmpiException : public std::runtime_error
{
public:
    /** What has no code of its own: errorCode() is 0. */
    NcmpiException(const char *complaint, const char *fileName, int lineNumber);
    NcmpiException(int errorCode, const char *complaint, const char *fileName,
        int lineNumber);
    NcmpiException(const NcmpiException &e) noexcept;
    NcmpiException &operator=(const NcmpiException &e) noexcept;
    virtual ~NcmpiException() noexcept;
    /** The words, and in a second line the place where it was thrown. */
    const char *what() const noexcept override;
    /** The code, NC_E... of pnetcdf.h. */
    int errorCode() const noexcept;

private:
    int code; /* and no more: programs built for PnetCDF copy objects of three words */
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

/** Throws what a result of C stands for, if it is not NC_NOERR.
 * @param retCode the result
 * @param file, line where it came from */
void ncmpiCheck(int retCode, const char *file, int line);

/** Sees to it that a file is in define mode, else in data mode. Collective. */
void ncmpiCheckDefineMode(int ncid);
void ncmpiCheckDataMode(int ncid);
