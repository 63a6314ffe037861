import { AccessPolicy, type ChangingIds } from '@causeway/policies';
import { jsonEqual, type Identity, type JsonObject, type Labels } from '@causeway/resources';
import type { Frontend } from '@causeway/routing';
import type { KumaService } from '../routes/mesh-http-route';
import { permissionConf } from './mesh-traffic-permission';
import type { TranslatedConf } from './mesh-retry';
import type { KumaPolicyKind } from './plan-kuma-policy';
import {
  translateRequests,
  type EffectivePolicies,
  type RequestSources,
  type TranslatedPort,
} from './request-policies';

/** What zones of Kuma are not told of policies at a port, and why. */
export interface NotTranslated {
  readonly port: number;
  readonly policies: readonly string[];
  readonly reason: string;
}

/** What one kind of Kuma says of a service: a spec, where there is something to say, and what it leaves out. */
export interface ServiceTranslation {
  readonly spec?: JsonObject;
  /** The ports of which the spec speaks, and the policies that it comes from. */
  readonly told: readonly Omit<NotTranslated, 'reason'>[];
  readonly untold: readonly NotTranslated[];
}

/** How proxies of Kuma that serve a service are found. */
export type KumaServers =
  { readonly ok: true; readonly targetRef: JsonObject } | { readonly ok: false; readonly reason: string };

export interface ServiceSources extends RequestSources {
  /** How zones of Kuma find a port of the service. */
  readonly service: (port: number) => KumaService;
  /** Undefined where none of its servers has a proxy of Kuma. */
  readonly servers: () => KumaServers | undefined;
  readonly defaultAccess: 'Allow' | 'Deny';
  /** The zones in which the form of ids of the mesh changes. */
  readonly changing: () => readonly ChangingIds[];
}

const NOTHING: ServiceTranslation = { told: [], untold: [] };
/** Most ports in one resource. */
const MOST_PORTS = 64;

/** What zones of Kuma are told of the policies at a service, by one kind of Kuma. Linear in ports × rules. */
export function translateService(
  kind: KumaPolicyKind,
  frontend: Frontend,
  sources: ServiceSources,
): ServiceTranslation {
  if (kind === 'MeshTrafficPermission') return translateAccess(frontend, sources);
  return translateOutbound(frontend, translateRequests(frontend, sources)[kind], sources);
}

function translateOutbound(
  frontend: Frontend,
  ports: readonly TranslatedPort[],
  { service }: ServiceSources,
): ServiceTranslation {
  const to: PortConf[] = [];
  const untold: NotTranslated[] = [];
  const said: Omit<NotTranslated, 'reason'>[] = [];
  for (const { port, policies, told } of ports) {
    const found = told.ok && told.conf ? service(port) : undefined;
    if (!told.ok) untold.push({ port, policies, reason: told.reason });
    else if (found?.ok === false) untold.push({ port, policies, reason: found.reason });
    else if (to.length === MOST_PORTS) untold.push({ port, policies, reason: `it has more than ${MOST_PORTS} ports` });
    else if (found?.ok && told.conf) {
      to.push({ port, labels: found.labels, conf: told.conf });
      said.push({ port, policies });
    }
  }
  const entries = toEntries(frontend, to);
  return { ...(to.length > 0 && { spec: { targetRef: { kind: 'Mesh' }, to: entries } }), told: said, untold };
}

interface PortConf {
  readonly port: number;
  readonly labels: Labels;
  readonly conf: JsonObject;
}

/**
 * One a port, but of the whole service where all its ports say the same: an outbound that names a port by number, as
 * `networking.outbound` of Kuma 2.14 does, does not find what is said of a port with a name.
 */
function toEntries({ id: { kind }, ports }: Frontend, to: readonly PortConf[]): readonly JsonObject[] {
  const [first] = to;
  if (first && to.length === ports.length && to.every(({ conf }) => jsonEqual(conf, first.conf)))
    return [{ targetRef: { kind, labels: first.labels }, default: first.conf }];
  return to.map(({ port, labels, conf }) => {
    const sectionName = ports.find((one) => one.port === port)?.name ?? String(port);
    return { targetRef: { kind, labels, sectionName }, default: conf };
  });
}

/** Kuma lets callers in by proxies, not by ports of services: all ports have to say the same. */
function translateAccess(
  frontend: Frontend,
  { policies, servers, defaultAccess, changing }: ServiceSources,
): ServiceTranslation {
  if (frontend.id.kind !== 'MeshService') return NOTHING;
  const access = { defaultAccess, changing: changing() };
  const ports = frontend.ports.map(({ port }) => accessAt(policies, { service: frontend.id, port }, access));
  if (ports.every(({ keys }) => keys.length === 0)) return NOTHING;
  const at = servers();
  if (!at) return NOTHING;
  const [first] = ports;
  const isSame = ports.every(({ told }) => jsonEqual(confOf(told), confOf(first?.told)));
  const isEverywhere = ports.every(({ keys }) => keys.length > 0);
  const refused = ports.map(({ told }) => told).find((told) => !told.ok);
  const reason =
    refused?.reason ??
    (isSame && isEverywhere ? undefined : 'its ports have others, and Kuma has one for all ports of a proxy') ??
    (at.ok ? undefined : at.reason);
  if (reason !== undefined) {
    return { told: [], untold: ports.map(({ port, keys }) => ({ port, policies: keys, reason })) };
  }
  const conf = confOf(first?.told);
  if (!at.ok || Object.keys(conf).length === 0) return NOTHING;
  return {
    spec: { targetRef: at.targetRef, rules: [{ default: conf }] },
    told: ports.map(({ port, keys }) => ({ port, policies: keys })),
    untold: [],
  };
}

function accessAt(
  policies: EffectivePolicies,
  at: { readonly service: Identity; readonly port: number },
  { defaultAccess, changing }: { defaultAccess: ServiceSources['defaultAccess']; changing: readonly ChangingIds[] },
): { readonly port: number; readonly keys: readonly string[]; readonly told: TranslatedConf } {
  const found = policies.effectiveOfBackend(AccessPolicy.kind, at);
  const { port } = at;
  if (!found) return { port, keys: [], told: { ok: true } };
  const keys = [...new Set([...found.sources.values()].map(({ policy }) => policy))].sort();
  const spec = AccessPolicy.read(found.spec);
  // Proxies refuse everybody where a policy cannot be read, as Kuma does without one.
  return { port, keys, told: spec ? permissionConf(spec, defaultAccess, changing) : { ok: true } };
}

const confOf = (told: TranslatedConf | undefined): JsonObject => (told?.ok && told.conf) || {};
