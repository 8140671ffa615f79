# bash completion for carillon; load it with: source <(carillon completion bash)

_carillon() {
    local words=("${COMP_WORDS[@]:1:COMP_CWORD}") before=${COMP_WORDS[COMP_CWORD - 1]} value
    COMPREPLY=()
    while IFS= read -r value; do
        value=${value%%$'\t'*}
        # What stands before a = is a word of its own here.
        if [[ $before == "=" || ${COMP_WORDS[COMP_CWORD]} == "=" ]]; then value=${value##*=}; fi
        case $value in
        :files) compopt -o default 2>/dev/null ;;
        *=) compopt -o nospace 2>/dev/null; COMPREPLY+=("$value") ;;
        *) COMPREPLY+=("$value") ;;
        esac
    done < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
}

complete -F _carillon carillon
