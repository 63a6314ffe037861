import {
  callersOf,
  SHIPPED_GROUP,
  shippedPolicies,
  type KindTable,
  type Policy,
  type ShippedPolicy,
  type Unable,
} from '@causeway/policies';
import { identityKey, type Identity, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { asDataplane, selectorOf, type DataplaneResource } from '../matching/dataplane-selector';
import { MeshExternalService, MeshService } from '@causeway/kinds';
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
}

/**
 * What a policy demands of proxies; undefined for kinds that no proxy is told of. It is judged by what the policy itself says: what
 * others say is theirs. Linear in the policy, and in the routes that it names.
 */
export function policyDemand(kind: KindTable, key: string, index: IndexReader): PolicyDemand | undefined {
  const policy = kind.policies.attachments.get(key)?.policy;
  const shipped = shippedKind(kind.definition);
  if (!policy || !shipped) return undefined;
  return { concerned: concernedBy(kind, policy, shipped, index), ...neededBy(shipped, policy) };
}

function concernedBy(kind: KindTable, policy: Policy, shipped: ShippedPolicy, index: IndexReader): Concerned {
  if (shipped.at === 'server') {
    return { ...serversOf(kind, policy, index), leaves: leavesMesh(kind, policy, shipped, index) };
  }
  const { mesh, namespace } = policy.id;
  return callersOf(kind, policy) === 'own' ? { mesh, namespace } : { mesh };
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
    PLANES.map((plane): [ProxyPlane, readonly Unable[]] => [plane, unableOf(shipped, plane, spec)]),
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

/** A spec that does not fit is obeyed by nobody. */
function unableOf(shipped: ShippedPolicy, plane: ProxyPlane, spec: Policy['spec']): readonly Unable[] {
  const read = shipped.read(spec);
  return read === undefined ? [{ field: '', reason: 'the spec cannot be read' }] : shipped.unable(plane, read);
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
