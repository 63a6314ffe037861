import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { MeshApi } from './mesh-api';

const read = (name: string): string => readFileSync(join(__dirname, '../..', name), 'utf8');

/** The indented blocks of YAML, without their indentation. */
const blocksOf = (guide: string): readonly string[] =>
  guide
    .split(/\n(?=\S)/)
    .flatMap((part) => part.split('\n\n'))
    .filter((part) => /^ {4}(type|apiVersion):/.test(part))
    .map((part) => part.replace(/^ {4}/gm, ''));

describe.each(['docs/guides/meshes.md', 'docs/guides/routes.md'])('%s', (name) => {
  it('has examples that are taken as they stand', async () => {
    const api = await MeshApi.open();
    const documents = blocksOf(read(name)).flatMap((block) =>
      parseAllDocuments(block).map((document): object => document.toJS()),
    );
    expect(documents.length).toBeGreaterThan(4);
    const answers = [];
    for (const document of documents) answers.push(...(await api.apply([document])).slice(0, 1));
    await api.close();
    const refused = answers.filter(({ outcome }) => !['created', 'updated'].includes(outcome));
    expect([answers.length, refused]).toEqual([documents.length, []]);
  });
});
