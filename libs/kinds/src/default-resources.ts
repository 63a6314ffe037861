import { Label, type ControlPlane, type JsonObject } from '@causeway/resources';

/** A resource that a control plane creates at its first start. */
export interface DefaultResource {
  readonly kind: 'Namespace' | 'HostnameGenerator';
  readonly name: string;
  readonly spec: JsonObject;
}

const fromGlobal = { 'kuma.io/origin': 'global' } as const;
const fromHere = { 'kuma.io/origin': 'zone' } as const;
const kubernetes = { 'kuma.io/env': 'kubernetes' } as const;

type SelectorField = 'meshService' | 'meshMultiZoneService' | 'meshExternalService';

const generator = (
  name: string,
  service: SelectorField,
  matchLabels: Readonly<Record<string, string>>,
  template: string,
): DefaultResource => ({
  kind: 'HostnameGenerator',
  name,
  spec: { selector: { [service]: { matchLabels } }, template },
});

/** Generators of Kuma, and one of our own (docs/design.md §4, defaults; docs/reference/kuma-rest.md §7.1, docs/reference/kuma-2.14.md §5). */
const ON_GLOBAL: readonly DefaultResource[] = [
  generator(
    'synced-mesh-multi-zone-service',
    'meshMultiZoneService',
    fromGlobal,
    '{{ .DisplayName }}.mzsvc.mesh.local',
  ),
  generator(
    'synced-kube-mesh-service',
    'meshService',
    { ...fromGlobal, [Label.headless]: 'false', ...kubernetes },
    '{{ .DisplayName }}.{{ .Namespace }}.svc.{{ .Zone }}.mesh.local',
  ),
  generator(
    'synced-headless-kube-mesh-service',
    'meshService',
    { ...fromGlobal, [Label.headless]: 'true', ...kubernetes },
    '{{ label "statefulset.kubernetes.io/pod-name" }}.{{ label "k8s.kuma.io/service-name" }}.{{ .Namespace }}.svc.{{ .Zone }}.mesh.local',
  ),
  generator(
    'synced-universal-mesh-service',
    'meshService',
    { ...fromGlobal, 'kuma.io/env': 'universal' },
    '{{ .DisplayName }}.svc.{{ .Zone }}.mesh.local',
  ),
  generator('synced-mesh-external-service', 'meshExternalService', fromGlobal, '{{ .DisplayName }}.extsvc.mesh.local'),
];

const ON_ZONE: readonly DefaultResource[] = [
  generator('local-universal-mesh-service', 'meshService', fromHere, '{{ .DisplayName }}.svc.mesh.local'),
  generator('local-mesh-external-service', 'meshExternalService', fromHere, '{{ .DisplayName }}.extsvc.mesh.local'),
  // Our own generator: clients of App Mesh use a VirtualService's awsName (docs/adr/0023-app-mesh-in-several-zones.md). Each zone has a MeshService
  // for each VirtualService.
  generator(
    'local-virtual-service',
    'meshService',
    { ...fromHere, [Label.generatedFrom]: 'VirtualService' },
    `{{ label "${Label.awsName}" }}`,
  ),
];

const NAMESPACE: DefaultResource = { kind: 'Namespace', name: 'default', spec: {} };

/**
 * Returns the resources to create at the first start: the hostname generators of the role and, on the global and on a
 * non-federated zone, the namespace `default`. Specs lack the schema's defaults. A control loop creates the expected
 * Mesh (docs/design.md §4 mesh).
 */
export function defaultResources(cp: ControlPlane): readonly DefaultResource[] {
  if (cp.role === 'global') return [NAMESPACE, ...ON_GLOBAL];
  return cp.federated ? ON_ZONE : [NAMESPACE, ...ON_ZONE];
}
