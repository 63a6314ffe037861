import { Label, MAX_HOSTNAME_LENGTH } from '@causeway/resources';
import type { Template, TemplatePart } from './template';

/** A value that a service must have so that a template gives a certain hostname. */
export interface TemplateRequirement {
  /** `name`, `namespace`, `zone`, `mesh`, or `label "x"`. */
  readonly what: string;
  readonly value: string;
}

const VARIABLE_NAMES = {
  Name: 'name',
  DisplayName: 'name',
  Namespace: 'namespace',
  Zone: 'zone',
  Mesh: 'mesh',
} as const;
const LABEL_NAMES: ReadonlyMap<string, string> = new Map([
  [Label.namespace, 'namespace'],
  [Label.zone, 'zone'],
  [Label.mesh, 'mesh'],
]);

/** Maximum number of search steps: a template that repeats a value can match in very many ways. */
const MAX_STEPS = 20_000;

/**
 * Returns the values that a service must have for `template` to produce `hostname`, each once; undefined if no service
 * can, or if the search takes more than `MAX_STEPS` steps. If several answers are possible (values may contain dots),
 * returns the one with the shortest first values.
 */
export function templateRequirements(template: Template, hostname: string): readonly TemplateRequirement[] | undefined {
  if (hostname.length > MAX_HOSTNAME_LENGTH) return undefined;
  const values = new TemplateMatcher(template.parts, hostname).find();
  if (!values && hostname !== template.text) return undefined;
  const words = new Set(template.parts.flatMap((part) => (part.type === 'literal' ? [] : [formatWord(part)])));
  return [...words].map((what) => ({ what, value: values?.get(what) ?? '' }));
}

/** Searches values with which the parts of a template produce a hostname. */
class TemplateMatcher {
  private steps = 0;
  private readonly values = new Map<string, string>();
  /** Pairs of part and position that cannot match; recorded only if that does not depend on earlier values. */
  private readonly dead = new Set<number>();
  private readonly repeats: boolean;

  constructor(
    private readonly parts: readonly TemplatePart[],
    private readonly hostname: string,
  ) {
    const words = parts.flatMap((part) => (part.type === 'literal' ? [] : [formatWord(part)]));
    this.repeats = new Set(words).size < words.length;
  }

  find(): ReadonlyMap<string, string> | undefined {
    return this.fits(0, 0) ? this.values : undefined;
  }

  /** True if the parts from `i` on produce the hostname from `at` on. */
  private fits(i: number, at: number): boolean {
    const part = this.parts[i];
    if (!part) return at === this.hostname.length;
    const place = i * (MAX_HOSTNAME_LENGTH + 1) + at;
    if (this.dead.has(place) || ++this.steps > MAX_STEPS) return false;
    const known = part.type === 'literal' ? part.text : this.values.get(formatWord(part));
    const fits =
      known === undefined
        ? this.fitsValue(i, at)
        : this.hostname.startsWith(known, at) && this.fits(i + 1, at + known.length);
    if (!fits && !this.repeats) this.dead.add(place);
    return fits;
  }

  /** Tries values for part `i`, the shortest first: letters, digits, `-` and `.`, a letter or digit at both ends. */
  private fitsValue(i: number, at: number): boolean {
    const part = this.parts[i];
    if (!part || part.type === 'literal' || !isWordCharacter(this.hostname, at)) return false;
    const what = formatWord(part);
    for (let end = at; /[-a-z0-9.]/.test(this.hostname.charAt(end)); end++) {
      if (++this.steps > MAX_STEPS) break;
      if (!isWordCharacter(this.hostname, end)) continue;
      this.values.set(what, this.hostname.slice(at, end + 1));
      if (this.fits(i + 1, end + 1)) return true;
    }
    this.values.delete(what);
    return false;
  }
}

function isWordCharacter(text: string, at: number): boolean {
  return /[a-z0-9]/.test(text.charAt(at));
}

function formatWord(part: Exclude<TemplatePart, { type: 'literal' }>): string {
  if (part.type === 'variable') return VARIABLE_NAMES[part.variable];
  return LABEL_NAMES.get(part.key) ?? `label "${part.key}"`;
}
