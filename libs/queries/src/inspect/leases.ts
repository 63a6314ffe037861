import type { AgentLease, LeaseHold } from '@causeway/api';
import { leaseHold, releaseLeases } from '@causeway/controllers';
import { NotFound } from '@causeway/resources';
import type { PageRange, SortedPage } from '@causeway/runtime';
import type { AgentLease as StoredLease, AgentLeaseStore, ResourceStore } from '@causeway/store';

/** The leases of agents in a zone, for callers on any interface (docs/reference/leases.md). */
export class LeaseQueries {
  constructor(
    private readonly leases: Pick<AgentLeaseStore, 'page' | 'survey'> | undefined,
    private readonly store: Pick<ResourceStore, 'readMetadata' | 'write'>,
  ) {}

  /** Returns a page of the leases by mesh and name, and whether a mass expiry is held back. Throws NotFound if no agents attach, Unavailable. */
  async page({ offset, size }: PageRange): Promise<SortedPage<AgentLease> & { readonly hold: LeaseHold | undefined }> {
    const { total, leases } = await this.here().page(offset, size);
    const hold = await leaseHold(this.store);
    return {
      total,
      items: leases.map(leaseJson),
      hold: hold && { since: time(hold.since), expired: hold.expired, total: hold.total },
    };
  }

  /** Lets the leader end all expired leases of a mass expiry. Throws NotFound, Unavailable. */
  release(by: string): Promise<{ readonly released: number }> {
    return releaseLeases({ leases: this.here(), store: this.store }, by);
  }

  private here(): Pick<AgentLeaseStore, 'page' | 'survey'> {
    if (!this.leases) throw new NotFound('this control plane has no agents: ask that of a zone');
    return this.leases;
  }
}

function leaseJson(lease: StoredLease): AgentLease {
  const { mesh, namespace, name, instance, machine, address, since, expiresAt, health } = lease;
  return {
    mesh,
    namespace,
    name,
    machine,
    address,
    instance,
    since: time(since),
    expiresAt: time(expiresAt),
    checks: health
      .filter((one) => 'inbound' in one)
      .map(({ inbound, ready, check, reason, since: at }) => ({
        inbound,
        ready,
        check,
        reason,
        since: time(at),
      })),
  };
}

function time(at: number): string {
  return new Date(at).toISOString();
}
