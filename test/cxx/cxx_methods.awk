# Generates, from cxx_methods.tsv, a program that uses every class, enumeration, function and method
# of the published interface with the exact types of its arguments and result. Each class is checked
# in a struct derived from it, where the names of its members are visible. With -v calls=1, the
# compiled program instead refers to each function that PnetCDF's header declares but does not
# define.
BEGIN {
    FS = "\t"
    print "#include <pnetcdf>\n#include <type_traits>\nusing namespace PnetCDF;"
    print "template <class F> struct made;"
    print "template <class C, class... A> struct made<C(A...)> : std::is_constructible<C, A...> {"
    print "    static C *call(A... a) { return new C(static_cast<A>(a)...); } };"
    print "template <class C> void destroy(C *c) { c->~C(); }"
    used = calls ? "__attribute__((used)) " : ""
}
FNR == 1 { next }
function within(scope, code) {
    if (scope ~ /^PnetCDF(::exceptions)?$/) printf "struct check%d { %sstatic void f() { %s; } };\n", n, used, code
    else printf "struct check%d : %s { %sstatic void f() { %s; } };\n", n, scope, used, code
}
function refers(type, to) { return calls ? "static volatile auto p = " type "(" to "); (void)p" : "(void)" type "(" to ")" }
function holds(what) { return "static_assert(" what ", \"\")" }
{
    n++
    if (calls && $2 != "prototype") next
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
        within(scope, calls ? refers("", "&made<" scope args ">::call") : holds("made<" scope args ">::value"))
    else if (name == "~" class)
        within("PnetCDF", calls ? refers("", "&destroy<" scope ">") : holds("std::is_destructible<" scope ">::value"))
    else if (scope == "PnetCDF")
        within(scope, refers("static_cast<" result " (*)" args ">", "&" full))
    else
        within(scope, refers("static_cast<" result " (" scope "::*)" args ">", "&" full (generic ? "<int>" : "")))
}
END {
    print "int main() { return 0; }"
    print "// " n " rows"
}
