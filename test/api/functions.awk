# Expands functions.txt to one prototype per line, in no particular order.
BEGIN {
    n = split("text schar uchar short ushort int uint long float double longlong " \
              "ulonglong", suffix, " ")
    split("char,signed char,unsigned char,short,unsigned short,int,unsigned int,long," \
          "float,double,long long,unsigned long long", type, ",")
}
/^#/ { next }
{
    name = $0
    sub(/\(.*/, "", name)
    arguments = substr($0, length(name) + 1)
    for (i = 1; i <= (index(name, "@") ? n : 1); i++) {
        one = name
        sub(/@/, suffix[i], one)
        list = arguments
        sub(/@/, type[i], list)
        prototype[one] = one list
    }
}
END { for (one in prototype) print prototype[one] }
