# Completion for bash: completes the options that --help lists, and file names.
_pnetcdf_tool()
{
    local cur=${COMP_WORDS[COMP_CWORD]}
    COMPREPLY=()
    case $cur in
    -*)
        local words
        words=$("$1" --help 2>/dev/null | sed -nE 's/^ +(-[^ ,]+)(, (--[^ ]+))?.*/\1 \3/p')
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
        return ;;
    esac
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
}
complete -F _pnetcdf_tool cdfdiff ncmpicopy ncmpidiff ncmpidump ncmpigen ncmpihints \
    ncmpijoin ncmpilog ncmpirefs ncmpitrace ncoffsets ncvalidator pnetcdf-config pnetcdf_version
