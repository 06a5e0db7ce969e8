# From cxx_methods.tsv, a program that uses every class, enumeration, function and method of
# the published interface with the very types of its arguments and its result. Within a class
# that is derived from it, the names that belong to a class are known.
BEGIN {
    FS = "\t"
    print "#include <pnetcdf>\n#include <type_traits>\nusing namespace PnetCDF;"
    print "template <class F> struct made;"
    print "template <class C, class... A> struct made<C(A...)> : std::is_constructible<C, A...> {};"
}
FNR == 1 { next }
function within(scope, code) {
    if (scope ~ /^PnetCDF(::exceptions)?$/) printf "struct check%d { static void f() { %s; } };\n", n, code
    else printf "struct check%d : %s { static void f() { %s; } };\n", n, scope, code
}
function holds(what) { return "static_assert(" what ", \"\")" }
{
    n++
    scope = $1; kind = $2; name = $3; result = $4; args = $5
    gsub(/=[^,)]*/, "", args)
    class = scope
    sub(/.*::/, "", class)
    full = scope "::" name
    generic = args ~ /(\(|,|const |[ ])T (&|memberValue)/
    gsub(/T &/, "int \\&", args)
    gsub(/T memberValue/, "int memberValue", args)
    if (kind == "class")
        within("PnetCDF", holds("std::is_class<" full ">::value"))
    else if (kind == "enum")
        within("PnetCDF", holds("std::is_enum<" full ">::value"))
    else if (kind == "enumerator")
        within("PnetCDF", holds("std::is_same<decltype(" full "), " scope ">::value"))
    else if (name == class)
        within(scope, holds("made<" scope args ">::value"))
    else if (name == "~" class)
        within("PnetCDF", holds("std::is_destructible<" scope ">::value"))
    else if (scope == "PnetCDF")
        within(scope, "(void)static_cast<" result " (*)" args ">(&" full ")")
    else
        within(scope, "(void)static_cast<" result " (" scope "::*)" args ">(&" full (generic ? "<int>" : "") ")")
}
END {
    print "int main() { return 0; }"
    print "// " n " rows"
}
