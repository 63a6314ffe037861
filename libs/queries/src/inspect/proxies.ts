import type { CallerRights } from '@causeway/access';
import type { Proxy, ProxyFault } from '@causeway/api';
import type { KnownProxy } from '@causeway/controllers';
import { compareText, NotFound, type JsonObject } from '@causeway/resources';
import { sortedPage, type PageRange, type SortedPage } from '@causeway/runtime';
import { xdsTypeName, type ProxyFault as StoredFault } from '@causeway/store';

/** Source of the proxies of a zone. */
export interface ProxySource {
  /** Returns the proxies of all replicas, unordered. */
  all(): Iterable<KnownProxy>;
}

/** Conditions for proxies. */
export interface ProxySelection {
  readonly mesh?: string | undefined;
  /** Only proxies whose Dataplane or ingress has this text in its name. */
  readonly name?: string | undefined;
  readonly connected?: boolean | undefined;
}

/** One proxy: by the mesh and name of its Dataplane; the mesh `-` has the zone's ingresses. */
export interface ProxyName {
  readonly mesh: string;
  readonly name: string;
  readonly namespace?: string;
}

const DEFAULT_NAMESPACE = 'default';
/** The mesh of proxies that serve all meshes; no mesh can have this name. */
const NO_MESH = '-';

/** The proxies of a zone for callers on any interface; each caller sees those whose Dataplanes it may list. */
export class ProxyQueries {
  constructor(private readonly source: ProxySource | undefined) {}

  /** Returns a page of the proxies, by mesh and name. Throws NotFound if no proxies are served, AccessDenied for a mesh that the request names. */
  page(
    { mesh, name = '', connected }: ProxySelection,
    range: PageRange,
    rights: CallerRights,
    signal: AbortSignal,
  ): Promise<SortedPage<Proxy>> {
    if (mesh !== undefined && mesh !== NO_MESH) rights.check('list', { kind: 'Dataplane', mesh });
    const wanted = [...this.known()].filter(
      (proxy) =>
        (mesh === undefined || getMesh(proxy) === mesh) &&
        getName(proxy).includes(name) &&
        (connected === undefined || proxy.connected === connected) &&
        maySee(proxy, rights),
    );
    return sortedPage(wanted, byName, range, signal).then(({ total, items }) => ({
      total,
      items: items.map(proxyJson),
    }));
  }

  /** Returns one proxy. Throws NotFound, AccessDenied. */
  one({ mesh, name, namespace = DEFAULT_NAMESPACE }: ProxyName, rights: CallerRights): Proxy {
    const isOfZone = mesh === NO_MESH;
    if (!isOfZone) rights.check('get', { kind: 'Dataplane', mesh, namespace });
    const found = [...this.known()].find(
      (proxy) =>
        getMesh(proxy) === mesh && getName(proxy) === name && (isOfZone || proxy.facts.owner?.namespace === namespace),
    );
    const kind = found?.facts.owner?.kind ?? (isOfZone ? 'ZoneIngress' : 'Dataplane');
    if (isOfZone) rights.check('get', { kind, mesh: '', namespace: '' });
    if (!found) throw new NotFound(`no proxy of ${kind} ${name} is connected, or was not long ago`);
    return proxyJson(found);
  }

  private known(): Iterable<KnownProxy> {
    if (!this.source) throw new NotFound('this control plane serves no proxies: ask that of a zone');
    return this.source.all();
  }
}

function getMesh({ facts }: KnownProxy): string {
  return facts.owner?.mesh || NO_MESH;
}

function getName({ facts, proxy }: KnownProxy): string {
  return facts.owner?.name ?? proxy;
}

function maySee({ facts: { owner } }: KnownProxy, rights: CallerRights): boolean {
  return owner !== undefined && rights.may('list', owner);
}

function byName(a: KnownProxy, b: KnownProxy): number {
  return compareText(getMesh(a), getMesh(b)) || compareText(getName(a), getName(b)) || compareText(a.proxy, b.proxy);
}

/** Returns a proxy in the form of the interfaces; times in RFC 3339. */
function proxyJson(proxy: KnownProxy): Proxy {
  const { facts, connected, instance, lastSeen, revision } = proxy;
  const { kind, owner, node, address, userAgent, form, since, streams, types, certificate, authorities } = facts;
  return {
    mesh: getMesh(proxy),
    ...(owner?.namespace ? { namespace: owner.namespace } : {}),
    name: getName(proxy),
    kind,
    connected,
    replica: instance,
    node,
    address,
    userAgent,
    form,
    streams,
    since: time(since),
    lastSeen: time(lastSeen),
    appliedRevision: facts.isSettled ? (facts.applied ?? revision) : -1,
    types: types.map(({ type, subscribed, held, acked = revision, responses }) => ({
      type: xdsTypeName(type),
      subscribed,
      held,
      ackedRevision: acked,
      responses: { sent: responses.sent, acked: responses.acked, rejected: responses.rejected },
    })),
    ...(certificate && { certificate: { ...certificateId(certificate), notAfter: time(certificate.end) } }),
    ...(authorities && { authorities }),
    rejected: facts.rejected.map(faultJson),
    refused: facts.refused.map(faultJson),
  };
}

function certificateId({ uri }: { readonly uri?: string }): { readonly spiffeId?: string } {
  return uri === undefined ? {} : { spiffeId: uri };
}

function faultJson({ type, name, version, reason, at }: StoredFault): ProxyFault {
  return {
    type: xdsTypeName(type),
    name,
    ...(version === undefined ? {} : { version }),
    reason,
    ...(at === undefined ? {} : { time: time(at) }),
  };
}

function time(at: number): string {
  return new Date(at).toISOString();
}

/** The statistics field of Kuma's insight that counts each resource type. */
const KUMA_TYPES: Readonly<Record<string, string>> = {
  Cluster: 'cds',
  ClusterLoadAssignment: 'eds',
  Listener: 'lds',
  RouteConfiguration: 'rds',
};

/** Returns a proxy in the form of Kuma's DataplaneInsight (docs/reference/kuma-rest.md §1.5), with its latest subscription. */
export function dataplaneInsight({ proxy, facts, connected, instance, lastSeen }: KnownProxy): JsonObject {
  const { since, types, certificate, userAgent } = facts;
  const counted = types.map(({ type, responses: { sent, acked, rejected } }) => ({
    type: KUMA_TYPES[xdsTypeName(type)],
    stats: { responsesSent: `${sent}`, responsesAcknowledged: `${acked}`, responsesRejected: `${rejected}` },
  }));
  const sum = (part: 'sent' | 'acked' | 'rejected'): string =>
    `${types.reduce((all, { responses }) => all + responses[part], 0)}`;
  const [name = '', version = ''] = userAgent.split(' ');
  return {
    subscriptions: [
      {
        id: `${proxy}@${since}`,
        controlPlaneInstanceId: instance,
        connectTime: time(since),
        ...(connected ? {} : { disconnectTime: time(lastSeen) }),
        status: {
          lastUpdateTime: time(lastSeen),
          total: {
            responsesSent: sum('sent'),
            responsesAcknowledged: sum('acked'),
            responsesRejected: sum('rejected'),
          },
          ...Object.fromEntries(counted.flatMap(({ type, stats }) => (type === undefined ? [] : [[type, stats]]))),
        },
        ...(name === 'envoy' ? { version: { envoy: { version } } } : {}),
      },
    ],
    ...(certificate ? { mTLS: { certificateExpirationTime: time(certificate.end) } } : {}),
  };
}
