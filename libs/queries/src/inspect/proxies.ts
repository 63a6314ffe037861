import type { CallerRights } from '@causeway/access';
import type { Proxy, ProxyFault } from '@causeway/api';
import type { KnownProxy } from '@causeway/controllers';
import { compareText, NotFound, type JsonObject } from '@causeway/resources';
import { sortedPage, type PageRange, type SortedPage } from '@causeway/runtime';
import { xdsTypeName, type ProxyFault as StoredFault } from '@causeway/store';

/** Source of the proxies of a zone. */
export interface ProxySource {
  /** Those of all replicas, in no order. */
  all(): Iterable<KnownProxy>;
}

/** Which proxies are wanted. */
export interface ProxySelection {
  readonly mesh?: string | undefined;
  /** Only those whose Dataplane's or ingress's name contains it. */
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
/** The mesh of proxies that serve all meshes; no mesh is called so. */
const NO_MESH = '-';

/** The proxies of a zone for callers on any interface; each caller sees those whose Dataplanes it may list. */
export class ProxyQueries {
  constructor(private readonly source: ProxySource | undefined) {}

  /** A page of the proxies, by mesh and name. Throws NotFound if none are served, AccessDenied for a mesh that is named. */
  page(
    { mesh, name = '', connected }: ProxySelection,
    range: PageRange,
    rights: CallerRights,
    signal: AbortSignal,
  ): Promise<SortedPage<Proxy>> {
    if (mesh !== undefined && mesh !== NO_MESH) rights.check('list', { kind: 'Dataplane', mesh });
    const wanted = [...this.known()].filter(
      (proxy) =>
        (mesh === undefined || meshOf(proxy) === mesh) &&
        nameOf(proxy).includes(name) &&
        (connected === undefined || proxy.connected === connected) &&
        maySee(proxy, rights),
    );
    return sortedPage(wanted, byName, range, signal).then(({ total, items }) => ({
      total,
      items: items.map(proxyJson),
    }));
  }

  /** One proxy. Throws NotFound, AccessDenied. */
  one({ mesh, name, namespace = DEFAULT_NAMESPACE }: ProxyName, rights: CallerRights): Proxy {
    const isOfZone = mesh === NO_MESH;
    if (!isOfZone) rights.check('get', { kind: 'Dataplane', mesh, namespace });
    const found = [...this.known()].find(
      (proxy) =>
        meshOf(proxy) === mesh && nameOf(proxy) === name && (isOfZone || proxy.facts.owner?.namespace === namespace),
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

function meshOf({ facts }: KnownProxy): string {
  return facts.owner?.mesh || NO_MESH;
}

function nameOf({ facts, proxy }: KnownProxy): string {
  return facts.owner?.name ?? proxy;
}

function maySee({ facts: { owner } }: KnownProxy, rights: CallerRights): boolean {
  return owner !== undefined && rights.may('list', owner);
}

function byName(a: KnownProxy, b: KnownProxy): number {
  return compareText(meshOf(a), meshOf(b)) || compareText(nameOf(a), nameOf(b)) || compareText(a.proxy, b.proxy);
}

/** A proxy as interfaces show it; times in RFC 3339. */
function proxyJson(proxy: KnownProxy): Proxy {
  const { facts, connected, instance, lastSeen, revision } = proxy;
  const { kind, owner, node, address, userAgent, form, since, streams, types, certificate, authorities } = facts;
  return {
    mesh: meshOf(proxy),
    ...(owner?.namespace ? { namespace: owner.namespace } : {}),
    name: nameOf(proxy),
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

/** Which statistics of Kuma's insight a type is counted in. */
const KUMA_TYPES: Readonly<Record<string, string>> = {
  Cluster: 'cds',
  ClusterLoadAssignment: 'eds',
  Listener: 'lds',
  RouteConfiguration: 'rds',
};

/** A proxy in the form of Kuma's DataplaneInsight (docs/reference/kuma-rest.md §1.5), with its latest subscription. */
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
