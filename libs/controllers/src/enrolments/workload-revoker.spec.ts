import { findEnrolment, putEnrolment } from '@causeway/identity';
import { WorkloadRevocation, type EnrolmentSpec } from '@causeway/kinds';
import { globalIdentity, type ControlPlane } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestPlane } from '../../../../test/support/test-plane';
import { WorkloadRevoker, type IssuedTokenFacts } from './workload-revoker';

const EAST = { role: 'zone', zone: 'east', federated: true } as const;
const DAY = 24 * 3_600_000;
const NOW = 1_000_000_000;

describe('the end of what a machine was granted', () => {
  let plane: TestPlane;
  let issued: IssuedTokenFacts[];
  let revoked: string[];

  beforeEach(async () => {
    plane = new TestPlane(EAST);
    revoked = [];
    issued = [
      { id: 'stolen', facts: { mesh: 'default', name: 'laptop' }, revoked: false },
      { id: 'spare', facts: { mesh: 'default', namespace: 'default', name: 'laptop' }, revoked: false },
      { id: 'foreign', facts: { mesh: 'default', namespace: 'shop', name: 'laptop' }, revoked: false },
    ];
    await plane.put('Dataplane', 'laptop', { networking: { address: '10.0.0.1' } });
    for (const [name, token] of [
      ['laptop', 'stolen'],
      ['twin', 'stolen'],
      ['other', 'own'],
    ] as const) {
      const spec: EnrolmentSpec = { by: 'token', services: ['web'], tokens: [token], issuedAt: NOW };
      await plane.write([putEnrolment(plane.id('Dataplane', name), spec, { cp: EAST, expect: 'absent' })]);
    }
  });
  afterEach(() => plane.close());

  const revoker = (isConnected?: boolean, cp: ControlPlane = EAST): WorkloadRevoker =>
    new WorkloadRevoker({
      cp,
      zone: 'east',
      index: plane.index,
      store: plane.store,
      validity: DAY,
      logger: silentLogger,
      clock: new FakeClock(NOW),
      isConnected: () => isConnected,
      tokens: {
        list: () => Promise.resolve(issued),
        revoke: (id) => Promise.resolve(revoked.push(id)),
      },
    });
  const laptop = () => plane.id('Dataplane', 'laptop');

  it('takes its tokens, its Dataplane and its enrolment, and says for all zones that its certificates have ended', async () => {
    const uid = findEnrolment(plane.index, laptop())?.uid;
    const plan = await revoker(true).revoke(laptop(), 'anna');
    expect(plan).toMatchObject({ tokens: ['stolen', 'spare'], services: ['web'] });
    expect(plan.newBundles.map(({ name }) => name)).toEqual(['twin']);
    expect(revoked).toEqual(['stolen', 'spare']);
    expect([plane.index.get(laptop()), findEnrolment(plane.index, laptop())]).toEqual([undefined, undefined]);
    expect(findEnrolment(plane.index, plane.id('Dataplane', 'twin'))).toBeDefined();
    const ended = plane.index.get({ ...laptop(), kind: WorkloadRevocation.name });
    expect(ended?.spec).toMatchObject({ revokedAt: NOW, ended: [{ enrolment: uid }] });
    await expect(revoker(true).revoke(laptop(), 'anna')).rejects.toThrow(/is not enrolled in this zone/);
  });

  it('changes nothing where it is only planned', async () => {
    const { revision } = await plane.store.head();
    await revoker(true).plan(laptop());
    expect([(await plane.store.head()).revision, revoked]).toEqual([revision, []]);
  });

  it.each([
    ['informed', true],
    ['cut off', false],
    ['unknown', undefined],
  ] as const)('says of other zones that they are %s', async (otherZones, isConnected) => {
    expect(await revoker(isConnected).plan(laptop())).toMatchObject({
      otherZones,
      disconnectedZones: [],
      kumaZones: [],
    });
  });

  it('says nothing of others in a zone by itself, and names those without a session, and those of Kuma', async () => {
    expect((await revoker(undefined, { ...EAST, federated: false }).plan(laptop())).otherZones).toBe('none');
    const since = '2026-01-01T00:00:00.000Z';
    const lost = { lost: { policy: 'keep', since } };
    for (const [name, status] of [
      ['west', { disconnectedSince: since, peer: 'causeway' }],
      ['south', { peer: 'causeway' }],
      ['east', lost],
      ['north', lost],
      ['kuma-1', { peer: 'kuma' }],
    ] as const)
      await plane.write([
        { type: 'put', id: globalIdentity('Zone', name), expect: 'any', labels: {}, spec: {}, status },
      ]);
    const { disconnectedZones, kumaZones } = await revoker(true).plan(laptop());
    expect([disconnectedZones, kumaZones]).toEqual([['north', 'west'], ['kuma-1']]);
  });
});
