import { shortened } from '@causeway/resources';
import type { EncodedResource } from '../resources/encoded-resource';

/** What a proxy said of a response that it rejected. */
export interface Rejection {
  readonly at: number;
  readonly text: string;
  /** The resources of the rejected response that the text names; all of them where it names none. */
  readonly names: readonly string[];
}

/** A resource that a proxy rejected and has neither accepted nor dropped since. */
export interface RejectedResource {
  readonly name: string;
  readonly version: string;
  /** ms since 1970. */
  readonly at: number;
  readonly text: string;
}

interface Entry extends RejectedResource {
  /** The first revision whose changes the rejected response held. */
  readonly since: number;
}

/** Most resources that one response rejects, and most that are remembered of one type. */
const MOST_NAMES = 1_000;
/** Characters of a text in which names are looked for, and that are kept. */
const MOST_READ = 16_384;
const MOST_KEPT = 1_000;

/** The resources of one type that a proxy rejects. */
export class Rejections {
  private readonly byName = new Map<string, Entry>();

  /** The latest one; of its names those that still stand. */
  get last(): Rejection | undefined {
    const latest = [...this.byName.values()].at(-1);
    if (!latest) return undefined;
    const { at, text } = latest;
    const same = [...this.byName.values()].filter((each) => each.at === at && each.text === text);
    return { at, text, names: same.map(({ name }) => name) };
  }

  /** The first revision that holds a change which the proxy does not apply; undefined where it applies all. */
  get since(): number | undefined {
    return this.byName.size === 0 ? undefined : Math.min(...[...this.byName.values()].map(({ since }) => since));
  }

  list(): readonly RejectedResource[] {
    return [...this.byName.values()].map(({ name, version, at, text }) => ({ name, version, at, text }));
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** A response was rejected; what its text does not name has been accepted. */
  reject(resources: readonly EncodedResource[], answer: { readonly text: string; readonly at: number }, since: number) {
    const read = answer.text.slice(0, MOST_READ);
    const told = resources.slice(0, MOST_NAMES);
    const named = told.filter(({ name }) => read.includes(name));
    const text = shortened(answer.text, MOST_KEPT, '…');
    this.accept(resources);
    for (const { name, version } of named.length > 0 ? named : told)
      if (this.byName.size < MOST_NAMES) this.byName.set(name, { name, version, at: answer.at, text, since });
  }

  /** Accepted, or dropped. */
  accept(resources: Iterable<{ readonly name: string }>): void {
    if (this.byName.size > 0) for (const { name } of resources) this.byName.delete(name);
  }
}
