import type { PlaneResources } from './decoded-resources';

/** Reference to another resource. */
export interface Need {
  readonly type: string;
  readonly name: string;
}

/** Subscribes to referenced resources as long as one owner refers to them. */
export class ResourceNeeds {
  private readonly byOwner = new Map<string, readonly Need[]>();
  private readonly users = new Map<string, number>();

  constructor(private readonly resources: Pick<PlaneResources, 'want' | 'release'>) {}

  /** Replaces the references of an owner; empty if the owner is gone. */
  set(owner: string, needs: readonly Need[]): void {
    const before = this.byOwner.get(owner) ?? [];
    for (const need of needs) this.count(need, 1);
    for (const need of before) this.count(need, -1);
    if (needs.length > 0) this.byOwner.set(owner, needs);
    else this.byOwner.delete(owner);
  }

  private count({ type, name }: Need, by: 1 | -1): void {
    const key = `${type} ${name}`;
    const before = this.users.get(key) ?? 0;
    const after = before + by;
    if (after > 0) this.users.set(key, after);
    else this.users.delete(key);
    if (before === 0 && after > 0) this.resources.want(type, [name]);
    if (before > 0 && after === 0) this.resources.release(type, [name]);
  }
}
