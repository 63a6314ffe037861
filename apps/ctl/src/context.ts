import type { Kind, Registry } from '@causeway/resources';
import type { ApiClient } from './api-client';
import type { Paint } from './colour';

/** What a command works with. */
export interface CommandContext {
  readonly api: () => ApiClient;
  readonly registry: Registry;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  readonly stdin: () => Promise<string>;
  readonly now: () => number;
  /** Colours what is printed to a terminal. */
  readonly paint: Paint;
  /** Aborts on Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Wrong usage, found before the server is asked; printed as one line, exit code 2. */
export class UsageError extends Error {}

/** The kind of a noun: plural, short name or kind name, case-insensitive. */
export function kindOf(registry: Registry, noun: string): Kind {
  const lower = noun.toLowerCase();
  const kind = registry.noun(lower) ?? registry.kinds.find((k) => k.name.toLowerCase() === lower);
  if (kind) return kind;
  const guess = registry.suggestNoun(lower);
  throw new UsageError(`"${noun}" is no kind${guess === undefined ? '' : `; did you mean ${guess}?`}`);
}

/** The path of a kind's list, or of one resource. `mesh` undefined means all meshes. */
export function pathOf(kind: Kind, mesh: string | undefined, name?: string): string {
  const collection =
    kind.scope === 'mesh' && mesh !== undefined
      ? `/meshes/${encodeURIComponent(mesh)}/${kind.plural}`
      : `/${kind.plural}`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
}
