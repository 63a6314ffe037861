import { AccessPolicy, type ChangingIds } from '@causeway/policies';
import { jsonEqual, type Identity, type JsonObject, type Labels, type ResourceKey } from '@causeway/resources';
import type { Frontend } from '@causeway/routing';
import type { KumaService } from '../routes/mesh-http-route';
import { permissionConf } from './mesh-traffic-permission';
import type { TranslatedConf } from './mesh-retry';
import type { KumaPolicyKind } from './plan-kuma-policy';
import {
  translateRequests,
  type EffectiveKumaPolicies,
  type RequestSources,
  type TranslatedPort,
} from './request-policies';

/** Policies at a port that are not translated for zones of Kuma, with the reason. */
export interface NotTranslated {
  readonly port: number;
  readonly policies: readonly ResourceKey[];
  readonly reason: string;
}

/** One resource of Kuma for the policies of a service: its spec, unless that is empty, and the parts that it leaves out. */
export interface ServiceTranslation {
  readonly spec?: JsonObject;
  /** The ports in the spec, with the policies that it contains. */
  readonly translated: readonly Omit<NotTranslated, 'reason'>[];
  readonly notTranslated: readonly NotTranslated[];
}

/** The way in which zones of Kuma select the proxies that serve a service. */
export type KumaServers =
  { readonly ok: true; readonly targetRef: JsonObject } | { readonly ok: false; readonly reason: string };

export interface ServiceSources extends RequestSources {
  /** Returns how zones of Kuma select a port of the service. */
  readonly service: (port: number) => KumaService;
  /** Returns undefined if none of its servers has a proxy of Kuma. */
  readonly servers: () => KumaServers | undefined;
  readonly defaultAccess: 'Allow' | 'Deny';
  /** Returns the zones in which the form of ids of the mesh changes. */
  readonly changing: () => readonly ChangingIds[];
}

/** No resource of Kuma. */
export const NOTHING: ServiceTranslation = { translated: [], notTranslated: [] };
/** Maximum number of ports in one resource. */
const MAX_PORTS = 64;

/** Translates the policies of a service to one kind of Kuma. Linear in ports × rules. */
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
  const notTranslated: NotTranslated[] = [];
  const translated: Omit<NotTranslated, 'reason'>[] = [];
  for (const { port, policies, conf } of ports) {
    const found = conf.ok && conf.conf ? service(port) : undefined;
    if (!conf.ok) notTranslated.push({ port, policies, reason: conf.reason });
    else if (found?.ok === false) notTranslated.push({ port, policies, reason: found.reason });
    else if (to.length === MAX_PORTS)
      notTranslated.push({ port, policies, reason: `it has more than ${MAX_PORTS} ports` });
    else if (found?.ok && conf.conf) {
      to.push({ port, labels: found.labels, conf: conf.conf });
      translated.push({ port, policies });
    }
  }
  const entries = toEntries(frontend, to);
  return { ...(to.length > 0 && { spec: { targetRef: { kind: 'Mesh' }, to: entries } }), translated, notTranslated };
}

interface PortConf {
  readonly port: number;
  readonly labels: Labels;
  readonly conf: JsonObject;
}

/**
 * Returns one entry for each port, or one for the whole service if all its ports agree: an outbound that names a port by number, as
 * `networking.outbound` of Kuma 2.14 does, does not match the entry of a port with a name.
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

/** Kuma permits callers by proxies, not by ports of services: all ports must agree. */
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
  const isSame = ports.every(({ conf }) => jsonEqual(getConf(conf), getConf(first?.conf)));
  const isEverywhere = ports.every(({ keys }) => keys.length > 0);
  const refused = ports.map(({ conf }) => conf).find((conf) => !conf.ok);
  const reason =
    refused?.reason ??
    (isSame && isEverywhere
      ? undefined
      : 'its ports have other values, and Kuma has one value for all ports of a proxy') ??
    (at.ok ? undefined : at.reason);
  if (reason !== undefined) {
    return { translated: [], notTranslated: ports.map(({ port, keys }) => ({ port, policies: keys, reason })) };
  }
  const conf = getConf(first?.conf);
  if (!at.ok || Object.keys(conf).length === 0) return NOTHING;
  return {
    spec: { targetRef: at.targetRef, rules: [{ default: conf }] },
    translated: ports.map(({ port, keys }) => ({ port, policies: keys })),
    notTranslated: [],
  };
}

function accessAt(
  policies: EffectiveKumaPolicies,
  at: { readonly service: Identity; readonly port: number },
  { defaultAccess, changing }: { defaultAccess: ServiceSources['defaultAccess']; changing: readonly ChangingIds[] },
): { readonly port: number; readonly keys: readonly ResourceKey[]; readonly conf: TranslatedConf } {
  const found = policies.effectiveOfBackend(AccessPolicy.kind, at);
  const { port } = at;
  if (!found) return { port, keys: [], conf: { ok: true } };
  const keys = [...new Set([...found.sources.values()].map(({ policy }) => policy))].sort();
  const spec = AccessPolicy.read(found.spec);
  // If a policy cannot be read, our proxies refuse everybody, as Kuma does without a permission.
  return { port, keys, conf: spec ? permissionConf(spec, defaultAccess, changing) : { ok: true } };
}

const getConf = (translated: TranslatedConf | undefined): JsonObject => (translated?.ok && translated.conf) || {};
