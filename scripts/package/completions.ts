import type { Command } from "./help-pages.ts";

/** Makes the completions of a program for the shells that people use, by their paths below `share/`. */
export function makeCompletions(program: Command): Readonly<Record<string, string>> {
  const name = program.name();
  return {
    [`bash-completion/completions/${name}`]: forBash(program),
    [`zsh/vendor-completions/_${name}`]: forZsh(program),
    [`fish/vendor_completions.d/${name}.fish`]: forFish(program),
  };
}

/** Commands, their options, and files for all else. */
function forBash(program: Command): string {
  const name = program.name();
  const cases = pathsOf(program, []).map(({ path, command }) => {
    const words = [...command.commands.map((child) => child.name()), ...longOptions(command)].join(" ");
    return `    ${JSON.stringify(path.join(" "))}) words=${JSON.stringify(words)} ;;`;
  });
  return `# Completion for ${name}, made from its help texts.
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} path="" words="" at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
      -*) ;;
      *) case "\${path:+$path }\${COMP_WORDS[at]}" in
${pathsOf(program, [])
  .filter(({ path }) => path.length > 0)
  .map(({ path }) => `        ${JSON.stringify(path.join(" "))}) path=${JSON.stringify(path.join(" "))} ;;`)
  .join("\n")}
        esac ;;
    esac
  done
  case $path in
${cases.join("\n")}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words ${longOptions(program).join(" ")}" -- "$current")
}
complete -o default -F _${name} ${name}
`;
}

function pathsOf(command: Command, path: readonly string[]): { path: readonly string[]; command: Command }[] {
  return [{ path, command }, ...command.commands.flatMap((child) => pathsOf(child, [...path, child.name()]))];
}

function longOptions(command: Command): string[] {
  return command.options.flatMap(({ long }) => (long ? [long] : []));
}

/** The same with what each command and each option is for. */
function forZsh(program: Command): string {
  const name = program.name();
  const cases = pathsOf(program, []).map(({ path, command }) => {
    const commands = command.commands.map((child) => quote(`${child.name()}:${child.description()}`));
    const options = optionsOf(program, command).map(({ long, description }) => quote(`${long}:${description}`));
    return `    ${quote(path.join(" "))}) commands=(${commands.join(" ")}) options=(${options.join(" ")}) ;;`;
  });
  const known = pathsOf(program, []).flatMap(({ path }) => (path.length > 0 ? [quote(path.join(" "))] : []));
  return `#compdef ${name}
# Completion for ${name}, made from its help texts.
_${name}() {
  local at=2 taken="" next
  local -a commands options
  while ((at < CURRENT)); do
    next=\${taken:+$taken }\${words[at]}
    case $next in
      ${known.join("|")}) taken=$next ;;
    esac
    ((at++))
  done
  case $taken in
${cases.join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o option options
  else
    ((#commands)) && _describe command commands
    ((#commands)) || _files
  fi
}
_${name} "$@"
`;
}

function forFish(program: Command): string {
  const name = program.name();
  const lines = pathsOf(program, []).flatMap(({ path, command }) => {
    const isHere = condition(path, command);
    const commands = command.commands.map(
      (child) => `complete -c ${name} -n ${quote(isHere)} -f -a ${child.name()} -d ${quote(child.description())}`,
    );
    const options = command.options.flatMap(({ long, description }) =>
      long ? [`complete -c ${name} -n ${quote(within(path))} -l ${long.slice(2)} -d ${quote(description)}`] : [],
    );
    return [...commands, ...options];
  });
  return `# Completion for ${name}, made from its help texts.\n${lines.join("\n")}\n`;
}

function within(path: readonly string[]): string {
  return path.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ") || "true";
}

/** True where one of the command's own commands comes next. */
function condition(path: readonly string[], { commands }: Command): string {
  const names = commands.map((child) => child.name()).join(" ");
  if (path.length === 0) return "__fish_use_subcommand";
  return `${within(path)}; and not __fish_seen_subcommand_from ${names}`;
}

function optionsOf(program: Command, command: Command) {
  return [...new Set([...command.options, ...program.options])].filter(({ long }) => long !== undefined);
}

/** For all three shells. A colon ends the word that a description of zsh belongs to, and is the first one there. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "’")}'`;
}
