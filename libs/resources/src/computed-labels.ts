import type { Identity } from './identity';
import type { Kind } from './kind/kind';
import { Label, labelValue, type Labels } from './labels';
import type { FieldPath, Violation } from './violation';

/** Returns the labels that the control plane sets on a resource created on it (docs/design.md §1, Computed labels). */
export function computedLabels(kind: Kind, id: Identity, cp: ControlPlane): Labels {
  const zone = kind.sync.zoneInIdentity ? ownZone(cp) : '';
  return {
    [Label.displayName]: id.name,
    [Label.origin]: cp.role,
    ...(kind.scope === 'mesh' ? { [Label.mesh]: id.mesh } : {}),
    ...(zone === '' ? {} : { [Label.zone]: zone, [Label.env]: 'universal' }),
    ...(kind.namespaced && id.namespace !== 'default' ? { [Label.namespace]: id.namespace } : {}),
  };
}

const COMPUTED: readonly string[] = [
  Label.displayName,
  Label.origin,
  Label.mesh,
  Label.zone,
  Label.env,
  Label.namespace,
];

/** True for labels that only the control plane may set. */
export function isComputedLabel(key: string): boolean {
  return COMPUTED.includes(key);
}

/** Returns violations if a user gives a computed label another value. */
export function checkComputedLabels(given: Labels, computed: Labels, at: FieldPath): Violation[] {
  return Object.entries(given).flatMap(([key, value]) => {
    if (!isComputedLabel(key) || computed[key] === value) return [];
    if (key === Label.namespace && computed[key] === undefined && value === 'default') return [];
    const is = computed[key];
    return [
      at
        .field(key)
        .violation(
          is === undefined
            ? 'is computed and absent here; leave it out'
            : `is computed and must be "${is}"; got "${value}"`,
        ),
    ];
  });
}

/**
 * Returns the value of a label for selectors and templates: the stored one, else the implied one. The identity implies
 * namespace and service name, so that templates written for Kubernetes work on Universal (docs/design.md §1). The only
 * place that defines which labels are implied.
 */
export function effectiveLabel(
  { id, labels }: { readonly id: Identity; readonly labels: Labels },
  key: string,
): string | undefined {
  const stored = labelValue(labels, key);
  if (stored !== undefined) return stored;
  if (key === Label.serviceName) return id.name;
  return key === Label.namespace ? id.namespace || 'default' : undefined;
}

/** True when the resource has every label of `wanted`, stored or implied; an empty `wanted` matches everything. */
export function hasEffectiveLabels(
  resource: { readonly id: Identity; readonly labels: Labels },
  wanted: Labels,
): boolean {
  for (const key in wanted) if (effectiveLabel(resource, key) !== wanted[key]) return false;
  return true;
}

/**
 * True if a resource stored by `cp` was created on it: on the global, every resource without a zone; on a zone, the
 * origin label decides for kinds without a zone in their identity, because those may come from either.
 */
export function isMadeHere(resource: { readonly id: Identity; readonly labels: Labels }, cp: ControlPlane): boolean {
  if (cp.role === 'global') return resource.id.zone === '';
  return resource.id.zone === cp.zone || (resource.id.zone === '' && resource.labels[Label.origin] === 'zone');
}

/**
 * Role of a control plane. `federated`: the zone has a global. A zone that is not federated may also write kinds that
 * otherwise only the global may write (docs/design.md §1, table of kinds).
 */
export type ControlPlane =
  { readonly role: 'global' } | { readonly role: 'zone'; readonly zone: string; readonly federated: boolean };

/** Returns the zone in the identities of resources created on this control plane: its name, or empty on the global. */
export function ownZone(cp: ControlPlane): string {
  return cp.role === 'zone' ? cp.zone : '';
}
