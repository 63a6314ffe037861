import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';

/** More than one part of a write (docs/design.md §2.8). */
const COUNT = 1_201;

describe('a definition and many policies of its kind in one batch', () => {
  let database: TestDatabase;
  let plane: ProcessPlane;
  beforeAll(async () => {
    database = await createMigratedDatabase();
    const env = { DATABASE_URL: database.url, CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1' };
    plane = await ProcessPlane.start('global', 'global', env);
    await until('the default mesh is there', () => plane.get('/meshes/default'));
  });
  afterAll(async () => {
    await plane?.stop();
    await database?.drop();
  });

  const definition = (kind: string): object => ({
    type: 'MetaresourceDefinition',
    name: `${kind.toLowerCase()}s.example.com`,
    spec: {
      group: 'example.com',
      kind,
      plural: `${kind.toLowerCase()}s`,
      hierarchy: 'mesh',
      declaredTargets: [{ kind: 'Namespace', semantics: 'paints its services' }],
      effectiveTarget: { level: 'Rule', semantics: 'is painted' },
      schema: { type: 'object', properties: { colour: { type: 'string' } } },
    },
  });
  const policy = (kind: string, n: number): object => ({
    type: kind,
    mesh: 'default',
    name: `p-${n}`,
    spec: { targetRefs: [{ kind: 'Namespace', name: 'default' }], colour: 'red' },
  });

  it.each([
    ['Shade', ''],
    ['Tint', '?atomic=true'],
  ])('is written whole, in whatever parts: %s%s', async (kind, query) => {
    const documents = [definition(kind), ...Array.from({ length: COUNT }, (_, n) => policy(kind, n))];
    const lines = (await plane.text(`/_apply${query}`, documents)).trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      summary: { created: COUNT + 1, refused: 0, written: true },
    });
    const path = `/meshes/default/${kind.toLowerCase()}s?size=1`;
    await until('they are listed', async () => (await plane.get(path))?.['total'] === COUNT);
  });
});
