# fish completion for carillon; load it with: carillon completion fish | source

function __carillon_complete
    set -l words (commandline --current-process --tokenize --cut-at-cursor)
    set -l program $words[1]
    set -l last (commandline --current-token --cut-at-cursor)
    set -e words[1]
    for line in ($program __complete $words "$last" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (commandline --current-token)
            case '*'
                echo $line
        end
    end
end

complete --command carillon --no-files --arguments '(__carillon_complete)'
