import type { AgentRival } from '@causeway/queries';
import { isJsonObject, type JsonObject } from '@causeway/resources';
import { errorText, type Clock, type Logger } from '@causeway/runtime';
import type { AgentLease, LeaseClaim, LeaseKey, ResourceStore } from '@causeway/store';

/** Area of the metadata entries of refused agents; the key is the Dataplane. */
const AREA = 'agent-rivals';
/** Maximum number of entries. */
const MAX_RIVALS = 1_000;
/** Leases for which a refused agent must go on asking before it is reported: a machine that moves asks for one. */
const MIN_LEASES = 1;
/** Leases after which an agent that asks no more is forgotten. */
const MAX_SILENT_LEASES = 4;

/** Dependencies of `AgentRivals`. */
interface AgentRivalsOptions {
  readonly store: Pick<ResourceStore, 'listMetadata' | 'write'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Length of a lease, ms. */
  readonly length: number;
}

/**
 * Agents that go on asking for a Dataplane whose lease another one holds: copies of a machine, or one bundle on two machines. The replica that refuses
 * one writes it down, and every replica reads that.
 */
export class AgentRivals {
  constructor(private readonly options: AgentRivalsOptions) {}

  /** Writes down that an agent was refused; a failure is logged only. */
  record({ agent, ...key }: LeaseClaim, by: AgentLease): void {
    this.write(key, {
      machine: agent.machine,
      address: agent.address,
      isCopy: by.instance === agent.instance,
      holder: { machine: by.machine, address: by.address },
    }).catch((error: unknown) =>
      this.options.logger.warn('an agent that is a copy of another could not be written down', {
        dataplane: key.name,
        error: errorText(error),
      }),
    );
  }

  /** Returns those that go on asking. Throws Unavailable. */
  async list(): Promise<readonly AgentRival[]> {
    const { store, clock, length } = this.options;
    const entries = await store.listMetadata(AREA);
    return entries.flatMap(({ value }) => {
      const { since = 0, seenAt = 0 } = value ?? {};
      const isReported =
        Number(seenAt) - Number(since) >= MIN_LEASES * length * 0.9 &&
        clock.now() - Number(seenAt) <= MAX_SILENT_LEASES * length;
      return value && isReported ? [decodeRival(value)] : [];
    });
  }

  private async write({ mesh, namespace, name }: LeaseKey, found: JsonObject): Promise<void> {
    const { store, clock, length } = this.options;
    const entries = await store.listMetadata(AREA);
    const key = [mesh, namespace, name].join('/');
    const now = clock.now();
    const isOld = ({ value }: (typeof entries)[number]): boolean =>
      now - Number(value?.['seenAt'] ?? 0) > MAX_SILENT_LEASES * length;
    const former = entries.find((entry) => entry.key === key && !isOld(entry));
    const ended = entries.filter((entry) => entry.key !== key && isOld(entry));
    if (!former && entries.length - ended.length >= MAX_RIVALS) return;
    const value = { mesh, namespace, name, since: former?.value?.['since'] ?? now, seenAt: now, ...found };
    const removals = ended.map((entry) => ({ area: AREA, key: entry.key, value: null }));
    await store.write({ changes: [], onRefusal: 'abort', metadata: [{ area: AREA, key, value }, ...removals] });
  }
}

function decodeRival(value: JsonObject): AgentRival {
  const text = (one: unknown): string => (typeof one === 'string' ? one : '');
  const { machine, address } = isJsonObject(value['holder']) ? value['holder'] : {};
  return {
    mesh: text(value['mesh']),
    namespace: text(value['namespace']),
    name: text(value['name']),
    machine: text(value['machine']),
    address: text(value['address']),
    isCopy: value['isCopy'] === true,
    holder: { machine: text(machine), address: text(address) },
  };
}
