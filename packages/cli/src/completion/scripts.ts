/** The scripts know nothing but how their shell asks: `dl complete` reads the table of commands of the very version that is installed. */

const bash = `# Completion of dl for bash: source <(dl completion bash)
_dl() {
  local value rest
  COMPREPLY=()
  while IFS=$'\\t' read -r value rest; do
    if [ "$value" = :files ]; then
      compopt -o default 2>/dev/null
    elif [ -n "$value" ]; then
      COMPREPLY+=("$value")
    fi
  done < <(dl complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _dl dl
`;

const zsh = `#compdef dl
# Completion of dl for zsh: source <(dl completion zsh)
_dl() {
  local line value text
  local -a candidates
  for line in "\${(@f)$(dl complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    value=\${line%%$'\\t'*}
    if [[ $value == :files ]]; then
      _files
      return
    fi
    text=\${line#*$'\\t'}
    [[ -n $value ]] && candidates+=("\${value//:/\\\\:}\${text:+:$text}")
  done
  _describe dl candidates
}
if [[ $funcstack[1] == _dl ]]; then
  _dl "$@"
else
  compdef _dl dl
fi
`;

const fish = `# Completion of dl for fish: dl completion fish | source
function __dl_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (dl complete -- $words[2..] 2>/dev/null)
        if string match -q ':files*' -- $line
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c dl -f -a '(__dl_complete)'
`;

/** The scripts by the names of their shells. */
export const scripts = { bash, zsh, fish } as const;
