import {
  findCallers,
  SHIPPED_GROUP,
  shippedPolicies,
  type KindTable,
  type Policy,
  type ShippedPolicy,
  type UnsupportedField,
} from '@causeway/policies';
import { identityKey, type Identity, type Resource, type ResourceKey } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { asDataplane, findSelector, type DataplaneResource } from '@causeway/dataplanes';
import { MeshExternalService, MeshService, TCPRoute, TLSRoute, UDPRoute } from '@causeway/kinds';
import { looksIntoRequests, portKey } from '@causeway/routing';
import type { ApplyRequirement, ProxyScope } from '../progress/apply-progress';
import { proxyModeLabels, proxyModes, type ZoneDataplaneMode } from '../progress/dataplane-modes';
import type { UnsupportedCount } from '../progress/unsupported-proxies';

/** The requirement of a policy: the proxies that it targets, the features that it needs, and those that each mode of proxy lacks. */
export interface PolicyRequirement extends ApplyRequirement {
  /** Describes the unsupported features of proxies, by their modes. */
  readonly describeLack: (counts: readonly UnsupportedCount[]) => string;
  /** Reports whether none of these proxies applies any part of the policy. Proxies of an unknown mode are assumed to apply none. */
  readonly appliesNothing: (counts: readonly UnsupportedCount[]) => boolean;
  /** Targets at which proxies see no requests although the policy is about requests; undefined if there are none. */
  readonly tcpTargets?: TcpTargets;
}

/** Targets whose connections pass through as TCP. */
export interface TcpTargets {
  /** `port 6379 of redis`, `TCPRoute a`. */
  readonly names: readonly string[];
  /** Whether the policy has no other targets. */
  readonly isAll: boolean;
}

/**
 * Returns the requirement of a policy; undefined for kinds that are not sent to proxies. Only the policy's own spec counts, not the policies that are
 * merged with it. Linear in the policy, and in the routes that it names.
 */
export function policyRequirement(
  kind: KindTable,
  key: ResourceKey,
  index: IndexReader,
): PolicyRequirement | undefined {
  const policy = kind.policies.attachments.get(key)?.policy;
  const shipped = shippedKind(kind.definition);
  if (!policy || !shipped) return undefined;
  const tcpTargets = shipped.effectiveTarget.level === 'Rule' ? findTcpTargets(kind, policy, index) : undefined;
  return {
    selection: selectedBy(kind, policy, shipped, index),
    ...requiredBy(shipped, policy),
    ...(tcpTargets && { tcpTargets }),
  };
}

function selectedBy(kind: KindTable, policy: Policy, shipped: ShippedPolicy, index: IndexReader): ProxyScope {
  if (shipped.at === 'server') {
    return { ...selectServers(kind, policy, index), includesEgresses: leavesMesh(kind, policy, shipped, index) };
  }
  const { mesh, namespace } = policy.id;
  return findCallers(kind, policy) === 'own' ? { mesh, namespace } : { mesh };
}

/** Returns the shipped kind of a definition; undefined for kinds that users declare. */
export function shippedKind({
  group,
  kind,
}: {
  readonly group: string;
  readonly kind: string;
}): ShippedPolicy | undefined {
  return group === SHIPPED_GROUP ? shippedPolicies.find((shipped) => shipped.kind === kind) : undefined;
}

/** The namespace of policies whose targets include resources without a namespace. */
const DEFAULT_NAMESPACE = 'default';

/** Returns the features that a policy needs, and those that each dataplane mode lacks. */
export function requiredBy(
  shipped: ShippedPolicy,
  { spec }: Pick<Policy, 'spec'>,
): Pick<PolicyRequirement, 'features' | 'describeLack' | 'appliesNothing'> {
  const lacked = new Map(proxyModes.map((mode) => [mode, lackedBy(shipped, mode, spec)]));
  const listMissingFeatures = (mode: UnsupportedCount['mode']): readonly UnsupportedField[] =>
    (mode === 'noEgress' || mode === 'unknown' ? undefined : lacked.get(mode)) ?? [];
  const lacking = proxyModes.filter((mode) => listMissingFeatures(mode).length > 0);
  const needsRequests = shipped.effectiveTarget.level === 'Rule';
  return {
    features: {
      key: `${needsRequests} ${lacking.join(',')}`,
      isSupported: (mode, isTcpPassthrough) => !lacking.includes(mode) && !(needsRequests && isTcpPassthrough),
    },
    describeLack: (counts) => {
      const modes = proxyModes.filter((mode) => counts.some((one) => one.mode === mode));
      const texts = modes.flatMap((mode) => describeMode(mode, listMissingFeatures(mode), needsRequests));
      return texts.length > 0 ? texts.join('; ') : 'it is not supported there';
    },
    appliesNothing: (counts) =>
      counts.every(
        ({ mode, isTcpPassthrough }) =>
          (needsRequests && isTcpPassthrough) || listMissingFeatures(mode).every(({ field }) => field === ''),
      ),
  };
}

/** `gRPC: /idle gRPC clients have no such timeout, and 1 more`. */
function describeMode(
  mode: ZoneDataplaneMode,
  [first, ...more]: readonly UnsupportedField[],
  needsRequests: boolean,
): readonly string[] {
  const label = proxyModeLabels[mode];
  if (!first) return needsRequests ? [`${label}: passes requests on as bytes`] : [];
  const field = first.field === '' ? '' : `${first.field} `;
  return [`${label}: ${field}${first.reason}${more.length > 0 ? `, and ${more.length} more` : ''}`];
}

/**
 * Returns the services, ports and routes that a policy names and whose connections pass through as TCP: the port is not HTTP and no route that reads
 * requests is bound there. Meshes and Namespaces usually contain both, so they are left out.
 */
function findTcpTargets(kind: KindTable, policy: Policy, index: IndexReader): TcpTargets | undefined {
  const nodes = kind.policies.attachments.listNodes(policy.key);
  const parts = nodes.map(({ level, id, section }) => {
    if (!id || level === 'Mesh' || level === 'Namespace') return { names: [], hasOthers: true };
    if (level === 'Route' || level === 'Rule') {
      const isTcp = TCP_ROUTES.includes(id.kind);
      return { names: isTcp ? [`${id.kind} ${id.name}`] : [], hasOthers: !isTcp };
    }
    return listTcpPorts(kind, id, section, index);
  });
  const names = [...new Set(parts.flatMap((part) => part.names))].sort();
  return names.length === 0 ? undefined : { names, isAll: parts.every(({ hasOthers }) => !hasOthers) };
}

/** Protocols of ports whose requests are visible to proxies. */
const REQUEST_PROTOCOLS: readonly string[] = ['http', 'http2', 'grpc'];
const TCP_ROUTES: readonly string[] = [TCPRoute.name, TLSRoute.name, UDPRoute.name];

function listTcpPorts(
  kind: KindTable,
  id: Identity,
  section: string | undefined,
  index: IndexReader,
): { readonly names: readonly string[]; readonly hasOthers: boolean } {
  const { routes } = kind.policies.targetIndex;
  const frontend = kind.policies.targetIndex.frontend(id);
  const service = index.byIdentityKey(identityKey(id));
  if (!frontend || !service || !MeshService.is(service)) return { names: [], hasOthers: true };
  const groups = routes.listGroups(frontend);
  const ports = (service.spec.ports ?? []).filter(({ port }) => section === undefined || String(port) === section);
  const tcp = ports.filter(({ port, appProtocol }) => {
    if (appProtocol !== undefined && REQUEST_PROTOCOLS.includes(appProtocol)) return false;
    const bound = groups.map((group) => routes.group(frontend, group).bindings.get(portKey('tcp', port)));
    return !bound.some((binding) => binding && looksIntoRequests(binding.kind));
  });
  return { names: tcp.map(({ port }) => `port ${port} of ${id.name}`), hasOthers: tcp.length < ports.length };
}

/** No proxy applies a spec that does not fit its schema. */
function lackedBy(shipped: ShippedPolicy, mode: ZoneDataplaneMode, spec: Policy['spec']): readonly UnsupportedField[] {
  const read = shipped.read(spec);
  return read === undefined ? [{ field: '', reason: 'the spec cannot be read' }] : shipped.unsupported(mode, read);
}

/** Selects the proxies of the instances that a policy names: of services, of a namespace, or of the mesh. */
function selectServers(kind: KindTable, policy: Policy, index: IndexReader): ProxyScope {
  const nodes = kind.policies.attachments.listNodes(policy.key);
  const { mesh, namespace } = policy.id;
  if (nodes.some(({ level }) => level === 'Mesh')) return { mesh };
  if (nodes.some(({ level }) => level === 'Namespace')) return { mesh, namespace };
  const services = new Map(nodes.flatMap(({ id }): [ResourceKey, Identity][] => (id ? [[identityKey(id), id]] : [])));
  const has = (owner: ResourceKey): boolean => {
    const dataplane = asDataplane(index.byIdentityKey(owner));
    return (
      dataplane !== undefined && [...services.keys()].some((key) => isSelected(index.byIdentityKey(key), dataplane))
    );
  };
  return { mesh, namespace, some: { key: [...services.keys()].sort().join(' '), has } };
}

/** Reports whether a policy targets MeshExternalServices directly or through a Namespace or Mesh, so that the egress must apply it there. */
function leavesMesh(kind: KindTable, policy: Policy, { declaredTargets }: ShippedPolicy, index: IndexReader): boolean {
  if (!declaredTargets.some((target) => target.kind === MeshExternalService.name)) return false;
  const { mesh, namespace } = policy.id;
  return kind.policies.attachments.listNodes(policy.key).some(({ level, id }) => {
    if (level !== 'Mesh' && level !== 'Namespace') return id?.kind === MeshExternalService.name;
    if (level === 'Namespace' && namespace !== DEFAULT_NAMESPACE) return false;
    for (const external of index.ofKind(MeshExternalService.name)) if (external.id.mesh === mesh) return true;
    return false;
  });
}

const selectors = new WeakMap<Resource, ReturnType<typeof findSelector> | 'none'>();

function isSelected(service: Resource | undefined, dataplane: DataplaneResource): boolean {
  if (!service || !MeshService.is(service)) return false;
  const selector = selectors.get(service) ?? findSelector(service) ?? 'none';
  selectors.set(service, selector);
  return selector !== 'none' && selector.matches(dataplane);
}
