import { shortened } from '@causeway/resources';
import type { EncodedResource } from '../resources/encoded-resource';

/** The error of a proxy about a response that it rejected. */
export interface ProxyRejection {
  readonly at: number;
  readonly text: string;
  /** The resources of the rejected response that the text names; all of them if it names none. */
  readonly names: readonly string[];
}

/** A resource that a proxy rejected, and has neither accepted nor dropped since. */
export interface RejectedResource {
  readonly name: string;
  readonly version: string;
  /** ms since 1970. */
  readonly at: number;
  /** The part of the error about this resource: the line that names it, else the whole text. */
  readonly text: string;
}

interface RejectionEntry extends RejectedResource {
  /** The first revision whose changes the rejected response contained. */
  readonly since: number;
  readonly answer: RejectionText;
}

interface RejectionText {
  readonly text: string;
  readonly at: number;
}

/** Maximum number of resources that one response rejects, and that are remembered of one type. */
const MAX_NAMES = 1_000;
/** Maximum length of an error text that is kept and searched for names. */
const MAX_READ_LENGTH = 16_384;
const MAX_KEPT_LENGTH = 1_000;
/** Maximum number of lines that are searched: more than Envoy writes for a response. */
const MAX_LINES = 1_000;

/** The resources of one type that a proxy rejects. */
export class ProxyRejections {
  private readonly byName = new Map<string, RejectionEntry>();

  /** The latest rejection, with the names that are still rejected. */
  get last(): ProxyRejection | undefined {
    const latest = [...this.byName.values()].at(-1);
    if (!latest) return undefined;
    const { answer } = latest;
    const same = [...this.byName.values()].filter((each) => each.answer === answer);
    return { ...answer, names: same.map(({ name }) => name) };
  }

  /** The first revision with a change that the proxy does not apply; undefined if it applies all. */
  get since(): number | undefined {
    return this.byName.size === 0 ? undefined : Math.min(...[...this.byName.values()].map(({ since }) => since));
  }

  list(): readonly RejectedResource[] {
    return [...this.byName.values()].map(({ name, version, at, text }) => ({ name, version, at, text }));
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  /** Records a rejected response; resources that its text does not name are accepted. */
  reject(resources: readonly EncodedResource[], { text, at }: RejectionText, since: number): void {
    const lines = text.slice(0, MAX_READ_LENGTH).split('\n', MAX_LINES);
    const counted = resources.slice(0, MAX_NAMES);
    const named = counted.flatMap((one) => {
      const line = lines.find((each) => isNamed(each, one.name));
      return line === undefined ? [] : [{ ...one, line }];
    });
    const answer = { text: shortened(text, MAX_KEPT_LENGTH, '…'), at };
    this.accept(resources);
    for (const { name, version, line } of named.length > 0 ? named : counted.map((one) => ({ ...one, line: text })))
      if (this.byName.size < MAX_NAMES)
        this.byName.set(name, { name, version, at, text: shortened(line.trim(), MAX_KEPT_LENGTH, '…'), since, answer });
  }

  /** Records that resources were accepted or dropped. */
  accept(resources: Iterable<{ readonly name: string }>): void {
    if (this.byName.size > 0) for (const { name } of resources) this.byName.delete(name);
  }
}

/** Reports whether a text contains this name, and not only a longer name that contains it: `inbound:10.0.0.1:80` in `inbound:10.0.0.1:8080`. */
function isNamed(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const end = at + name.length;
    if (!PART_OF_NAME.test(text.charAt(at - 1)) && ENDS_NAME.test(text.slice(end, end + 2))) return true;
  }
  return false;
}

const PART_OF_NAME = /[\w.:/-]/;
const ENDS_NAME = /^(?:$|[^\w.:/-]|[.:](?:\s|$))/;
