/** Which rule a violation breaks, for programs; people read the reason. */
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
  | 'invalid';

/** One broken rule of a request: where, and what is wrong with which value. */
export interface Violation {
  /** Path of the field as users write it: `spec.ports[0].port`, `labels["kuma.io/zone"]`, `name`. */
  readonly field: string;
  /** The rule in words and, where it helps, the value; never more than a few hundred characters. */
  readonly reason: string;
  /** The rule for programs; `invalid` where no other code says more. */
  readonly rule: ViolationRule;
}

/** Longest name of one field in a path. */
const LONGEST_NAME = 80;
/** Longest path in a violation. */
const LONGEST_PATH = 512;
/** Longest reason: whatever value it repeats, a report of many violations stays small. */
const LONGEST_REASON = 640;

/** A place in a document, to name fields in violations. Immutable; making one costs nothing, its text is made on demand. */
export class FieldPath {
  private constructor(
    private readonly parent: FieldPath | undefined,
    private readonly step: string | number,
  ) {}

  /** The top of the document, or the field that `text` names. */
  static at(text = ''): FieldPath {
    return new FieldPath(undefined, text);
  }

  /** The field `name` below this place; names that are no plain words are written as `["name"]`. */
  field(name: string): FieldPath {
    return new FieldPath(this, name);
  }

  /** The item `i` of the list at this place. */
  index(i: number): FieldPath {
    return new FieldPath(this, i);
  }

  /** A violation of this very field. A long reason is cut, so that no violation repeats a huge value. */
  violation(reason: string, rule: ViolationRule = 'invalid'): Violation {
    return { field: this.toString(), reason: shortened(reason, LONGEST_REASON), rule };
  }

  private static textOf({ parent, step }: FieldPath): string {
    if (!parent) return String(step);
    const outer = FieldPath.textOf(parent);
    return outer + stepText(step, outer === '');
  }

  toString(): string {
    return shortened(FieldPath.textOf(this), LONGEST_PATH);
  }
}

function stepText(step: string | number, first: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  const name = shortened(step, LONGEST_NAME);
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return `["${name}"]`;
  return first ? name : `.${name}`;
}

/** `text`, or its beginning and `mark` where it has more than `most` characters; never more than those. */
export function shortened(text: string, most: number, mark = '...'): string {
  return text.length <= most ? text : `${text.slice(0, most - mark.length)}${mark}`;
}
