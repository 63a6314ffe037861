import { createHash, timingSafeEqual } from 'node:crypto';
import { compareText } from '@causeway/resources';
import type {
  AgentLease,
  AgentLeaseStore,
  HeldLease,
  LeaseResult,
  LeaseClaim,
  LeaseKey,
  LeaseRenewal,
  LostLease,
} from '../../src/agent-leases';
import type { DeleteChange } from '../../src/resource-store';
import { promised, type MemoryDisk } from './memory-disk';
import { writeChanges } from './write-changes';

/** Leases of agents on a memory disk. */
export class MemoryAgentLeases implements AgentLeaseStore {
  constructor(private readonly disk: MemoryDisk) {}

  take(claims: readonly LeaseClaim[], length: number): Promise<readonly LeaseResult[]> {
    return promised(() => claims.map((claim) => this.takeOne(claim, length)));
  }

  renew(renewals: readonly LeaseRenewal[], length: number): Promise<readonly LostLease[]> {
    return promised(() => {
      const now = this.disk.clock.now();
      return renewals.flatMap(({ age, health, ...held }): readonly LostLease[] => {
        const lease = this.heldBy(held);
        const { mesh, namespace, name } = held;
        if (!lease) return [{ mesh, namespace, name, taken: this.disk.agentLeases.has(formatKey(held)) }];
        const isNews = health !== undefined && JSON.stringify(health) !== JSON.stringify(lease.health);
        const expiresAt = Math.max(lease.expiresAt, now - age + length);
        this.put({ ...lease, expiresAt, ...(isNews && { health, changedAt: now }) });
        return [];
      });
    });
  }

  drop(held: HeldLease): Promise<void> {
    return promised(() => {
      if (this.heldBy(held)) this.delete(held);
    });
  }

  adopt(keys: readonly LeaseKey[], length: number): Promise<void> {
    return promised(() => {
      const now = this.disk.clock.now();
      const nobody = { instance: '', run: '', startedAt: 0, machine: '', address: '', session: '' };
      for (const { mesh, namespace, name } of keys)
        if (!this.disk.agentLeases.has(formatKey({ mesh, namespace, name })))
          this.put({
            mesh,
            namespace,
            name,
            ...nobody,
            since: now,
            changedAt: now,
            expiresAt: now + length,
            health: [],
          });
    });
  }

  survey(most: number): ReturnType<AgentLeaseStore['survey']> {
    return promised(() => {
      const now = this.disk.clock.now();
      const all = [...this.disk.agentLeases.values()];
      const expired = all.filter(({ expiresAt }) => expiresAt <= now).sort((a, b) => a.expiresAt - b.expiresAt);
      return { now, total: all.length, expired: expired.slice(0, most), expiredTotal: expired.length };
    });
  }

  changedSince(since: number): ReturnType<AgentLeaseStore['changedSince']> {
    return promised(() => ({
      now: this.disk.clock.now(),
      leases: [...this.disk.agentLeases.values()].filter(({ changedAt }) => changedAt >= since),
    }));
  }

  find(keys: readonly LeaseKey[]): Promise<readonly AgentLease[]> {
    return promised(() => keys.flatMap((key) => this.disk.agentLeases.get(formatKey(key)) ?? []));
  }

  page(offset: number, most: number): ReturnType<AgentLeaseStore['page']> {
    return promised(() => {
      const sorted = [...this.disk.agentLeases].sort(([a], [b]) => compareText(a, b));
      const leases = sorted.slice(offset, offset + most).map(([, lease]) => lease);
      return { total: sorted.length, leases };
    });
  }

  end(
    leases: readonly HeldLease[],
    { zone, fence }: Parameters<AgentLeaseStore['end']>[1],
  ): Promise<readonly LeaseKey[]> {
    return promised(() => {
      const now = this.disk.clock.now();
      const over = leases.flatMap((held) => {
        const lease = this.heldBy(held);
        return lease && lease.expiresAt <= now ? [lease] : [];
      });
      const changes = over.map(({ mesh, namespace, name }): DeleteChange => {
        return { type: 'delete', id: { kind: 'Dataplane', mesh, zone, namespace, name }, expect: 'any' };
      });
      writeChanges(this.disk, { changes, onRefusal: 'skip', fence });
      for (const lease of over) this.delete(lease);
      return over.map(({ mesh, namespace, name }) => ({ mesh, namespace, name }));
    });
  }

  private takeOne({ agent, secretHash, ...claim }: LeaseClaim, length: number): LeaseResult {
    const now = this.disk.clock.now();
    const before = this.disk.agentLeases.get(formatKey(claim));
    const isSame = before?.instance === agent.instance;
    const isLater = before !== undefined && before.address === agent.address && before.startedAt < agent.startedAt;
    const isProven = isSameSecret(this.disk.leaseSecrets.get(formatKey(claim)), secretHash);
    const isOwn = isSame && isProven && (before.run === agent.run || isLater);
    if (before && before.expiresAt > now && before.instance !== '' && !isOwn) return { type: 'held', by: before };
    const { since, health } = isSame ? before : { since: now, health: [] };
    this.put({ ...claim, ...agent, since, health, expiresAt: now + length, changedAt: now });
    if (secretHash === undefined) this.disk.leaseSecrets.delete(formatKey(claim));
    else this.disk.leaseSecrets.set(formatKey(claim), secretHash);
    return { type: 'taken' };
  }

  private heldBy(held: HeldLease): AgentLease | undefined {
    const lease = this.disk.agentLeases.get(formatKey(held));
    return lease?.session === held.session ? lease : undefined;
  }

  private delete(key: LeaseKey): void {
    this.disk.agentLeases.delete(formatKey(key));
    this.disk.leaseSecrets.delete(formatKey(key));
  }

  private put(lease: AgentLease): void {
    this.disk.agentLeases.set(formatKey(lease), lease);
  }
}

/** Reports whether a claim has the secret of a lease; any claim has it if the lease has none. */
function isSameSecret(known: string | undefined, shown = ''): boolean {
  if (known === undefined) return true;
  const [a, b] = [known, shown].map((hash) => createHash('sha256').update(hash).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

/** Returns the key by which leases are sorted as in Postgres. */
function formatKey({ mesh, namespace, name }: LeaseKey): string {
  return [mesh, name, namespace].join('\0');
}
