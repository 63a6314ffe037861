/** One broken rule of a request: where, and what is wrong with which value. */
export interface Violation {
  /** Path of the field as users write it: `spec.ports[0].port`, `labels["kuma.io/zone"]`, `name`. */
  readonly field: string;
  /** The rule and, where it helps, the value. */
  readonly reason: string;
}

/** A place in a document, to name fields in violations. Immutable. */
export class FieldPath {
  private constructor(private readonly text: string) {}

  /** The top of the document, or the field that `text` names. */
  static at(text = ''): FieldPath {
    return new FieldPath(text);
  }

  /** The field `name` below this place; names that are no plain words are written as `["name"]`. */
  field(name: string): FieldPath {
    if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name)) return new FieldPath(`${this.text}["${name}"]`);
    return new FieldPath(this.text === '' ? name : `${this.text}.${name}`);
  }

  /** The item `i` of the list at this place. */
  index(i: number): FieldPath {
    return new FieldPath(`${this.text}[${i}]`);
  }

  /** A violation of this very field. */
  violation(reason: string): Violation {
    return { field: this.text, reason };
  }

  /** True when one of two paths, as violations have them, lies in the other or both are the same. */
  static overlap(one: string, other: string): boolean {
    const [short, long] = one.length <= other.length ? [one, other] : [other, one];
    return long.startsWith(short) && /^($|[.[])/.test(long.slice(short.length));
  }

  toString(): string {
    return this.text;
  }
}
