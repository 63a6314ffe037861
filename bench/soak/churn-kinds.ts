import type { Owner } from './soak-mesh';

/** Things of one kind that users of one control plane make, change and delete. */
export interface ChurnKind {
  readonly owner: Owner;
  /** The REST path, without the name. */
  readonly path: string;
  /** Weight of such a change in the draw. */
  readonly weight: number;
  /** Names that are used again and again. */
  readonly names: number;
  /** The document of a name; `version` counts its changes. */
  body(name: string, version: number): Readonly<Record<string, unknown>>;
}

/** Services are selected by this label, with a value of so many. */
const GROUPS = 8;
const group = (version: number): string => `g${version % GROUPS}`;
/** Instances of one generated service. */
const INSTANCES = 3;

const MESH = '/meshes/default';

/** The mix of a soak: for each 100 changes about 84 in the zones and 16 by the operator on the global. */
export const CHURN_KINDS: readonly ChurnKind[] = [
  ...(['east', 'west'] as const).flatMap(ofZone),
  {
    owner: 'global',
    path: '/hostnamegenerators',
    weight: 1,
    names: 6,
    body: (name, version) => ({
      type: 'HostnameGenerator',
      name,
      spec: {
        selector: { meshService: { matchLabels: { soak: group(version) } } },
        template: `{{ name }}-{{ label "kuma.io/zone" }}.${name}.mesh`,
      },
    }),
  },
  {
    owner: 'global',
    path: `${MESH}/meshmultizoneservices`,
    weight: 5,
    names: 30,
    body: (name, version) =>
      meshed('MeshMultiZoneService', name, {
        selector: { meshService: { matchLabels: { soak: group(version) } } },
        ports: [{ port: 1_000 + version, appProtocol: 'http' }],
      }),
  },
  {
    owner: 'global',
    path: `${MESH}/meshexternalservices`,
    weight: 3,
    names: 20,
    body: (name, version) =>
      meshed('MeshExternalService', name, {
        match: { port: 443, protocol: 'tcp' },
        endpoints: [{ address: `${name}.example.com`, port: 1_000 + version }],
      }),
  },
  {
    owner: 'global',
    path: `${MESH}/timeoutpolicies`,
    weight: 7,
    names: 30,
    body: (name, version) =>
      meshed('TimeoutPolicy', name, {
        targetRefs: [{ kind: 'Mesh', name: 'default' }],
        request: `${1 + (version % 50)}s`,
      }),
  },
];

function ofZone(owner: 'east' | 'west'): ChurnKind[] {
  return [
    {
      owner,
      path: `${MESH}/dataplanes`,
      weight: 16,
      names: 150,
      body: (name, version) => {
        const service = `soak-${owner}-${Number(/\d+$/.exec(name)?.[0] ?? 0) % (150 / INSTANCES)}`;
        const tags = { 'kuma.io/service': service, 'kuma.io/protocol': 'http' };
        const inbound = [{ port: 8_080, tags, state: version % 4 === 3 ? 'NotReady' : 'Ready' }];
        return meshed('Dataplane', name, { networking: { address: `10.0.${version % 250}.1`, inbound } });
      },
    },
    {
      owner,
      path: `${MESH}/meshservices`,
      weight: 16,
      names: 200,
      body: (name, version) => ({
        ...meshed('MeshService', name, {
          selector: { dataplaneTags: { 'kuma.io/service': name } },
          ports: [{ port: 1_000 + (version % 60_000), appProtocol: 'http' }],
        }),
        labels: { soak: group(version) },
      }),
    },
    ...trafficOf(owner),
  ];
}

/** Routes and policies of a zone. */
function trafficOf(owner: 'east' | 'west'): ChurnKind[] {
  return [
    {
      owner,
      path: `${MESH}/httproutes`,
      weight: 6,
      names: 40,
      body: (name, version) =>
        meshed('HTTPRoute', name, {
          parentRefs: [{ kind: 'Service', name: `fill-${owner}-${version % 50}` }],
          rules: [{ backendRefs: [{ kind: 'Service', name: `fill-${owner}-${(version + 1) % 50}` }] }],
        }),
    },
    {
      owner,
      path: `${MESH}/retrypolicies`,
      weight: 4,
      names: 20,
      body: (name, version) =>
        meshed('RetryPolicy', name, {
          targetRefs: [{ kind: 'MeshService', name: `fill-${owner}-${version % 50}` }],
          attempts: 1 + (version % 5),
        }),
    },
  ];
}

function meshed(type: string, name: string, spec: unknown): Readonly<Record<string, unknown>> {
  return { type, mesh: 'default', name, spec };
}
