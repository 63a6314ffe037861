import type { Command, Option } from 'commander';

/** Words typed on a command line. */
export interface TypedLine {
  /** The innermost command that was named. */
  readonly command: Command;
  /** Its name below the program, as in `zones confirm`. */
  readonly path: string;
  /** Words that are neither commands nor options. */
  readonly operands: readonly string[];
  /** Values of the options, by attribute. */
  readonly options: Readonly<Record<string, string>>;
  /** The option whose value comes next. */
  readonly pending: Option | undefined;
}

/** Reads the words before the one that is completed. Nothing is wrong to it: people are still typing. */
export function readTypedLine(program: Command, words: readonly string[]): TypedLine {
  let command = program;
  const path: string[] = [];
  const operands: string[] = [];
  const options: Record<string, string> = {};
  let pending: Option | undefined;
  for (const word of words) {
    if (pending) {
      options[pending.attributeName()] = word;
      pending = undefined;
      continue;
    }
    const [flag = '', value] = word.split(/=(.*)/s);
    const option = word.startsWith('-') ? findOption(command, flag) : undefined;
    if (option && (option.required || option.optional)) {
      if (value === undefined) pending = option;
      else options[option.attributeName()] = value;
    } else if (!word.startsWith('-')) {
      const below = operands.length === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (below) {
        command = below;
        path.push(word);
      } else operands.push(word);
    }
  }
  return { command, path: path.join(' '), operands, options, pending };
}

/** The option of a flag, of the command or of one above it. */
function findOption(command: Command, flag: string): Option | undefined {
  const own = command.options.find(({ short, long }) => flag === short || flag === long);
  return own ?? (command.parent ? findOption(command.parent, flag) : undefined);
}

/** All options of a command and of those above it. */
export function listOptions(command: Command): readonly Option[] {
  return [...command.options, ...(command.parent ? listOptions(command.parent) : [])];
}

/** Joins what bash has split at `=` and `:`. The second part is how much of the last word the shell does not expect back. */
export function joinWords(words: readonly string[]): { readonly words: readonly string[]; readonly prefix: string } {
  const joined: string[] = [];
  let prefix = '';
  words.forEach((word, i) => {
    const glued = /^[=:]+$/.test(word) || /^[=:]+$/.test(words[i - 1] ?? '');
    const last = joined.length - 1;
    if (!glued || last < 0) {
      joined.push(word);
      prefix = '';
      return;
    }
    prefix = /^[=:]+$/.test(word) ? joined[last] + word : (joined[last] ?? '');
    joined[last] += word;
  });
  return { words: joined, prefix };
}
