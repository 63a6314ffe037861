/**
 * A set of names that several sources give: it has each name as long as one of them gives it. A change costs the names of its source. It
 * knows which names joined or left since it was asked.
 */
export class GivenNames {
  private readonly all = new Set<string>();
  /** How many sources give a name, where it is more than one. */
  private readonly shared = new Map<string, number>();
  /** A source that gives one name has no list: most do. */
  private readonly bySource = new Map<string, string | readonly string[]>();
  private touched = new Set<string>();

  get names(): ReadonlySet<string> {
    return this.all;
  }

  /** Sets what a source gives, in place of what it gave. */
  give(source: string, names: Iterable<string>): void {
    const now = [...new Set(names)];
    const before = this.givenBy(source);
    if (before.length === now.length && before.every((name, i) => name === now[i])) return;
    const [first, ...more] = now;
    if (first === undefined) this.bySource.delete(source);
    else this.bySource.set(source, more.length === 0 ? first : now);
    for (const name of now) this.add(name);
    for (const name of before) this.remove(name);
  }

  /** What joined or left is what differs from another set, beside what had joined or left that one; nothing without one. */
  follow(before: GivenNames | undefined): void {
    this.touched = new Set(before?.touched);
    if (!before) return;
    for (const name of this.all) if (!before.all.has(name)) this.touched.add(name);
    for (const name of before.all) if (!this.all.has(name)) this.touched.add(name);
  }

  /** The names that joined or left since the last call. */
  takeTouched(): ReadonlySet<string> {
    const { touched } = this;
    if (touched.size > 0) this.touched = new Set();
    return touched;
  }

  private givenBy(source: string): readonly string[] {
    const given = this.bySource.get(source) ?? [];
    return typeof given === 'string' ? [given] : given;
  }

  private add(name: string): void {
    if (this.all.has(name)) {
      this.shared.set(name, (this.shared.get(name) ?? 1) + 1);
      return;
    }
    this.all.add(name);
    this.touched.add(name);
  }

  private remove(name: string): void {
    const count = this.shared.get(name);
    if (count === undefined) {
      this.all.delete(name);
      this.touched.add(name);
    } else if (count > 2) this.shared.set(name, count - 1);
    else this.shared.delete(name);
  }
}
