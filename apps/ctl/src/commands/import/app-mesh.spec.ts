import { objectAt } from '../../render';
import { parseDocuments, readDocuments } from '../../documents';
import { importAppMesh } from './app-mesh';

const noStdin = (): Promise<string> => Promise.reject(new Error('not read'));

const imported = (text: string, variables: Readonly<Record<string, string>> = {}) =>
  importAppMesh(parseDocuments('f.yaml', text), new Map(Object.entries(variables)));

const said = ({ notes }: ReturnType<typeof imported>) =>
  notes.map(({ outcome, who, field, reason }) => [outcome, who, field, reason].join(' | '));

const values = ({ documents }: ReturnType<typeof imported>) => documents.map(({ value }) => value);

const node = (spec: string, name = 'v1') => `apiVersion: appmesh.k8s.aws/v1beta2
kind: VirtualNode
metadata: {name: ${name}, namespace: shop}
spec: ${spec}
`;

describe('importAppMesh', () => {
  it('reads the colour application: members after their mesh, and the instances that need a Dataplane', async () => {
    const files = await readDocuments(['examples/app-mesh-colors'], noStdin, /\.(yaml|template)$/);
    const result = importAppMesh(files, new Map([['MESH_NAME', 'colors']]));
    expect(values(result).map((value) => `${objectAt(value as never)['kind'] as string}`)).toEqual([
      'Mesh',
      'Namespace',
      'VirtualNode',
      'VirtualNode',
      'VirtualNode',
      'VirtualNode',
      'VirtualRouter',
      'VirtualService',
    ]);
    expect(result.notes.filter(({ outcome }) => outcome === 'refused')).toEqual([]);
    expect(result.instances.map(({ workload, nodes, ports }) => [workload, nodes, ports])).toEqual([
      ['Deployment colors/front', ['VirtualNode colors/front'], [8080]],
      ['Deployment colors/white', ['VirtualNode colors/white'], [8080]],
      ['Deployment colors/blue', ['VirtualNode colors/blue'], [8080]],
      ['Deployment colors/red', ['VirtualNode colors/red'], [8080]],
    ]);
  });

  it('leaves out what something else does here, and says of each field what that is', () => {
    const result = imported(
      node(`
  podSelector: {matchLabels: {app: a}}
  listeners:
  - portMapping: {port: 80, protocol: http}
    timeout: {http: {perRequest: {unit: s, value: 5}}}
  - portMapping: {port: 81, protocol: http}
    healthCheck: {protocol: http}
    tls: {mode: STRICT}
  logging: {accessLog: {file: {path: /dev/stdout}}}
  serviceDiscovery: {dns: {hostname: a.example}}
  meshRef: {name: m, uid: u}
status: {conditions: []}`),
    );
    expect(values(result)[0]).toMatchObject({
      spec: {
        podSelector: { matchLabels: { app: 'a' } },
        listeners: [
          { portMapping: { port: 80, protocol: 'http' }, timeout: { http: { perRequest: { unit: 's', value: 5 } } } },
          { portMapping: { port: 81, protocol: 'http' } },
        ],
      },
    });
    expect(Object.keys(objectAt(values(result)[0] as never, 'spec'))).toEqual(['podSelector', 'listeners']);
    expect(result.notes.map(({ outcome, field }) => `${outcome} ${field}`)).toEqual([
      'changed spec.meshRef',
      'changed spec.serviceDiscovery',
      'changed spec.listeners[1].healthCheck',
      'changed spec.listeners[1].tls',
      'left out spec.logging',
    ]);
  });

  it('keeps what it does not know: the control plane refuses it by name', () => {
    const [value] = values(imported(node('{podSelector: {}, listners: []}')));
    expect(value).toMatchObject({ spec: { podSelector: {}, listners: [] } });
  });

  it('refuses what nothing here stands for, and nodes whose endpoints only a DNS knows', () => {
    const result = imported(`${node('{serviceDiscovery: {dns: {hostname: db.example}}}')}---
apiVersion: appmesh.k8s.aws/v1beta2
kind: VirtualGateway
metadata: {name: in, namespace: shop}
---
apiVersion: appmesh.k8s.aws/v1beta1
kind: VirtualNode
metadata: {name: old, namespace: shop}
---
apiVersion: appmesh.k8s.aws/v1beta2
kind: Sidecar
metadata: {name: s, namespace: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: shop}
`);
    expect(result.documents).toEqual([]);
    expect(said(result)).toEqual([
      'refused | VirtualNode shop/v1 |  | without a podSelector no instances are found; write a MeshExternalService for a host outside the mesh',
      'refused | VirtualGateway shop/in |  | traffic from outside needs a Gateway, which Causeway stores and does not run',
      'refused | VirtualNode shop/old |  | its fields are those of v1beta1; write it as v1beta2',
      'refused | Sidecar shop/s |  | no kind of appmesh.k8s.aws that is known here',
      'skipped | ConfigMap shop/c |  | no part of App Mesh',
    ]);
  });

  it('refuses what is no object, and skips what names no kind, each with its place', () => {
    expect(said(imported('just words\n---\n- a list\n---\nreplicas: 2\n'))).toEqual([
      'refused | f.yaml:1:1 |  | a document must be an object with apiVersion and kind',
      'refused | f.yaml:3:1 |  | a document must be an object with apiVersion and kind',
      'skipped | f.yaml:5:1 |  | a document without kind',
    ]);
  });

  it('writes the backends of groups out, each service once', () => {
    const result = imported(`${node(`
  podSelector: {}
  backends: [{virtualService: {virtualServiceRef: {name: a}}}]
  backendGroups: [{name: all}, {name: gone}]`)}---
apiVersion: appmesh.k8s.aws/v1beta2
kind: BackendGroup
metadata: {name: all, namespace: shop}
spec:
  virtualservices: [{name: a}, {name: b, namespace: other}]
`);
    const ref = (name: string, namespace?: string) => ({
      virtualService: { virtualServiceRef: { ...(namespace !== undefined && { namespace }), name } },
    });
    expect(values(result)).toEqual([
      expect.objectContaining({ spec: { podSelector: {}, backends: [ref('a'), ref('b', 'other')] } }),
    ]);
    expect(said(result)).toEqual([
      'changed | VirtualNode shop/v1 | spec.backendGroups | the services of BackendGroup shop/all are written out as backends',
      'left out | VirtualNode shop/v1 | spec.backendGroups | BackendGroup shop/gone is in none of the files',
    ]);
  });

  it('fills in variables of templates: a number where the text is nothing else; without a value the document is refused', () => {
    const text = node('{podSelector: {matchLabels: {app: "${APP}-1"}}, listeners: [{portMapping: {port: "${PORT}"}}]}');
    expect(values(imported(text, { APP: 'a', PORT: '80' }))).toEqual([
      expect.objectContaining({
        spec: { podSelector: { matchLabels: { app: 'a-1' } }, listeners: [{ portMapping: { port: 80 } }] },
      }),
    ]);
    expect(said(imported(text, { APP: 'a' }))).toEqual([
      'refused | VirtualNode shop/v1 |  | nothing says what ${PORT} is: give --set PORT=VALUE',
    ]);
  });

  it('asks for no variable of a field that it leaves out', () => {
    const found = imported(
      node('{serviceDiscovery: {awsCloudMap: {namespaceName: "${CLOUDMAP}", serviceName: a}}, podSelector: {}}'),
    );
    expect(values(found)).toEqual([expect.objectContaining({ spec: { podSelector: {} } })]);
  });

  it('takes the Lists that kubectl prints, and knows the lines of their items', () => {
    const { documents, notes } = imported(`apiVersion: v1
kind: List
items:
- apiVersion: appmesh.k8s.aws/v1beta2
  kind: VirtualService
  metadata:
    name: a
    namespace: shop
    annotations: {x: y}
  spec: {}
`);
    expect(documents.map(({ lineOf }) => lineOf('metadata.name'))).toEqual([7]);
    expect(notes.map(({ outcome, field }) => [outcome, field])).toEqual([['left out', 'metadata.annotations']]);
  });

  it.each([
    '[]',
    '1',
    'null',
    '{kind: 1, apiVersion: {}}',
    '{apiVersion: appmesh.k8s.aws/v1beta2, kind: VirtualNode, spec: 3}',
  ])('takes %s for no more than it is', (text) => {
    expect(() => imported(text)).not.toThrow();
  });
});
