import type { ApiClient } from '@causeway/api-client';
import type { Kind, Registry } from '@causeway/resources';

import type { Paint } from './colour';
import type { CliConfig, ConnectionFlags } from './config';

/** Dependencies of every command, including those without a control plane. */
export interface ProgramContext {
  readonly config: CliConfig;
  /** Returns the global flags, which may precede or follow the command. */
  readonly flags: () => ConnectionFlags;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  readonly stdin: () => Promise<string>;
  readonly now: () => number;
  /** Colours text for a terminal. */
  readonly paint: Paint;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Whether input and output are a terminal: questions can be asked. */
  readonly terminal: boolean;
}

/** Dependencies of a command that calls a control plane. */
export interface CommandContext extends ProgramContext {
  /** Returns a client for the control plane that flags, environment and context select; `other` flags replace the global ones. */
  readonly api: (other?: ConnectionFlags) => Promise<ApiClient>;
  /** The built-in kinds, and those of `learnKinds`. */
  readonly registry: Registry;
  /** Adds the declared kinds of the control plane, or of the one of `from`, if a noun names no kind of `registry`. Throws ApiError. */
  readonly learnKinds: (nouns: readonly string[], from?: () => Promise<ApiClient>) => Promise<void>;
  /** Closes the connections to control planes. */
  readonly close: () => Promise<void>;
}

/** Wrong usage, found before the server is asked; printed as one line, exit code 2. */
export class UsageError extends Error {}

/** Returns the kind of a noun: plural, short name or kind name, case-insensitive. Throws UsageError for another word. */
export function requireKind(registry: Registry, noun: string): Kind {
  const kind = findKind(registry, noun);
  if (kind) return kind;
  const guesses = nearKinds(registry, noun.toLowerCase());
  throw new UsageError(`"${noun}" is no kind${guesses.length === 0 ? '' : `; did you mean ${guesses.join(' or ')}?`}`);
}

/** Maximum number of kinds that a hint names. */
const MAX_GUESSES = 3;

/** Returns similar nouns: by the capitals of the kind as in `ms`, by prefix, or by spelling distance. */
function nearKinds(registry: Registry, word: string): readonly string[] {
  if (word === '') return [];
  const { kinds } = registry;
  const initials = ({ name }: Kind): string => name.replace(/[^A-Z]/g, '').toLowerCase();
  const abbreviated = kinds.filter((kind) => initials(kind) === word);
  const begun = kinds.filter(({ plural, shortName }) => plural.startsWith(word) || shortName.startsWith(word));
  const guesses = [...new Set([...abbreviated, ...begun])].slice(0, MAX_GUESSES);
  if (guesses.length > 0) return guesses.map(({ plural, shortName }) => `${plural} (${shortName})`);
  const near = registry.suggestNoun(word);
  return near === undefined ? [] : [near];
}

/** Returns the kind of a noun; undefined for another word, which may be an activity such as AuditLog. */
export function findKind(registry: Registry, noun: string): Kind | undefined {
  return registry.noun(noun.toLowerCase());
}
