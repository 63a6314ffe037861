import type { FieldPath, Violation } from './violation';

/** Labels of a resource. */
export interface Labels {
  readonly [key: string]: string;
}

/** The label keys that have a meaning for the control plane (docs/design.md §1, Computed labels). */
export const Label = {
  displayName: 'kuma.io/display-name',
  mesh: 'kuma.io/mesh',
  zone: 'kuma.io/zone',
  origin: 'kuma.io/origin',
  env: 'kuma.io/env',
  managedBy: 'kuma.io/managed-by',
  service: 'kuma.io/service',
  workload: 'kuma.io/workload',
  namespace: 'k8s.kuma.io/namespace',
  serviceName: 'k8s.kuma.io/service-name',
  /** On a MeshService: `"true"` means it has no virtual IP. */
  headless: 'k8s.kuma.io/is-headless-service',
  /**
   * On a MeshTrust that the global derived from a zone's: the uid of that one. A zone never sends MeshTrusts with this
   * label to the global (docs/design.md §1, Identity and addresses of zones).
   */
  derivedFrom: 'causeway.io/derived-from',
  /** On a MeshIdentity: `Mesh` means it was created and is deleted with its Mesh. On a MeshNaming: `Upgrade` means it was created by the upgrade. */
  madeWith: 'causeway.io/made-with',
  /** On a Mesh: `"true"` means it accepts no new members. */
  terminating: 'causeway.io/terminating',
  /** On resources generated from a VirtualNode or a VirtualService: its kind and, if it fits a label, its name. */
  generatedFrom: 'causeway.io/managed-by',
  generatedFromName: 'causeway.io/managed-by-name',
  /** On a generated MeshService: the name at App Mesh of its VirtualService, if the mesh's suffixes cover it. */
  awsName: 'appmesh.k8s.aws/aws-name',
  /** On a Dataplane: port of its address that serves the metrics of its agent. */
  metricsPort: 'causeway.io/metrics-port',
  /** On a Dataplane that an agent registered: id of the agent's instance, which has a lease. Set by control planes. */
  leasedBy: 'causeway.io/leased-by',
} as const;

const KEY_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const KEY_PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** True for `name` or `prefix/name` by Kubernetes' label syntax (docs/reference/kuma-rest.md §2.4). */
export function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/');
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  if (prefix !== undefined && (prefix.length > 253 || !KEY_PREFIX.test(prefix))) return false;
  return name.length <= 63 && KEY_NAME.test(name);
}

/** True for an empty value or one of at most 63 characters by Kubernetes' label syntax. */
export function isLabelValue(value: string): boolean {
  return value === '' || (value.length <= 63 && KEY_NAME.test(value));
}

/** Returns violations of label syntax, one for each invalid key and value. */
export function checkLabels(labels: Labels, at: FieldPath): Violation[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...(isLabelKey(key)
      ? []
      : [at.field(key).violation('is not a label key: [prefix/]name, name of 1-63 characters', 'wrong-form')]),
    // The display name is a resource name, which may be longer than a label value.
    ...(isLabelValue(value) || key === Label.displayName
      ? []
      : [
          at
            .field(key)
            .violation(`is not a label value: at most 63 letters, digits, '-', '_', '.'; got "${value}"`, 'wrong-form'),
        ]),
  ]);
}

/** True if `labels` has every pair of `wanted`; an empty `wanted` matches everything. */
export function labelsMatch(wanted: Labels, labels: Labels): boolean {
  for (const key in wanted) if (labelValue(labels, key) !== wanted[key]) return false;
  return true;
}

/** Label selector with the semantics of Kubernetes: every pair and every expression must match; an empty one selects everything. */
export interface LabelSelector {
  readonly matchLabels?: Labels | undefined;
  readonly matchExpressions?: readonly LabelExpression[] | undefined;
}

/** One expression of a `LabelSelector`. `NotIn` also selects resources without the label. */
interface LabelExpression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[] | undefined;
}

/** True if the selector selects these labels. */
export function selectsLabels({ matchLabels, matchExpressions }: LabelSelector, labels: Labels): boolean {
  return labelsMatch(matchLabels ?? {}, labels) && (matchExpressions ?? []).every((each) => holds(each, labels));
}

function holds({ key, operator, values = [] }: LabelExpression, labels: Labels): boolean {
  const value = labelValue(labels, key);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** Returns the value of a label, never an inherited property: users may call a label `constructor`. */
export function labelValue(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** Returns the label that Kubernetes gives each namespace; selectors may use it even if no Namespace is stored. */
export function namespaceLabels(namespace: string): Labels {
  return { 'kubernetes.io/metadata.name': namespace };
}
