import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccessPolicy, localAdmin } from '@causeway/access';
import { Admission } from '@causeway/admission';
import { parseYaml, Unparsable } from '@causeway/yaml';
import { coreKinds } from '@causeway/kinds';
import { FakeClock } from '@causeway/runtime/testing';
import { east, mesh, NamingZone, service } from '../support/naming-zone';
import { meshesOf } from '../support/meshes';

const folder = join(__dirname, '..', '..', 'examples', 'seed-001');
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const files = ['hostname-generator.yaml', 'mesh-service.yaml'];

async function doorOfEast(): Promise<{ zone: NamingZone; admission: Admission }> {
  const zone = await new NamingZone().start(mesh('default'));
  const { store, index } = zone;
  const clock = new FakeClock(1_000);
  return {
    zone,
    admission: new Admission({
      registry: coreKinds,
      store,
      index,
      meshes: meshesOf(index),
      clock,
      controlPlane: east,
      access: new AccessPolicy({ registry: coreKinds, index, cp: east }),
    }),
  };
}

describe("the seed's own examples, applied in east", () => {
  test.each([[files], [[...files].reverse()]])(
    'T001-14, T001-16: %j give redis.demo-app its hostname',
    async (order) => {
      const { zone, admission } = await doorOfEast();
      for (const file of order) {
        for (const { value } of parseYaml(read(file)))
          await admission.put({ body: value, context: { caller: localAdmin } });
        zone.follow();
        await zone.settle();
      }
      const redis = service('redis.demo-app', { namespace: 'demo-app' });
      expect(await zone.addresses(redis)).toEqual([
        {
          hostname: 'redis.demo-app.svc.mesh.east',
          status: 'Available',
          origin: { kind: 'HostnameGenerator', name: 'k8s-zone-hostnames' },
        },
      ]);
    },
  );

  test('T001-11: a MeshService has no place for a hostname', async () => {
    const { admission } = await doorOfEast();
    const body = { type: 'MeshService', mesh: 'default', name: 'a', spec: { hostnames: ['b.mesh'] } };
    await expect(admission.put({ body, context: { caller: localAdmin } })).rejects.toThrow(/spec\.hostnames/);
  });

  test('the template as the seed writes it, without quotes, is refused with line, column and how to write it', () => {
    const unquoted = read('hostname-generator.yaml').replace(/template: '(.*)'/, 'template: $1');
    const line = unquoted.split('\n').findIndex((text) => text.includes('template: {{')) + 1;
    const attempt = (): unknown => parseYaml(unquoted);
    expect(attempt).toThrow(Unparsable);
    expect(attempt).toThrow(/must be in quotes/);
    expect(attempt).toThrow(`line ${line}, column 13: `);
  });
});
