import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../lib/failure.mjs';

/** The mesh that the control planes expect, in which the sample lies. */
export const MESH = process.env.CAUSEWAY_MESH_NAME || 'default';

/** The documents of `examples/quickstart/<plane>.yaml`. */
export async function readSample(root, plane) {
  const { parseAllDocuments } = await import('yaml'); // installed by now
  const file = join(root, 'examples', 'quickstart', `${plane.name}.yaml`);
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS());
}

/** The services that Dataplanes of the sample register: `{ name, zone }`. */
export function servicesOf(documents, zone) {
  const inbounds = documents.flatMap(({ spec }) => spec.networking?.inbound ?? []);
  const names = new Set(inbounds.map(({ tags }) => tags?.['kuma.io/service']).filter(Boolean));
  return [...names].map((name) => ({ name, zone }));
}

/** PUTs documents on a control plane, in their order, once it knows their Mesh: a refused PUT would stand in its audit log. */
export async function applySample(api, documents) {
  const { resources } = await api.get('/_resources');
  const kinds = new Map(resources.map((kind) => [kind.name, kind]));
  for (const document of documents) {
    const kind = kinds.get(document.type);
    if (!kind) throw new Failure(`the sample has a ${document.type}, which ${api.name} does not know`);
    const mesh = kind.scope.toLowerCase() === 'mesh' ? `/meshes/${document.mesh ?? MESH}` : '';
    if (mesh !== '') await api.until(mesh);
    await api.put(`${mesh}/${kind.path}/${document.name}`, document);
  }
}
