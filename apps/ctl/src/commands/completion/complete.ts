import { connectApi, type ApiClient } from '@causeway/api-client';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../../config';
import { requireKind, type CommandContext, type ProgramContext } from '../../context';
import type { RegisterLightCommand } from '../../options';
import { ANY_KIND } from '../../declared-kinds';
import { toSelection } from '../../refs';
import { textAt } from '../../render';
import { resolveConnection } from '../../settings/connection';
import { readContexts } from '../../settings/contexts-file';
import { listCandidates, type Candidate, type NameSource } from './candidates';
import { joinWords, type TypedLine } from './command-line';
import type { Shell } from './completion';

/** Timeout for the server, ms: the user has pressed a key and waits. */
const TIMEOUT = 1_000;
/** Maximum number of names that are offered. */
const MAX_NAMES = 200;

/** Returns the commands for a line, and the context in which they would call a control plane. */
export type CommandTree = (
  words: readonly string[],
) => Promise<{ readonly program: Command; readonly command: Pick<CommandContext, 'registry' | 'learnKinds'> }>;

/**
 * `causeway __complete SHELL -- WORDS...`: called by the scripts of `causeway completion`. Prints completions of the last word, one a line, `:files`
 * for paths, `:nospace` if the word continues. Prints nothing on any error.
 */
export function registerComplete(tree: CommandTree): RegisterLightCommand {
  return (program, context, finish) => {
    program
      .command('__complete', { hidden: true })
      .argument('<shell>')
      .argument('[words...]')
      .action(async (shell: Shell, words: string[]) => {
        await complete(context, { shell, words, tree }).catch(() => undefined);
        finish(0);
      });
  };
}

async function complete(
  context: ProgramContext,
  { shell, words, tree }: { readonly shell: Shell; readonly words: readonly string[]; readonly tree: CommandTree },
): Promise<void> {
  const split = shell === 'bash' ? joinWords(words) : { words, prefix: '' };
  const { program, command } = await tree(split.words);
  const found = await listCandidates(program, split.words, nameSource(context, command));
  if (found === 'files') return context.print(':files');
  for (const each of found) context.print(formatLine(each, shell, split.prefix));
  if (found.length > 0 && found.every(({ open }) => open)) context.print(':nospace');
}

function formatLine({ value, description }: Candidate, shell: Shell, prefix: string): string {
  const about = description?.split('\n')[0] ?? '';
  if (shell === 'bash') return value.slice(prefix.length);
  if (about === '') return shell === 'zsh' ? value.replaceAll(':', '\\:') : value;
  return shell === 'zsh' ? `${value.replaceAll(':', '\\:')}:${about}` : `${value}\t${about}`;
}

function nameSource(
  context: ProgramContext,
  { registry, learnKinds }: Pick<CommandContext, 'registry' | 'learnKinds'>,
): NameSource {
  const signal = AbortSignal.timeout(TIMEOUT);
  const connected = async ({ options }: TypedLine): Promise<ApiClient> =>
    connectApi({ ...resolveConnection(context.config, readFlags(options)), signal });
  return {
    contexts: () => Object.keys(readContexts(context.config.contextsFile).contexts).sort(),
    kinds: async (typed, noun = ANY_KIND) => {
      await learnKinds([noun], () => connected(typed)).catch(() => undefined);
      return registry;
    },
    resources: async (plural, part, typed) => {
      const api = await connected(typed);
      const selection = toSelection(requireKind(registry, plural), { mesh: typed.options['mesh'] ?? '' });
      const wanted = { ...selection, ...(part === '' ? {} : { nameContains: part }) };
      const { documents } = await api.list(wanted, { most: MAX_NAMES });
      return [...new Set(documents.map((item) => textAt(item, 'name')))];
    },
  };
}

function readFlags({ server, token, context, caFile }: Readonly<Record<string, string>>): ConnectionFlags {
  return {
    ...(server === undefined ? {} : { server }),
    ...(token === undefined ? {} : { token }),
    ...(context === undefined ? {} : { context }),
    ...(caFile === undefined ? {} : { caFile }),
  };
}
