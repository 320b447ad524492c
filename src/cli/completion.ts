/** `snitch completion`: scripts for shells. They ask the hidden command `snitch __complete` about every word. */
import { Argument } from 'commander';
import { type Register, withExamples } from './command/command.ts';
import { print } from './output/pieces.ts';

export const register: Register = (program) => {
  const completion = program
    .command('completion')
    .description('print the completion script of a shell; names and tags come from the live API')
    .addArgument(new Argument('<shell>', 'which').choices(['bash', 'zsh', 'fish']))
    .action((shell: keyof typeof SCRIPTS) => {
      print([SCRIPTS[shell]]);
    });
  withExamples(
    completion,
    'source <(snitch completion bash)                                     in ~/.bashrc',
    'source <(snitch completion zsh)                                      in ~/.zshrc',
    'snitch completion fish > ~/.config/fish/completions/snitch.fish',
  );
};

/**
 * Names can have spaces and quotes, so bash has to quote what it inserts. Inside quotes that are already open it offers
 * only names without characters that are special there, because a name must not run a command. Without an answer it
 * completes files.
 */
const BASH = `# bash completion of snitch
_snitch() {
  local current=\${COMP_WORDS[COMP_CWORD]} value
  local special='*["$\`\\\\!]*'
  COMPREPLY=()
  local typed=$current
  case $typed in [\\"\\']*) typed=\${typed:1} ;; *) typed=\${typed//\\\\/} ;; esac
  while IFS=$'\\t' read -r value _; do
    [[ $value == "$typed"* ]] || continue
    case $current in
      \\"*) [[ $value == $special ]] || COMPREPLY+=("$value") ;;
      \\'*) [[ $value == *\\'* ]] || COMPREPLY+=("$value") ;;
      *) COMPREPLY+=("$(printf %q "$value")") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$typed" 2>/dev/null)
}
complete -o bashdefault -o default -F _snitch snitch
`;

const ZSH = `#compdef snitch
# zsh completion of snitch
_snitch() {
  local -a values
  local value description
  while IFS=$'\\t' read -r value description; do
    values+=("\${value//:/\\\\:}\${description:+:$description}")
  done < <("\${words[1]}" __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)words[CURRENT]}" 2>/dev/null)
  if (( \${#values} )); then
    _describe snitch values
  else
    _files
  fi
}
if [ "\${funcstack[1]}" = _snitch ]; then
  _snitch "$@"
else
  # Without its own completion system zsh has no compdef.
  if ! (( $+functions[compdef] )); then
    autoload -Uz compinit && compinit -i
  fi
  compdef _snitch snitch
fi
`;

const FISH = `# fish completion of snitch
function __snitch_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    snitch __complete -- $words[2..] (commandline --current-token --cut-at-cursor) 2>/dev/null
end
complete --command snitch --no-files --arguments '(__snitch_complete)'
complete --command snitch --condition '__fish_seen_subcommand_from backup restore apply diff' --force-files
`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH };
