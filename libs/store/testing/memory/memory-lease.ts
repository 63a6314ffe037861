import type { LeaderEpoch, LeaderLease, WitnessChange } from '@causeway/runtime';
import { promised, type MemoryDisk } from './memory-disk';

const RELEASED = 0;

/** The leader's epoch and lease on a memory disk. */
export class MemoryLease implements LeaderLease {
  constructor(private readonly disk: MemoryDisk) {}

  readEpoch(): Promise<LeaderEpoch> {
    return promised(() => {
      const { epoch, holder, witness, expiresAt } = this.disk.leader;
      return { epoch, holder, witness, remaining: Math.max(0, expiresAt - this.disk.clock.now()) };
    });
  }

  takeOver(
    fromEpoch: number,
    holder: string,
    leaseMs: number,
    { from, to }: WitnessChange = { from: 'lock', to: 'lock' },
  ): Promise<number | undefined> {
    return promised(() => {
      const now = this.disk.clock.now();
      const { epoch, expiresAt, witness } = this.disk.leader;
      if (epoch !== fromEpoch || expiresAt > now || witness !== from) return undefined;
      this.disk.leader = { epoch: epoch + 1, holder, witness: to, expiresAt: now + leaseMs };
      return epoch + 1;
    });
  }

  renew(epoch: number, holder: string, leaseMs: number): Promise<boolean> {
    return promised(() => {
      if (!this.stands(epoch, holder) || this.disk.leader.expiresAt === RELEASED) return false;
      this.disk.leader = { ...this.disk.leader, expiresAt: this.disk.clock.now() + leaseMs };
      return true;
    });
  }

  release(epoch: number, holder: string): Promise<void> {
    return promised(() => {
      if (!this.stands(epoch, holder)) return;
      this.disk.leader = { ...this.disk.leader, expiresAt: RELEASED };
      for (const listener of this.disk.releaseListeners) listener();
    });
  }

  returnToLock(epoch: number, holder: string): Promise<boolean> {
    return promised(() => {
      if (!this.stands(epoch, holder)) return false;
      this.disk.leader = { ...this.disk.leader, witness: 'lock' };
      return true;
    });
  }

  onRelease(listener: () => void): () => void {
    this.disk.releaseListeners.add(listener);
    return () => void this.disk.releaseListeners.delete(listener);
  }

  private stands(epoch: number, holder: string): boolean {
    return this.disk.leader.epoch === epoch && this.disk.leader.holder === holder;
  }
}
