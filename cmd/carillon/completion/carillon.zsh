#compdef carillon
# zsh completion for carillon; put it into a directory of $fpath as _carillon, or: source <(carillon completion zsh)

_carillon() {
    local -a described open
    local line value
    while IFS= read -r line; do
        case $line in
        :files) _files ;;
        *=) open+=("$line") ;;
        *)
            value=${${line%%$'\t'*}//:/\\:}
            if [[ $line == *$'\t'* ]]; then value+=":${line#*$'\t'}"; fi
            described+=("$value")
            ;;
        esac
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    # What ends in = goes on with its value.
    if (( $#open )); then compadd -S '' -a open; fi
    if (( $#described )); then _describe 'carillon' described; fi
}

if [ "$funcstack[1]" = "_carillon" ]; then
    _carillon "$@"
else
    compdef _carillon carillon
fi
