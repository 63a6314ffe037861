import { Dataplane } from '@causeway/kinds';
import {
  Conflict,
  identityKey,
  jsonEqual,
  Label,
  type Identity,
  type JsonObject,
  type Resource,
} from '@causeway/resources';
import type { AgentLease, AgentLeaseStore } from '@causeway/store';
import type { WriteContext } from './rights';
import type { ValidatedDraft } from './validate-draft';

/** Finds the holder of the lease of a Dataplane, for messages. */
export type LeaseLookup = Pick<AgentLeaseStore, 'find'>;

/**
 * Enforces that only the agent that holds the lease changes the spec of a leased Dataplane (docs/reference/leases.md, Who owns a Dataplane). Whether
 * a Dataplane is leased is read from the stored row that a write is decided from, by the label that the agent's own write sets: a lease that begins
 * afterwards changes that row, and the write is refused by its revision. The rows of the leases are only used to name the holder.
 */
export class LeasedDataplanes {
  private readonly holders = new Map<string, AgentLease>();

  constructor(
    private readonly leases: LeaseLookup | undefined,
    private readonly context: Pick<WriteContext, 'holdsLease'>,
  ) {}

  /** Reads the lease holders of these resources, before they are checked. Throws Unavailable. */
  async read(resources: Iterable<Resource | undefined>): Promise<void> {
    const { leases } = this;
    if (!leases) return;
    const leased = [...resources].flatMap((one) => (one && this.isClosed(one) ? [one.id] : []));
    if (leased.length === 0) return;
    const keys = leased.map(({ mesh, namespace, name }) => ({ mesh, namespace, name }));
    const found = new Map((await leases.find(keys)).map((lease) => [formatKey(lease), lease]));
    for (const id of leased) {
      const lease = found.get(formatKey(id));
      if (lease) this.holders.set(identityKey(id), lease);
    }
  }

  /** Returns the draft with the label of the stored lease: only agents set and remove it. */
  withLabel(draft: ValidatedDraft, stored: Resource | undefined): ValidatedDraft {
    if (!stored || stored.id.kind !== Dataplane.name || this.context.holdsLease === true) return draft;
    const { [Label.leasedBy]: given, ...others } = draft.labels;
    const kept = stored.labels[Label.leasedBy];
    if (given === kept) return draft;
    return { ...draft, labels: kept === undefined ? others : { ...others, [Label.leasedBy]: kept } };
  }

  /** Throws Conflict, which names the holder, if a write changes the spec of a leased Dataplane. */
  checkSpec(stored: Resource | undefined, spec: JsonObject): void {
    if (!stored || !this.isClosed(stored) || jsonEqual(stored.spec, spec)) return;
    throw new Conflict(
      `${this.held(stored)}: its spec is what agent.yaml of that machine says; change it there, or ${ending(stored.id)}`,
    );
  }

  /** Throws Conflict, which names the holder, if a leased Dataplane is deleted. */
  checkDelete(stored: Resource): void {
    if (!this.isClosed(stored)) return;
    throw new Conflict(
      `${this.held(stored)}, which would write it again: stop that agent (causeway-agent drain), or ${ending(stored.id)}`,
    );
  }

  private isClosed({ id, labels }: Resource): boolean {
    return id.kind === Dataplane.name && labels[Label.leasedBy] !== undefined && this.context.holdsLease !== true;
  }

  private held({ id, labels }: Resource): string {
    const lease = this.holders.get(identityKey(id));
    const instance = labels[Label.leasedBy] ?? '';
    const agent =
      lease && lease.machine !== ''
        ? `the agent of machine ${lease.machine} at ${lease.address} (instance ${lease.instance})`
        : `agent ${instance}`;
    return `Dataplane "${id.name}" is leased by ${agent}`;
  }
}

function ending({ mesh, name }: Identity): string {
  return `end its right: causeway workloads revoke ${name}${mesh === 'default' ? '' : ` --mesh ${mesh}`}`;
}

function formatKey({ mesh, namespace, name }: Pick<Identity, 'mesh' | 'namespace' | 'name'>): string {
  return JSON.stringify([mesh, namespace, name]);
}
