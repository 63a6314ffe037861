import { adminFetch } from '../support/admin-credential';
import { ProcessMesh } from '../support/process-mesh';
import { StatementCounters } from '../support/statement-counter';
import { until } from '../support/until';

const PLANES = ['global', 'east', 'west'] as const;
const SERVICES = 10;
/** Statements that are due meanwhile, such as the report of a zone. */
const OTHER = 3;

describe('a service of a user that comes after others', () => {
  const mesh = new ProcessMesh();
  const counters = new StatementCounters();
  afterAll(async () => {
    await mesh.stop();
    await counters.close();
  });

  it('is one write of each control plane on its way (docs/adr/0040-one-write-a-creation.md)', async () => {
    await mesh.startGlobal(await counters.countedDatabase(mesh, 'global'));
    const east = await mesh.startZone('east', await counters.countedDatabase(mesh, 'east'));
    const west = await mesh.startZone('west', await counters.countedDatabase(mesh, 'west'));
    const create = async (name: string): Promise<void> => {
      const path = `/meshes/default/meshservices/${name}`;
      const spec = { selector: { dataplaneTags: { 'kuma.io/service': 'new' } }, ports: [{ port: 80 }] };
      expect(await east.put(path, { type: 'MeshService', mesh: 'default', name, spec })).toBe(201);
      await until(`${name} is in west`, async () => {
        const answer = await adminFetch(`${west.restUrl}/meshes/default/meshservices?size=1000`);
        return (await answer.text()).includes(`"kuma.io/display-name":"${name}"`);
      });
    };
    await create('first');
    await until('nothing is written any more', async () => {
      counters.reset();
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return [...counters.values()].every(({ sent }) => !sent.some((text) => text.includes('causeway_write')));
    });
    counters.reset();
    for (let n = 0; n < SERVICES; n++) await create(`service-${n}`);
    for (const plane of PLANES) {
      const sent = counters.get(plane)?.sent ?? [];
      const count = (part: string): number => sent.filter((text) => text.includes(part)).length;
      // Two writes of one service would be 20, and none reads what it wrote: each follows its own writes by their answers.
      expect([plane, count('causeway_write') - SERVICES <= OTHER, count('FROM resources') <= OTHER]).toEqual([
        plane,
        true,
        true,
      ]);
    }
  });
});
