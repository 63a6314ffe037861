import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { MeshApi } from './mesh-api';

const guide = readFileSync(join(__dirname, '../../docs/guides/meshes.md'), 'utf8');

/** The indented blocks of YAML, without their indentation. */
const blocks = guide
  .split(/\n(?=\S)/)
  .flatMap((part) => part.split('\n\n'))
  .filter((part) => part.startsWith('    type:'))
  .map((part) => part.replace(/^ {4}/gm, ''));

describe('docs/guides/meshes.md', () => {
  it('has examples that are taken as they stand', async () => {
    const api = await MeshApi.open();
    const documents = blocks.flatMap((block) => parseAllDocuments(block).map((document): object => document.toJS()));
    expect(documents.length).toBeGreaterThan(5);
    const answers = [];
    for (const document of documents) answers.push(...(await api.apply([document])).slice(0, 1));
    await api.close();
    const refused = answers.filter(({ outcome }) => !['created', 'updated'].includes(outcome));
    expect([answers.length, refused]).toEqual([documents.length, []]);
  });
});
