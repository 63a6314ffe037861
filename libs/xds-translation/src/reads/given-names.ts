/**
 * A set of names from several sources: a name is in the set as long as one source gives it. A change costs the names of its source. The set records
 * which names joined or left since the last call of `takeTouched`.
 */
export class GivenNames {
  private readonly all = new Set<string>();
  /** The number of sources of a name, if more than one. */
  private readonly shared = new Map<string, number>();
  /** The names of each source; a single name is not wrapped in a list, because most sources give one. */
  private readonly bySource = new Map<string, string | readonly string[]>();
  private touched = new Set<string>();

  get names(): ReadonlySet<string> {
    return this.all;
  }

  /** Replaces the names of a source. */
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

  /** Records as joined or left all names that differ from another set, and those that set had recorded; no effect without one. */
  follow(before: GivenNames | undefined): void {
    this.touched = new Set(before?.touched);
    if (!before) return;
    for (const name of this.all) if (!before.all.has(name)) this.touched.add(name);
    for (const name of before.all) if (!this.all.has(name)) this.touched.add(name);
  }

  /** Returns the names that joined or left since the last call. */
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
