import type { FieldPath } from '../violation';

/** Fields of a value that stand there with something else than was given. */
export class ReplacedFields {
  private readonly fields = new Set<string>();
  /** The replaced fields and everything they stand in. */
  private readonly around = new Set<string>();

  /** `at` was replaced. */
  add(at: FieldPath): void {
    const field = at.toString();
    this.fields.add(field);
    for (const outer of outerFields(field)) this.around.add(outer);
  }

  /** The replaced fields, in the order of replacing. */
  list(): readonly string[] {
    return [...this.fields];
  }

  /** True where `field`, as violations have it, was replaced, lies in what was replaced, or has something replaced in it. */
  concern(field: string): boolean {
    if (this.around.has(field)) return true;
    for (const outer of outerFields(field)) if (this.fields.has(outer)) return true;
    return false;
  }
}

/** `a.b[0]` → `a`, `a.b`, `a.b[0]`. A dot inside a quoted name makes prefixes that no field is called. */
function* outerFields(field: string): Generator<string> {
  for (let i = 1; i < field.length; i++) {
    const char = field.charAt(i);
    if (char === '.' || char === '[') yield field.slice(0, i);
  }
  yield field;
}
