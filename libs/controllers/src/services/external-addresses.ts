import { MeshExternalService } from '@causeway/kinds';
import {
  identityKey,
  shortened,
  withCondition,
  withoutConditions,
  type Condition,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader, PatchChange } from '@causeway/store';
import { KeyedLoop, NO_KEYS, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';

/** The condition of a MeshExternalService none of whose known addresses may be dialled; absent if one may. */
const ADDRESSES_REFUSED = 'AddressesRefused';

/** The known addresses of hosts. */
export interface ExternalHosts {
  resolve(host: string): {
    readonly addresses: readonly string[];
    readonly refused: readonly string[];
    readonly isPending?: true;
  };
  /** Calls `listener` with each name whose state changed, until the returned function is called. */
  subscribe(listener: (name: string) => void): () => void;
}

/** Maximum number of addresses that the message lists. */
const MAX_SHOWN = 5;
const MAX_MESSAGE_LENGTH = 1_024;

/** Returns the patch that updates the condition; undefined if it is up to date, and while a name is not resolved yet. */
export function planExternalAddresses(
  resource: Resource,
  hosts: Pick<ExternalHosts, 'resolve'>,
  now: number,
): PatchChange | undefined {
  const { id, revision, generation, status: before = {} } = resource;
  const found = listHosts(resource).map((host) => ({ host, ...hosts.resolve(host) }));
  const isReached = found.some(({ addresses }) => addresses.length > 0);
  if (!isReached && found.some(({ isPending }) => isPending === true)) return undefined;
  const refused = found.flatMap(({ host, refused: all }) =>
    all.map((each) => (each === host ? each : `${each} of ${host}`)),
  );
  const status =
    !isReached && refused.length > 0
      ? withCondition(before, refusal(refused, generation), now)
      : withoutConditions(before, [ADDRESSES_REFUSED]);
  return status === before ? undefined : { type: 'patch', id, expect: revision, status };
}

function refusal(refused: readonly string[], observedGeneration: number): Condition {
  const shown = refused.slice(0, MAX_SHOWN).join(', ');
  const more = refused.length > MAX_SHOWN ? ` and ${refused.length - MAX_SHOWN} more` : '';
  const message = `proxies without an agent do not reach it: CAUSEWAY_EXTERNAL_MAY_DIAL of the zone refuses ${shown}${more}`;
  return {
    type: ADDRESSES_REFUSED,
    status: 'True',
    reason: 'MayNotBeDialled',
    message: shortened(message, MAX_MESSAGE_LENGTH, '…'),
    observedGeneration,
  };
}

function listHosts(resource: Resource): readonly string[] {
  if (!MeshExternalService.is(resource)) return [];
  return [...new Set((resource.spec.endpoints ?? []).map(({ address }) => address))];
}

/**
 * Writes a condition on each MeshExternalService none of whose addresses may be dialled by proxies without an agent. Resolved addresses are outside
 * the index; a service with a permitted address is never written.
 */
class ExternalAddressesReconciler implements KeyedReconciler {
  readonly name = 'external-addresses';
  readonly looksOutside = true;
  private readonly byHost = new Map<string, Set<ResourceKey>>();
  private changed = new Set<string>();

  constructor(
    private readonly hosts: ExternalHosts,
    signal: AbortSignal,
  ) {
    signal.addEventListener(
      'abort',
      hosts.subscribe((host) => void this.changed.add(host)),
      { once: true },
    );
  }

  *seed(index: IndexReader): Iterable<Keys> {
    for (const { id } of index.ofKind(MeshExternalService.name)) yield [identityKey(id)];
  }

  listKeys({ id, key }: IndexChange): Keys {
    return id.kind === MeshExternalService.name ? [key] : NO_KEYS;
  }

  outsideKeys(): Keys {
    if (this.changed.size === 0) return NO_KEYS;
    const keys = [...this.changed].flatMap((host) => [...(this.byHost.get(host) ?? [])]);
    this.changed = new Set();
    return keys;
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const resource = index.byIdentityKey(key);
    for (const host of resource ? listHosts(resource) : [])
      this.byHost.set(host, (this.byHost.get(host) ?? new Set()).add(key));
    return resource && { change: planExternalAddresses(resource, this.hosts, now) };
  }
}

/** Creates the loop for one term, which ends with `signal`. */
export function createExternalAddressesLoop(
  hosts: ExternalHosts,
  { signal }: { readonly signal: AbortSignal },
): KeyedLoop {
  return new KeyedLoop(new ExternalAddressesReconciler(hosts, signal));
}
