/** A connection to an address, and who answered it. Times by one clock. */
export interface AnsweredCall {
  readonly vip: string;
  readonly from: number;
  readonly to: number;
  readonly by: string;
}

interface Holding {
  readonly owner: string;
  readonly from: number;
  /** When its service began to be deleted. */
  to: number;
}

/** Records which owner held which address when, as a test saw it: it learns of an owner later than the control plane did, and of its end earlier. */
export class VipHolders {
  private readonly held = new Map<string, Holding[]>();

  /** An address belongs to this owner from now on. */
  took(vip: string, owner: string, at: number): void {
    this.held.set(vip, [...(this.held.get(vip) ?? []), { owner, from: at, to: Infinity }]);
  }

  /** The service at the address is about to be deleted. */
  freeing(vip: string, at: number): void {
    const last = this.held.get(vip)?.at(-1);
    if (last) last.to = Math.min(last.to, at);
  }

  /** The invariant I11 is broken: during the whole call the address was that of another owner than the one who answered. */
  isWrong({ vip, from, to, by }: AnsweredCall): boolean {
    return (this.held.get(vip) ?? []).some((one) => one.owner !== by && one.from <= from && to <= one.to);
  }

  /** Returns how often an address passed to another owner. */
  get reused(): number {
    const owners = [...this.held.values()].map((each) => each.map(({ owner }) => owner));
    return owners.reduce((sum, each) => sum + each.filter((owner, i) => i > 0 && owner !== each[i - 1]).length, 0);
  }
}
