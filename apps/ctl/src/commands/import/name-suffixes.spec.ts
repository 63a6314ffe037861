import type { JsonObject } from '@causeway/resources';
import { parseDocuments, readDocuments } from '../../documents';
import { importAppMesh } from './app-mesh';
import { lackingSuffixes, suffixAdvice } from './name-suffixes';

const noStdin = (): Promise<string> => Promise.reject(new Error('not read'));
const service = (name: string, awsName?: string): string =>
  `apiVersion: appmesh.k8s.aws/v1beta2
kind: VirtualService
metadata: {name: ${name}, namespace: shop}
spec: {provider: {}${awsName === undefined ? '' : `, awsName: ${awsName}`}}
`;
const lists = (stored: Readonly<Record<string, readonly JsonObject[]>>) => ({
  list: ({ kind }: { readonly kind: string }) =>
    Promise.resolve({ documents: stored[kind] ?? [], revision: 1, resumeToken: '' }),
});

describe('lackingSuffixes', () => {
  it('proposes what the colour application needs, with the command that sets it', async () => {
    const files = await readDocuments(['examples/app-mesh-colors'], noStdin, /\.(yaml|template)$/);
    const { documents } = importAppMesh(files, new Map([['MESH_NAME', 'colors']]));
    const [found, ...others] = await lackingSuffixes(documents);
    expect([found, others]).toEqual([
      { mesh: 'colors', all: ['colors.svc.cluster.local'], lacking: ['colors.svc.cluster.local'] },
      [],
    ]);
    expect(found && suffixAdvice(found)).toBe(
      `to do: names under colors.svc.cluster.local are no hostnames in mesh colors yet; a mesh-operator sets that by --set-suffixes, or by: echo '{"type":"MeshNaming","mesh":"colors","name":"imported","spec":{"suffixes":["colors.svc.cluster.local"]}}' | causeway apply -f -`,
    );
  });

  it('leaves out what the mesh names already, and keeps what an import set before', async () => {
    const api = lists({
      Mesh: [{ name: 'm', spec: { namespaceSelector: { matchLabels: { a: 'b' } } } }],
      Namespace: [{ name: 'shop', labels: { a: 'b' } }],
      MeshNaming: [
        { name: 'mine', mesh: 'm', spec: { suffixes: ['known.example'] } },
        { name: 'imported', mesh: 'm', spec: { suffixes: ['before.example'] } },
      ],
    });
    const { documents } = importAppMesh(
      parseDocuments('f', [service('a', 'a.known.example'), service('b', 'b.new.example'), service('c')].join('---\n')),
    );
    expect(await lackingSuffixes(documents, api)).toEqual([
      { mesh: 'm', all: ['before.example', 'new.example', 'shop'], lacking: ['new.example', 'shop'] },
    ]);
  });

  it.each([
    ['no mesh', []],
    ['two meshes', ['m', 'n'].map((name) => ({ name, spec: { namespaceSelector: {} } }))],
  ])('proposes nothing in a namespace of %s, where the service is refused', async (_, meshes) => {
    const { documents } = importAppMesh(parseDocuments('f', service('a')));
    expect(await lackingSuffixes(documents, lists({ Mesh: meshes }))).toEqual([]);
  });
});
