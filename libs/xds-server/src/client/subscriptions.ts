/** The changes of subscriptions of one type in a request. */
export interface SubscriptionChange {
  readonly type: string;
  readonly subscribe: ReadonlySet<string>;
  readonly unsubscribe: ReadonlySet<string>;
  /** Set in the first request of this type on a stream: it reports the held resources. */
  readonly isFirst: boolean;
}

/** The subscribed names of one type, and their pending changes. */
interface TypeNames {
  readonly wanted: Set<string>;
  /** Subscribed, and not sent on the stream yet. */
  added: Set<string>;
  /** Unsubscribed, and not sent on the stream yet. */
  dropped: Set<string>;
  isTold: boolean;
}

/** The subscriptions of a client of delta discovery, with the changes that are not sent on its stream yet. Costs each changed name. */
export class Subscriptions {
  private readonly types = new Map<string, TypeNames>();
  private readonly changed = new Set<string>();

  /** Returns whether a name is new. `*` stands for the resources that the server lists. */
  add(type: string, names: readonly string[]): boolean {
    const { wanted, added, dropped } = this.getNames(type);
    const fresh = [...new Set(names)].filter((name) => !wanted.has(name));
    for (const name of fresh) {
      wanted.add(name);
      if (!dropped.delete(name)) added.add(name);
    }
    if (fresh.length > 0) this.changed.add(type);
    return fresh.length > 0;
  }

  /** Returns whether a name was subscribed. */
  delete(type: string, names: readonly string[]): boolean {
    const { wanted, added, dropped } = this.getNames(type);
    const gone = names.filter((name) => wanted.delete(name));
    for (const name of gone) if (!added.delete(name)) dropped.add(name);
    if (gone.length > 0) this.changed.add(type);
    return gone.length > 0;
  }

  /** Records that a new stream has begun. */
  restart(): void {
    for (const [type, names] of this.types) {
      Object.assign(names, { added: new Set(names.wanted), dropped: new Set(), isTold: false });
      if (names.wanted.size > 0) this.changed.add(type);
    }
  }

  /** Returns the changes to send on the stream, one for each type. */
  take(): readonly SubscriptionChange[] {
    const changes = [...this.changed].flatMap((type) => this.findChange(type) ?? []);
    this.changed.clear();
    return changes;
  }

  private findChange(type: string): SubscriptionChange | undefined {
    const names = this.getNames(type);
    const { added, dropped, isTold } = names;
    if (added.size + dropped.size === 0) return undefined;
    Object.assign(names, { added: new Set(), dropped: new Set(), isTold: true });
    return { type, subscribe: added, unsubscribe: dropped, isFirst: !isTold };
  }

  private getNames(type: string): TypeNames {
    const known = this.types.get(type);
    if (known) return known;
    const names: TypeNames = { wanted: new Set(), added: new Set(), dropped: new Set(), isTold: false };
    this.types.set(type, names);
    return names;
  }
}
