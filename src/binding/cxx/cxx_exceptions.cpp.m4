m4_include(`cxx_tables.m4')m4_dnl
/* Generated from cxx_exceptions.cpp.m4: the exceptions. */
#include "cxx_parts.hpp"

namespace PnetCDF
{
namespace exceptions
{
static std::string make_words(const char *complaint, const char *file, int line)
{
    std::string text(complaint != nullptr ? complaint : "");
    text += "\nfile: ";
    text += file != nullptr ? file : "unknown";
    text += "  line: " + std::to_string(line);
    return text;
}

NcmpiException::NcmpiException(const char *complaint, const char *fileName,
    int lineNumber)
    : NcmpiException(0, complaint, fileName, lineNumber)
{
}

NcmpiException::NcmpiException(int errorCode, const char *complaint,
    const char *fileName, int lineNumber)
    : std::runtime_error(make_words(complaint, fileName, lineNumber)), code(errorCode)
{
}

NcmpiException::NcmpiException(const NcmpiException &) noexcept = default;
NcmpiException &NcmpiException::operator=(const NcmpiException &) noexcept = default;
NcmpiException::~NcmpiException() noexcept {}

const char *NcmpiException::what() const noexcept
{
    return std::runtime_error::what();
}

int NcmpiException::errorCode() const noexcept
{
    return code;
}
m4_define([EXCEPTION], [
X_NAME::X_NAME[](const char *complaint, const char *file, int line)
    : NcmpiException(X_CODE, complaint, file, line)
{
}
])m4_dnl
foreach_exception([EXCEPTION()])foreach_null_exception([EXCEPTION()])m4_dnl
} // namespace exceptions

void ncmpiCheck(int retCode, const char *file, int line)
{
    if (retCode == NC_NOERR) return;
    const char *words = ncmpi_strerror(retCode);
    switch (retCode) {
foreach_exception([    case X_CODE:
        throw exceptions::X_NAME[](words, file, line);
])m4_dnl
    default:
        throw exceptions::NcmpiException(retCode, words, file, line);
    }
}
} // namespace PnetCDF
