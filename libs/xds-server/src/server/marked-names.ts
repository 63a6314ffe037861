/** Names with pending changes, each at the mark of its first change since it was last sent, oldest first. */
export class MarkedNames {
  private marks = new Map<string, number>();
  private last = 0;

  get size(): number {
    return this.marks.size;
  }

  /** The latest mark. */
  get latest(): number {
    return this.last;
  }

  /** The mark of the name that has been pending longest; Infinity if there is none. */
  get oldest(): number {
    for (const mark of this.marks.values()) return mark;
    return Infinity;
  }

  names(): Iterable<string> {
    return this.marks.keys();
  }

  next(): number {
    this.last += 1;
    return this.last;
  }

  add(name: string): void {
    const mark = this.next();
    if (!this.marks.has(name)) this.marks.set(name, mark);
  }

  /** Adds many names at one mark, which may be an earlier one: names with later marks stay behind them. */
  addAll(names: Iterable<string>, mark = this.next()): void {
    const later = [...this.marks].filter(([, each]) => each > mark);
    for (const [name] of later) this.marks.delete(name);
    for (const name of names) if (!this.marks.has(name)) this.marks.set(name, mark);
    for (const [name, each] of later) if (!this.marks.has(name)) this.marks.set(name, each);
  }

  delete(name: string): void {
    this.marks.delete(name);
  }

  clear(): void {
    this.marks.clear();
  }
}
