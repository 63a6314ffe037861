import type { Command, Option } from 'commander';

/** The parsed words of an unfinished command line. */
export interface TypedLine {
  /** The innermost command. */
  readonly command: Command;
  /** Its name without the program's, as in `zones confirm`. */
  readonly path: string;
  /** Words that are neither commands nor options. */
  readonly operands: readonly string[];
  /** Values of the options, by attribute. */
  readonly options: Readonly<Record<string, string>>;
  /** The option whose value the next word is. */
  readonly pending: Option | undefined;
}

/** Parses the words before the one that is completed. Accepts errors, because the user is still typing. */
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

/** Returns the option of a flag, of the command or its parents. */
function findOption(command: Command, flag: string): Option | undefined {
  const own = command.options.find(({ short, long }) => flag === short || flag === long);
  return own ?? (command.parent ? findOption(command.parent, flag) : undefined);
}

/** Returns all options of a command and its parents. */
export function listOptions(command: Command): readonly Option[] {
  return [...command.options, ...(command.parent ? listOptions(command.parent) : [])];
}

/** Joins words that bash has split at `=` and `:`. `prefix` is the part of the last word that the shell does not expect back. */
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
