/** Code of a broken rule, for programs; people read the reason. */
export type ViolationRule =
  | 'required'
  | 'wrong-type'
  | 'unknown-field'
  | 'not-allowed'
  | 'out-of-range'
  | 'not-one-of'
  | 'wrong-form'
  | 'not-unique'
  | 'too-short'
  | 'too-few'
  | 'too-long'
  | 'too-many'
  | 'too-large'
  | 'too-deep'
  | 'not-text'
  | 'MeshMembershipMismatch'
  | 'MeshMembershipConflict'
  | 'MembershipConflict'
  | 'MeshTerminating'
  | 'invalid';

/** One violation: the field, the broken rule, and the value. */
export interface Violation {
  /** Path of the field as users write it: `spec.ports[0].port`, `labels["kuma.io/zone"]`, `name`. */
  readonly field: string;
  /** Description of the violation, often with the value; at most a few hundred characters. */
  readonly reason: string;
  /** Code of the rule; `invalid` if no other code fits. */
  readonly rule: ViolationRule;
}

/** Maximum length of the name of one field in a path. */
const MAX_NAME_LENGTH = 80;
/** Maximum length of a path in a violation. */
const MAX_PATH_LENGTH = 512;
/** Maximum length of a reason, which bounds a report of many violations even if they repeat long values. */
const MAX_REASON_LENGTH = 640;

/** Path of a field in a document. Immutable and cheap: its text is built on demand. */
export class FieldPath {
  private constructor(
    private readonly parent: FieldPath | undefined,
    private readonly step: string | number,
  ) {}

  /** Returns the root of the document, or the field that `text` names. */
  static at(text = ''): FieldPath {
    return new FieldPath(undefined, text);
  }

  /** Returns the field `name` below this one; names that are no identifiers are written as `["name"]`. */
  field(name: string): FieldPath {
    return new FieldPath(this, name);
  }

  /** Returns the item `i` of the list at this path. */
  index(i: number): FieldPath {
    return new FieldPath(this, i);
  }

  /** Returns a violation of this field. A long reason is shortened, so that no violation repeats a huge value. */
  violation(reason: string, rule: ViolationRule = 'invalid'): Violation {
    return { field: this.toString(), reason: shortened(reason, MAX_REASON_LENGTH), rule };
  }

  private static formatPath({ parent, step }: FieldPath): string {
    if (!parent) return String(step);
    const outer = FieldPath.formatPath(parent);
    return outer + stepText(step, outer === '');
  }

  toString(): string {
    return shortened(FieldPath.formatPath(this), MAX_PATH_LENGTH);
  }
}

function stepText(step: string | number, first: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  const name = shortened(step, MAX_NAME_LENGTH);
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return `["${name}"]`;
  return first ? name : `.${name}`;
}

/** Returns `text`, or its beginning and `mark` if it is longer than `most`; never more than `most` characters. */
export function shortened(text: string, most: number, mark = '...'): string {
  return text.length <= most ? text : `${text.slice(0, most - mark.length)}${mark}`;
}

/** Maximum number of stored violations; further ones are only counted. */
export const MAX_VIOLATIONS = 100;

/**
 * Collects violations: stores the first hundred, counts all. Each further violation costs one addition: neither its
 * path nor its reason is built.
 */
export class Violations {
  private readonly kept: Violation[] = [];
  private count = 0;

  /** `most`: maximum number of stored violations; 0 only counts. */
  constructor(private readonly most = MAX_VIOLATIONS) {}

  /** The first violations in the order in which they were found. */
  get first(): readonly Violation[] {
    return this.kept;
  }

  /** Total number. */
  get total(): number {
    return this.count;
  }

  /** Adds a violation; `reason` is called only if the violation is stored. */
  add(at: FieldPath, rule: ViolationRule, reason: () => string): void {
    this.count += 1;
    if (this.kept.length < this.most) this.kept.push(at.violation(reason(), rule));
  }

  /** Adds violations that are already built. */
  addAll(violations: Iterable<Violation>): void {
    for (const violation of violations) {
      this.count += 1;
      if (this.kept.length < this.most) this.kept.push(violation);
    }
  }

  /** Adds the violations of another report, and its count of further ones. */
  merge(other: Violations): void {
    this.addAll(other.first);
    this.count += other.total - other.first.length;
  }

  /** Returns a separate report filled by `find`, limited to the space left in this one. */
  beside(find: (aside: Violations) => void): Violations {
    const aside = new Violations(this.most - this.kept.length);
    find(aside);
    return aside;
  }

  /** Returns the same report with each violation replaced by `change`. */
  map(change: (violation: Violation) => Violation): Violations {
    const changed = new Violations(this.most);
    changed.addAll(this.kept.map(change));
    changed.count = this.count;
    return changed;
  }
}

/** A field to check, and the violations found so far. */
export interface ViolationReport {
  readonly at: FieldPath;
  readonly found: Violation[];
}
