import { globalIdentity } from '@causeway/resources';
import { zoneResources } from '../support/zone-resources';
import { accessFacts } from '../../apps/zone/src/access-facts';
import { Bakery } from './policies-fixture';
import type { CallerParts, ParsedJson } from './rest-fixture';

/** The traffic of zone east from the server's sources; no proxy is connected, so all count as Envoys. */
function callers({ index, meshes, policies }: CallerParts) {
  const access = {
    meshes,
    isReady: () => true,
    takesTls: () => true,
    onReady: () => () => undefined,
    onTls: () => () => undefined,
  };
  const resources = zoneResources({ index, access }, 'east', { policies });
  return { facts: accessFacts({ resources }, { ofOwner: () => undefined }), close: resources.follow() };
}

describe('what an explanation says of AccessPolicies', () => {
  let bakery: Bakery;
  beforeEach(async () => {
    bakery = await Bakery.open({ callers });
    const identity = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled', bundled: {} } };
    const at = { mesh: 'default', zone: 'east', namespace: 'other' };
    await bakery.rest.seed(
      { id: { kind: 'MeshIdentity', mesh: 'default', zone: '', namespace: '', name: 'identity' }, spec: identity },
      { id: { kind: 'Dataplane', ...at, name: 'guest' }, spec: { networking: { address: '10.0.0.9' } } },
      {
        id: globalIdentity('Mesh', 'default'),
        labels: { 'kuma.io/origin': 'global' },
        spec: { parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name: 'p' } },
      },
      { id: globalIdentity('MeshParameters', 'p'), spec: { defaultAccess: 'Deny' } },
    );
  });
  afterEach(() => bakery.close());

  const OVEN = { on: { kind: 'MeshService', name: 'oven' } };
  const id = (name: string): string => `spiffe://default.east.mesh.local/workload/${name}`;

  async function ask(from: object, to = 'http://oven/'): Promise<readonly ParsedJson[]> {
    const body = { from, to, service: { namespace: 'baker', name: 'oven' } };
    const [status, said] = await bakery.post('_explain', body);
    expect(status).toBe(200);
    return said.access;
  }
  const guest = { namespace: 'other', dataplane: 'guest' };
  const baker = { namespace: 'baker', dataplane: 'baker' };

  it('without a policy the default of the mesh decides, whoever calls', async () => {
    const backend = { service: { kind: 'MeshService', zone: 'east', namespace: 'baker', name: 'oven' }, port: 80 };
    const message = 'no rule of an AccessPolicy fits, and defaultAccess of the mesh is Deny';
    const said = { backend, verdict: 'refused', by: 'defaultAccess', policies: [], message };
    expect(await ask({ namespace: 'other' })).toEqual([said]);
    expect(await ask({ gateway: 'door' })).toEqual([said]);
    expect(await ask(baker)).toEqual([{ ...said, caller: id('baker') }]);
  });

  it('names the rule that decides, and the policy of which it is, where several are one', async () => {
    await bakery.policy('AccessPolicy', 'kitchen', { allow: { bakers: { from: [{ namespace: 'baker' }] } } }, OVEN);
    await bakery.policy('AccessPolicy', 'house', {
      strategy: 'patch',
      deny: { guests: { from: [{ spiffeId: { type: 'Exact', value: id('guest') } }] } },
    });
    expect(await ask(baker)).toMatchObject([
      { verdict: 'allowed', by: 'allow/bakers', policies: ['baker/kitchen'], caller: id('baker') },
    ]);
    await bakery.policy(
      'AccessPolicy',
      'kitchen',
      { strategy: 'patch', allow: { bakers: { from: [{ namespace: 'baker' }] } } },
      OVEN,
    );
    const message = 'rule deny/guests of baker/house';
    expect(await ask(guest)).toMatchObject([
      { verdict: 'refused', by: 'deny/guests', policies: ['baker/house'], caller: id('guest'), message },
    ]);
    expect(await ask({ spiffeId: 'spiffe://elsewhere/x' })).toMatchObject([
      {
        verdict: 'refused',
        by: 'allow',
        policies: ['baker/kitchen'],
        message: 'no "allow" rule of baker/kitchen fits the call',
      },
    ]);
    expect(await ask(baker)).toMatchObject([{ verdict: 'allowed', by: 'allow/bakers' }]);
  });

  it('who calls must be said where it matters, and is told how', async () => {
    await bakery.policy('AccessPolicy', 'kitchen', { allow: { bakers: { from: [{ namespace: 'baker' }] } } }, OVEN);
    const [open] = await ask({ namespace: 'baker' });
    expect(open).toMatchObject({ verdict: 'unknown', policies: [] });
    expect(open.message).toContain('from.dataplane');
    expect((await ask({ gateway: 'door' }))[0]).toMatchObject({ verdict: 'unknown' });
    const from = { namespace: 'baker', dataplane: 'baker', spiffeId: id('baker') };
    const [status] = await bakery.post('_explain', { from, to: 'http://oven/' });
    expect(status).toBe(422);
  });

  it('a proxy that is told of bytes allows no rule that names requests', async () => {
    await bakery.policy('AccessPolicy', 'kitchen', { allow: { reads: { to: [{ methods: ['GET'] }] } } }, OVEN);
    const [said] = await ask(baker);
    expect(said).toMatchObject({ verdict: 'refused', by: 'allow', policies: ['baker/kitchen'] });
    expect(said.message).toContain('its proxy sees connections, not requests');
  });

  it("a service of another zone is that zone's to say", async () => {
    await bakery.rest.seed({
      id: { kind: 'MeshService', mesh: 'default', zone: 'west', namespace: 'baker', name: 'far' },
      spec: { ports: [{ port: 80 }], state: 'Available' },
    });
    const far = await bakery.post('_explain', {
      from: baker,
      to: 'http://x/',
      service: { namespace: 'baker', name: 'far' },
    });
    expect(far[1].access).toMatchObject([
      { verdict: 'unknown', message: expect.stringContaining('zone west decides') },
    ]);
  });
});
