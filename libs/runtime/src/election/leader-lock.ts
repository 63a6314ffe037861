/**
 * Decides which candidate tries to lead (design.md §3). A hint: what keeps two leaders apart is the epoch in the
 * store. All methods reject when the lock's server is away.
 */
export interface LeaderLock {
  /** Resolves when the lock's server answers; changes nothing. */
  ping(): Promise<void>;
  /** Takes the lock for `leaseMs` where nobody else has it; true also when the holder has it already. */
  acquire(holder: string, leaseMs: number): Promise<boolean>;
  /** Extends the lock, and takes it again where it vanished; false when another holds it. */
  renew(holder: string, leaseMs: number): Promise<boolean>;
  /** Lets go of the lock where this holder has it. */
  release(holder: string): Promise<void>;
}
