import {
  findCallers,
  SHIPPED_GROUP,
  shippedPolicies,
  type KindTable,
  type Policy,
  type ShippedPolicy,
  type UnsupportedField,
} from '@causeway/policies';
import { identityKey, type Identity, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { asDataplane, selectorOf, type DataplaneResource } from '@causeway/dataplanes';
import { MeshExternalService, MeshService, TCPRoute, TLSRoute, UDPRoute } from '@causeway/kinds';
import { looksIntoRequests, portKey } from '@causeway/routing';
import { planeLabels, type ProxyPlane } from '../progress/planes';
import { planesNamed, type Concerned, type Needs, type ResourceProgress } from '../progress/progress';

/** Whose proxies a policy concerns, what it takes to obey it, and what those that cannot lack. */
export interface PolicyDemand {
  readonly concerned: Concerned;
  readonly needs: Needs;
  /** What the planes that a progress names cannot do, in words. */
  readonly why: (progress: ResourceProgress) => string;
  /** Whether those that a progress names do nothing of the policy. */
  readonly isNothing: (progress: ResourceProgress) => boolean;
  /** Targets at which nobody looks into requests, as the policy would need it; undefined where there are none. */
  readonly bytes?: BytesTargets;
}

/** Targets whose connections are passed on as bytes. */
export interface BytesTargets {
  /** `port 6379 of redis`, `TCPRoute a`. */
  readonly names: readonly string[];
  /** Whether the policy has no others. */
  readonly isAll: boolean;
}

/**
 * What a policy demands of proxies; undefined for kinds that no proxy is told of. It is judged by what the policy itself says: what
 * others say is theirs. Linear in the policy, and in the routes that it names.
 */
export function policyDemand(kind: KindTable, key: string, index: IndexReader): PolicyDemand | undefined {
  const policy = kind.policies.attachments.get(key)?.policy;
  const shipped = shippedKind(kind.definition);
  if (!policy || !shipped) return undefined;
  const bytes = shipped.effectiveTarget.level === 'Rule' ? bytesTargets(kind, policy, index) : undefined;
  return {
    concerned: concernedBy(kind, policy, shipped, index),
    ...neededBy(shipped, policy),
    ...(bytes && { bytes }),
  };
}

function concernedBy(kind: KindTable, policy: Policy, shipped: ShippedPolicy, index: IndexReader): Concerned {
  if (shipped.at === 'server') {
    return { ...serversOf(kind, policy, index), leaves: leavesMesh(kind, policy, shipped, index) };
  }
  const { mesh, namespace } = policy.id;
  return findCallers(kind, policy) === 'own' ? { mesh, namespace } : { mesh };
}

/** The shipped kind of a definition; undefined for those that users declare. */
export function shippedKind({
  group,
  kind,
}: {
  readonly group: string;
  readonly kind: string;
}): ShippedPolicy | undefined {
  return group === SHIPPED_GROUP ? shippedPolicies.find((shipped) => shipped.kind === kind) : undefined;
}

/** Where what has no namespace stands. */
const DEFAULT_NAMESPACE = 'default';
const PLANES: readonly ProxyPlane[] = ['grpc', 'builtin', 'direct', 'envoy', 'egress'];

function neededBy(shipped: ShippedPolicy, { spec }: Policy): Omit<PolicyDemand, 'concerned'> {
  const unable = new Map(
    PLANES.map((plane): [ProxyPlane, readonly UnsupportedField[]] => [plane, unableOf(shipped, plane, spec)]),
  );
  const lacking = PLANES.filter((plane) => (unable.get(plane) ?? []).length > 0);
  // What passes on everything as bytes looks into no requests.
  const needsRequests = shipped.effectiveTarget.level === 'Rule';
  return {
    needs: {
      key: `${needsRequests} ${lacking.join(',')}`,
      isAble: (plane, { bytesOnly }) => !lacking.includes(plane) && !(needsRequests && bytesOnly !== undefined),
    },
    why: ({ unable: named }) => {
      const said = planesNamed(named).flatMap((plane) => {
        const [first, ...more] = unable.get(plane) ?? [];
        if (!first) return needsRequests ? [`${planeLabels[plane]}: passes requests on as bytes`] : [];
        const field = first.field === '' ? '' : `${first.field} `;
        return [`${planeLabels[plane]}: ${field}${first.reason}${more.length > 0 ? `, and ${more.length} more` : ''}`];
      });
      return said.length > 0 ? said.join('; ') : 'it is not supported there';
    },
    isNothing: ({ unable: named }) =>
      planesNamed(named).every((plane) => (unable.get(plane) ?? []).every(({ field }) => field === '')),
  };
}

/**
 * The named services, ports and routes of a policy at which connections are bytes: the port is of no HTTP and no route that looks into
 * requests is bound there. Meshes and Namespaces have some of both in general, so nothing is said of them.
 */
function bytesTargets(kind: KindTable, policy: Policy, index: IndexReader): BytesTargets | undefined {
  const nodes = kind.policies.attachments.nodesOf(policy.key);
  const parts = nodes.map(({ level, id, section }) => {
    if (!id || level === 'Mesh' || level === 'Namespace') return { names: [], hasOthers: true };
    if (level === 'Route' || level === 'Rule') {
      const isBytes = BYTES_ROUTES.includes(id.kind);
      return { names: isBytes ? [`${id.kind} ${id.name}`] : [], hasOthers: !isBytes };
    }
    return portsOfBytes(kind, id, section, index);
  });
  const names = [...new Set(parts.flatMap((part) => part.names))].sort();
  return names.length === 0 ? undefined : { names, isAll: parts.every(({ hasOthers }) => !hasOthers) };
}

/** Protocols of ports whose requests proxies see. */
const REQUESTS: readonly string[] = ['http', 'http2', 'grpc'];
const BYTES_ROUTES: readonly string[] = [TCPRoute.name, TLSRoute.name, UDPRoute.name];

function portsOfBytes(
  kind: KindTable,
  id: Identity,
  section: string | undefined,
  index: IndexReader,
): { readonly names: readonly string[]; readonly hasOthers: boolean } {
  const { routes } = kind.policies.targetIndex;
  const frontend = kind.policies.targetIndex.frontend(id);
  const service = index.byIdentityKey(identityKey(id));
  if (!frontend || !service || !MeshService.is(service)) return { names: [], hasOthers: true };
  const groups = routes.groupsOf(frontend);
  const ports = (service.spec.ports ?? []).filter(({ port }) => section === undefined || String(port) === section);
  const bytes = ports.filter(({ port, appProtocol }) => {
    if (appProtocol !== undefined && REQUESTS.includes(appProtocol)) return false;
    const bound = groups.map((group) => routes.group(frontend, group).bindings.get(portKey('tcp', port)));
    return !bound.some((binding) => binding && looksIntoRequests(binding.kind));
  });
  return { names: bytes.map(({ port }) => `port ${port} of ${id.name}`), hasOthers: bytes.length < ports.length };
}

/** A spec that does not fit is obeyed by nobody. */
function unableOf(shipped: ShippedPolicy, plane: ProxyPlane, spec: Policy['spec']): readonly UnsupportedField[] {
  const read = shipped.read(spec);
  return read === undefined ? [{ field: '', reason: 'the spec cannot be read' }] : shipped.unsupported(plane, read);
}

/** The proxies of the instances of what a policy names: of services, of a namespace, or of the mesh. */
function serversOf(kind: KindTable, policy: Policy, index: IndexReader): Concerned {
  const nodes = kind.policies.attachments.nodesOf(policy.key);
  const { mesh, namespace } = policy.id;
  if (nodes.some(({ level }) => level === 'Mesh')) return { mesh };
  if (nodes.some(({ level }) => level === 'Namespace')) return { mesh, namespace };
  const services = new Map(nodes.flatMap(({ id }): [string, Identity][] => (id ? [[identityKey(id), id]] : [])));
  const has = (owner: string): boolean => {
    const dataplane = asDataplane(index.byIdentityKey(owner));
    return (
      dataplane !== undefined && [...services.keys()].some((key) => isSelected(index.byIdentityKey(key), dataplane))
    );
  };
  return { mesh, namespace, some: { key: [...services.keys()].sort().join(' '), has } };
}

/** Whether some of what a policy names, or of what is below that, is outside the mesh, and the egress is to obey it there. */
function leavesMesh(kind: KindTable, policy: Policy, { declaredTargets }: ShippedPolicy, index: IndexReader): boolean {
  if (!declaredTargets.some((target) => target.kind === MeshExternalService.name)) return false;
  const { mesh, namespace } = policy.id;
  return kind.policies.attachments.nodesOf(policy.key).some(({ level, id }) => {
    if (level !== 'Mesh' && level !== 'Namespace') return id?.kind === MeshExternalService.name;
    if (level === 'Namespace' && namespace !== DEFAULT_NAMESPACE) return false;
    for (const external of index.ofKind(MeshExternalService.name)) if (external.id.mesh === mesh) return true;
    return false;
  });
}

const selectors = new WeakMap<Resource, ReturnType<typeof selectorOf> | 'none'>();

function isSelected(service: Resource | undefined, dataplane: DataplaneResource): boolean {
  if (!service || !MeshService.is(service)) return false;
  const selector = selectors.get(service) ?? selectorOf(service) ?? 'none';
  selectors.set(service, selector);
  return selector !== 'none' && selector.matches(dataplane);
}
