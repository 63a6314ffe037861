import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { readBinding } from '@causeway/appmesh';
import { asDataplane, type DataplaneResource } from '@causeway/dataplanes';
import {
  compareText,
  FieldPath,
  hasEffectiveLabels,
  identityKey,
  isJsonObject,
  shortened,
  type Resource,
} from '@causeway/resources';
import type { IndexChange } from '@causeway/store';
import type { Destination } from '../model/destination';
import { NO_READS, type Reads } from '../reads/recorded-reads';
import type { DestinationChange } from '../model/model-change';
import { isPort, socketAddress, type SocketAddress } from '../model/ingress-endpoint';
import { type RefusedResource, RESOURCE_TYPES } from '@causeway/xds-server';
import { explicitListenerName, hostPort } from '../names/resource-names';
import { isExcludedFrom, type BackendRef, type ReachableBackends } from './reachable-backends';

type Outbound = NonNullable<DataplaneResource['spec']['networking']['outbound']>[number];

/** A service at an address on the client's own host, declared in its Dataplane. */
export interface ExplicitOutbound {
  readonly at: SocketAddress;
  /** The name of the destination. */
  readonly destination: string;
}

/** The served part of `networking.outbound` of a Dataplane, by the name of the listener, and the reasons why other entries are not served. */
export interface OutboundPlan {
  readonly served: ReadonlyMap<string, ExplicitOutbound>;
  readonly problems: readonly RefusedResource[];
}

/** Maximum number of explicit outbounds of one proxy: each is a listener of about 30 kB. */
export const MAX_OUTBOUNDS = 2_000;
/** Maximum number of service ports that the labels of one outbound may select. */
const MAX_CANDIDATES = 1_000;
const LOOPBACK = '127.0.0.1';
const SERVICE_TAG = 'kuma.io/service';
const ZONE_TAG = 'kuma.io/zone';
/** `name_namespace_svc_port`: Kuma's name of a Kubernetes service. */
const KUBERNETES_SERVICE = /^(.+)_([^_]+)_svc(?:_(\d{1,5}))?$/;
const TAGGED_KINDS = ['MeshService', 'MeshMultiZoneService', 'MeshExternalService'] as const;
const AT = FieldPath.at('spec').field('networking').field('outbound');
const NOTHING: OutboundPlan = { served: new Map(), problems: [] };

/** The destinations that an outbound selects; `zone` where its tags name one. */
interface OutboundTarget {
  readonly refs: readonly BackendRef[];
  readonly zone?: string;
  /** Unknown tags of the outbound. */
  readonly foreign: readonly string[];
}

interface OutboundReference {
  readonly mesh: string;
  readonly ref: BackendRef;
  /** By port, the number of outbounds with this reference: outbounds on one port may conflict with each other. */
  readonly ports: Map<number, number>;
}

interface Planned {
  readonly version: number;
  readonly taken: readonly SocketAddress[];
  readonly plan: OutboundPlan;
}

/**
 * Resolves the explicit outbounds of the zone's Dataplanes to destinations (docs/reference/xds-translation.md, Explicit outbounds). A change costs
 * the outbounds that refer to the changed destination.
 */
export class ExplicitOutbounds {
  private readonly byName = new Map<string, OutboundReference>();
  private readonly byLabels = new Map<string, OutboundReference>();
  private plans = new WeakMap<Resource, Planned>();
  /** A counter that grows whenever a change of a destination may have changed the target of an outbound, or the reason why one is not served. */
  version = 0;

  constructor(
    private readonly backends: ReachableBackends,
    private readonly zone: string,
    private readonly reads: Reads = NO_READS,
  ) {}

  /** Plans the outbounds of a Dataplane. `taken`: addresses that the proxy or a process behind it already uses; `at`: plans this port only. */
  plan(dataplane: Resource, taken: readonly SocketAddress[], at?: number): OutboundPlan {
    const outbounds = readOutbounds(dataplane);
    if (outbounds.length === 0) return NOTHING;
    if (at === undefined) for (const { port } of outbounds) this.reads.readOwn(`outbounds ${port}`);
    else this.reads.readOwn(`outbounds ${at}`);
    const known = this.plans.get(dataplane);
    if (known?.version === this.version && isDeepStrictEqual(known.taken, taken)) return known.plan;
    const plan = this.compute(dataplane, outbounds, taken);
    this.plans.set(dataplane, { version: this.version, taken, plan });
    return plan;
  }

  /** Applies a Dataplane that came, changed or went. */
  replace({ before, after }: Pick<IndexChange, 'before' | 'after'>): void {
    if (before && after && isDeepStrictEqual(before.spec, after.spec)) return;
    this.count(before, -1);
    this.count(after, 1);
  }

  /** Applies a change of a destination: outbounds that select it, or selected it, may resolve differently. */
  destinationChanged({ before, after }: Pick<DestinationChange, 'before' | 'after'>): void {
    if (this.byName.size + this.byLabels.size === 0 || (before && after && isSameChoice(before, after))) return;
    const ports = new Set<number>();
    for (const { ports: those } of this.references(before, after)) for (const port of those.keys()) ports.add(port);
    if (ports.size > 0) this.version += 1;
    for (const port of ports) this.reads.changed(`outbounds ${port}`);
  }

  private *references(...changed: readonly (Destination | undefined)[]): Iterable<OutboundReference> {
    const service = changed.find((one) => one !== undefined)?.service;
    const named = service && this.byName.get(referenceKey(service.mesh, service));
    if (named) yield named;
    for (const reference of this.byLabels.values())
      if (changed.some((one) => one && isSelected(reference, one))) yield reference;
  }

  private count(dataplane: Resource | undefined, by: 1 | -1): void {
    for (const outbound of readOutbounds(dataplane)) {
      const { port } = outbound;
      const { mesh = '' } = dataplane?.id ?? {};
      for (const ref of readTarget(outbound).refs) {
        const table = ref.name === undefined ? this.byLabels : this.byName;
        const key = referenceKey(mesh, ref);
        const reference = table.get(key) ?? { mesh, ref: withoutPort(ref), ports: new Map<number, number>() };
        const count = (reference.ports.get(port) ?? 0) + by;
        if (count > 0) reference.ports.set(port, count);
        else reference.ports.delete(port);
        if (reference.ports.size > 0) table.set(key, reference);
        else table.delete(key);
      }
    }
  }

  private compute(dataplane: Resource, outbounds: readonly Outbound[], taken: readonly SocketAddress[]): OutboundPlan {
    const served = new Map<string, ExplicitOutbound>();
    const problems = new Map<string, RefusedResource>();
    const sockets = new Sockets(taken);
    outbounds.forEach((outbound, i) => {
      const at = toSocketAddress(outbound);
      const name = explicitListenerName(at);
      const found = this.serve(dataplane, outbound, sockets);
      if (typeof found === 'object') return void served.set(name, { at, destination: found.name });
      const violations = [...(problems.get(name)?.violations ?? []), AT.index(i).violation(found)];
      problems.set(name, { type: RESOURCE_TYPES.listener, name, violations, isDeclared: true });
    });
    return { served, problems: [...problems.values()] };
  }

  /** Returns the destination of an outbound, or the reason why it has no listener. */
  private serve(dataplane: Resource, outbound: Outbound, sockets: Sockets): Destination | string {
    const at = toSocketAddress(outbound);
    if (!socketAddress(at.address, at.port)) return `must have an IP address; got "${shortened(at.address, 100)}"`;
    if (sockets.served >= MAX_OUTBOUNDS) return `is not served: a proxy has at most ${MAX_OUTBOUNDS}`;
    const user = sockets.findUser(at);
    if (user !== undefined) return `${hostPort(at)} is already used by ${user}`;
    const target = readTarget(outbound);
    if (target.foreign.length > 0)
      return `has tags that services are not chosen by: ${shortened(target.foreign.join(', '), 200)}`;
    const found = this.pick(dataplane, target);
    if (typeof found === 'object') sockets.take(at);
    return found ?? `there is no service ${described(outbound)} in mesh ${dataplane.id.mesh}`;
  }

  /**
   * Picks a destination: a service of this zone, then a multi-zone service, then a service of another zone; within a rank the oldest service, and its
   * first port.
   */
  private pick(dataplane: Resource, { refs, zone }: OutboundTarget): Destination | string | undefined {
    let best: Destination | undefined;
    let excluded: Destination | undefined;
    let count = 0;
    for (const ref of refs)
      for (const each of this.backends.matching(dataplane.id.mesh, ref)) {
        if (++count > MAX_CANDIDATES) return `selects more than ${MAX_CANDIDATES} ports of services`;
        if (zone !== undefined && zone !== each.service.zone) continue;
        if (isExcludedFrom(dataplane, each)) excluded = each;
        else if (!best || this.order(each, best) < 0) best = each;
      }
    return best ?? (excluded && formatExclusion(dataplane, excluded));
  }

  private order(a: Destination, b: Destination): number {
    const age = ({ createdAt }: Destination): number => createdAt || Number.MAX_VALUE;
    return (
      this.rank(a) - this.rank(b) ||
      age(a) - age(b) ||
      compareText(identityKey(a.service), identityKey(b.service)) ||
      a.port - b.port
    );
  }

  private rank({ service: { kind, zone } }: Destination): number {
    if (kind === 'MeshService') return zone === this.zone ? 0 : 2;
    return kind === 'MeshMultiZoneService' ? 1 : 3;
  }
}

/** The addresses that listeners of a proxy and the processes beside it use. */
class Sockets {
  served = 0;
  private readonly byPort = new Map<number, Map<string, string>>();

  constructor(taken: readonly SocketAddress[]) {
    for (const at of taken) this.add(at, 'an inbound or another listener of the proxy');
  }

  findUser({ address, port }: SocketAddress): string | undefined {
    const ofPort = this.byPort.get(port);
    if (!ofPort) return undefined;
    if (isWildcard(address)) return [...ofPort.values()][0];
    return ofPort.get(address) ?? ofPort.get('0.0.0.0') ?? ofPort.get('::');
  }

  take(at: SocketAddress): void {
    this.served += 1;
    this.add(at, 'an earlier outbound');
  }

  private add({ address, port }: SocketAddress, user: string): void {
    this.byPort.set(port, (this.byPort.get(port) ?? new Map<string, string>()).set(address, user));
  }
}

function isWildcard(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

/** Returns the outbounds that can be read: a stored Dataplane may lack fields that are required here. */
function readOutbounds(dataplane: Resource | undefined): readonly Outbound[] {
  const networking: unknown = asDataplane(dataplane)?.spec.networking;
  const outbounds = isJsonObject(networking) ? networking['outbound'] : undefined;
  return Array.isArray(outbounds) ? outbounds.filter(isOutbound) : [];
}

function isOutbound(found: unknown): found is Outbound {
  if (!isJsonObject(found) || !isPort(found['port'])) return false;
  const { address, backendRef, tags = {} } = found;
  const isAddress = address === undefined || (typeof address === 'string' && isIP(address) > 0);
  const isRef = backendRef === undefined || (isJsonObject(backendRef) && typeof backendRef['kind'] === 'string');
  return isAddress && isRef && isJsonObject(tags);
}

function toSocketAddress({ address = LOOPBACK, port }: Outbound): SocketAddress {
  return { address, port };
}

function readTarget({ backendRef, tags = {} }: Outbound): OutboundTarget {
  if (backendRef) return { refs: [backendRef], foreign: [] };
  const { [SERVICE_TAG]: service = '', [ZONE_TAG]: zone, ...others } = tags;
  const [, name = service, namespace, port] = KUBERNETES_SERVICE.exec(service) ?? [];
  const part = { ...(namespace !== undefined && { namespace }), ...(port !== undefined && { port: Number(port) }) };
  return {
    refs: TAGGED_KINDS.map((kind) => ({ kind, name, ...part })),
    ...(zone !== undefined && { zone }),
    foreign: Object.keys(others),
  };
}

function described({ backendRef, tags = {} }: Outbound): string {
  const text = backendRef ?? {
    [SERVICE_TAG]: tags[SERVICE_TAG],
    ...(tags[ZONE_TAG] && { [ZONE_TAG]: tags[ZONE_TAG] }),
  };
  return shortened(JSON.stringify(text), 300);
}

function formatExclusion(dataplane: Resource, { service: { namespace, name } }: Destination): string {
  const node = readBinding(dataplane);
  return `MeshService ${namespace}/${name} comes from App Mesh and is no backend of VirtualNode ${node?.namespace}/${node?.name}`;
}

function withoutPort({ kind, name, labels }: BackendRef): BackendRef {
  return { kind, ...(name === undefined ? { ...(labels && { labels }) } : { name }) };
}

type NamedRef = Pick<BackendRef, 'labels' | 'name'> & { readonly kind: string };

function referenceKey(mesh: string, { kind, name, labels = {} }: NamedRef): string {
  return JSON.stringify([mesh, kind, name ?? Object.entries(labels).sort()]);
}

function isSelected(
  { mesh, ref: { kind, labels } }: OutboundReference,
  { service, labels: held }: Destination,
): boolean {
  if (service.mesh !== mesh || service.kind !== kind || labels === undefined) return false;
  return hasEffectiveLabels({ id: service, labels: held }, labels);
}

/**
 * Reports whether two states of a destination look the same to the selection of outbounds; other differences are announced with the destination
 * itself.
 */
function isSameChoice(a: Destination, b: Destination): boolean {
  return a.createdAt === b.createdAt && a.protocol === b.protocol && a.port === b.port && a.labels === b.labels;
}
