import { Argument, type Command } from 'commander';
import type { ProgramContext } from '../../context';
import type { SetExitCode } from '../../options';

/** Bash splits words at `=` and `:`; `joinWords` joins them again. Without `-o default` bash completes files only if the program asks for it. */
const BASH = `# completion of causeway for bash; in ~/.bashrc: source <(causeway completion bash)
_causeway() {
  local IFS=$'\\n' line
  COMPREPLY=()
  for line in $("\${COMP_WORDS[0]}" __complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
    case $line in
      :files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")) ;;
      :nospace) compopt -o nospace ;;
      *) COMPREPLY+=("$line") ;;
    esac
  done
}
complete -F _causeway causeway`;

const ZSH = `#compdef causeway
# completion of causeway for zsh; in ~/.zshrc: source <(causeway completion zsh)
_causeway() {
  local line space=' '
  local -a shown
  for line in "\${(@f)$("\${words[1]}" __complete zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :files) _files ;;
      :nospace) space='' ;;
      *) shown+=("$line") ;;
    esac
  done
  (( $#shown )) && _describe -V causeway shown -S "$space"
}
compdef _causeway causeway`;

const FISH = `# completion of causeway for fish; in ~/.config/fish/config.fish: causeway completion fish | source
function __causeway_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] __complete fish -- $words[2..-1] 2>/dev/null)
    switch $line
      case ':files'
        __fish_complete_path (commandline -ct)
      case ':nospace'
      case '*'
        echo $line
    end
  end
end
complete -c causeway -f -a '(__causeway_complete)'`;

const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH };

/** The shells that have a script. */
export type Shell = keyof typeof SCRIPTS;

/** `causeway completion SHELL`: prints a script that the shell reads at its start. */
export function registerCompletion(program: Command, context: ProgramContext, finish: SetExitCode): void {
  program
    .command('completion')
    .description('prints the script that completes commands, flags, kinds, names, zones and contexts in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(SCRIPTS)))
    .action((shell: Shell) => {
      context.print(SCRIPTS[shell]);
      finish(0);
    });
}
