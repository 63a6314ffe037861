import { coreKinds } from '@causeway/kinds';
import type { Identity } from '@causeway/resources';
import { meshId, restFixture, type ParsedJson, type RestFixture } from './rest-fixture';

const ZONES = ['', 'east', 'west'];

/** One resource of every kind from every place, all of one name, which is Kuma's hardest case. */
const identities: readonly Identity[] = coreKinds.kinds.flatMap((kind) =>
  (kind.sync.zoneInIdentity ? ZONES : ['']).map((zone) => ({
    kind: kind.name,
    mesh: kind.scope === 'mesh' ? 'default' : '',
    zone,
    name: 'twin',
    namespace: kind.namespaced ? 'default' : '',
  })),
);

describe('what a list shows can be read by its name (peers 41)', () => {
  let fixture: RestFixture;

  beforeAll(async () => {
    fixture = await restFixture({ cp: { role: 'global' } });
    await fixture.seed({ id: meshId('default') }, ...identities.map((id) => ({ id })));
  });
  afterAll(() => fixture.close());

  const read = async (url: string): Promise<ParsedJson> => {
    const answer = await fixture.server.inject({ url });
    expect([url, answer.statusCode]).toEqual([url, 200]);
    return answer.json();
  };

  it.each(
    coreKinds.kinds.map(({ name, plural, scope }) => [name, `${scope === 'mesh' ? '/meshes/default' : ''}/${plural}`]),
  )('%s', async (kind, path) => {
    const { items } = await read(path);
    const twins = items.filter(({ name }: { name: string }) => name === 'twin');
    expect(twins).toHaveLength(identities.filter((id) => id.kind === kind).length);
    for (const { kri, uid, labels } of twins) {
      const place = twins.length === 1 ? '' : `?zone=${labels?.['kuma.io/zone'] ?? ''}`;
      expect((await read(`${path}/twin${place}`)).uid).toBe(uid);
      expect((await read(`/_kri/${kri}`)).uid).toBe(uid);
    }
  });
});
