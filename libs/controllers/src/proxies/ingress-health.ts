import {
  findCondition,
  identityKey,
  isJsonArray,
  isJsonObject,
  withCondition,
  withoutConditions,
  WITHDRAWN,
  type JsonValue,
  type Resource,
  type ResourceKey,
} from '@causeway/resources';
import type { IndexChange, IndexReader, PatchChange } from '@causeway/store';
import { NO_KEYS, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';
import { isWrittenGone } from './proxy-conditions';

/** Kinds with their own proxy through which zones or outside services are reached. */
const PROXIED = ['ZoneIngress', 'ZoneEgress'];
const ADDRESS = 'MeshZoneAddress';

/** The address of an ingress for one mesh, or for all: `address port`. */
interface Listening {
  readonly mesh: string | undefined;
  readonly places: readonly string[];
}

/**
 * Writes the condition `Withdrawn` on the ingresses and egresses of this zone that must not be used: those whose proxy is gone while another of the
 * same kind, for the same mesh, is connected (docs/reference/proxies.md). The last one is never withdrawn: it may still serve while no control plane
 * can see it (I14). A MeshZoneAddress is withdrawn together with the ingresses at its address.
 */
export class IngressHealthReconciler implements KeyedReconciler {
  readonly name = 'entrances';
  /** The Dataplanes with a listener of type ZoneIngress, by key. */
  private readonly listeners = new Map<ResourceKey, Listening>();

  constructor(private readonly zone: string) {}

  *seed(index: IndexReader): Iterable<Keys> {
    this.listeners.clear();
    for (const dataplane of index.ofKind('Dataplane')) {
      if (dataplane.id.zone === this.zone) this.observe(identityKey(dataplane.id), dataplane);
      yield NO_KEYS;
    }
    yield this.keys(index);
  }

  listKeys({ id, key, after }: IndexChange, index: IndexReader): Keys {
    if (id.zone !== this.zone) return NO_KEYS;
    if (PROXIED.includes(id.kind) || id.kind === ADDRESS) return this.keys(index);
    if (id.kind !== 'Dataplane') return NO_KEYS;
    const listened = this.listeners.has(key);
    this.observe(key, after);
    return listened || this.listeners.has(key) ? this.keys(index) : NO_KEYS;
  }

  reconcile(key: ResourceKey, index: IndexReader, now: number): ReconcileResult | undefined {
    const resource = index.byIdentityKey(key);
    if (!resource) return undefined;
    const isDown = (each: Resource): boolean =>
      each.id.kind === ADDRESS ? this.isUnserved(each, index) : isWrittenGone(each);
    const others = this.ofZone(index, resource.id.kind).filter(({ id }) => id.mesh === resource.id.mesh);
    return { change: planWithdrawal(resource, isDown(resource) && others.some((each) => !isDown(each)), now) };
  }

  private keys(index: IndexReader): Keys {
    return [...PROXIED, ADDRESS].flatMap((kind) => this.ofZone(index, kind).map(({ id }) => identityKey(id)));
  }

  private ofZone(index: IndexReader, kind: string): readonly Resource[] {
    return [...index.ofKind(kind)].filter(({ id }) => id.zone === this.zone);
  }

  /** Reports whether ingresses listen at this address, and the proxies of all of them are gone. */
  private isUnserved({ id: { mesh }, spec }: Resource, index: IndexReader): boolean {
    const place = formatSocket(spec['address'], spec['port']);
    const ingresses = this.ofZone(index, 'ZoneIngress').filter((each) => placesOfIngress(each).includes(place));
    const dataplanes = [...this.listeners].flatMap(([key, { mesh: of, places }]) =>
      of === mesh && places.includes(place) ? (index.byIdentityKey(key) ?? []) : [],
    );
    const serving = [...ingresses, ...dataplanes];
    return serving.length > 0 && serving.every(isWrittenGone);
  }

  private observe(key: ResourceKey, dataplane: Resource | undefined): void {
    const places = dataplane ? placesOfDataplane(dataplane) : [];
    if (dataplane && places.length > 0) this.listeners.set(key, { mesh: dataplane.id.mesh, places });
    else this.listeners.delete(key);
  }
}

function planWithdrawal(resource: Resource, isWithdrawn: boolean, now: number): PatchChange | undefined {
  const { id, revision, generation: observedGeneration, status: before = {} } = resource;
  if (!isWithdrawn && !findCondition(before, WITHDRAWN)) return undefined;
  const message = 'its proxy is not connected, and others serve';
  const status = isWithdrawn
    ? withCondition(before, { type: WITHDRAWN, status: 'True', reason: 'ProxyGone', message, observedGeneration }, now)
    : withoutConditions(before, [WITHDRAWN]);
  return status === before ? undefined : { type: 'patch', id, expect: revision, status };
}

/** Returns the addresses of an ingress: the one that other zones connect to, and the one it listens on. */
function placesOfIngress({ spec }: Resource): readonly string[] {
  const { networking } = spec;
  if (!isJsonObject(networking)) return [];
  const { address, port, advertisedAddress = address, advertisedPort = port } = networking;
  return [formatSocket(advertisedAddress, advertisedPort), formatSocket(address, port)];
}

function placesOfDataplane({ spec }: Resource): readonly string[] {
  const { networking } = spec;
  if (!isJsonObject(networking) || !isJsonArray(networking['listeners'])) return [];
  const { address, advertisedAddress = address, listeners } = networking;
  return listeners.filter(isJsonObject).flatMap((listener) => {
    const { type, address: own = address, port } = listener;
    return type === 'ZoneIngress' ? [formatSocket(own, port), formatSocket(advertisedAddress, port)] : [];
  });
}

function formatSocket(address: JsonValue | undefined, port: JsonValue | undefined): string {
  return JSON.stringify([address, port]);
}
