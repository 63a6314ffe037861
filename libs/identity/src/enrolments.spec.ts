import { Dataplane, EnrolmentEpoch, WorkloadRevocation } from '@causeway/kinds';
import type { Identity, JsonObject } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestPlane } from '../../../test/support/test-plane';
import { Enrolments, type JoiningCredential } from './enrolments';
import { enrolmentEpochId } from './stored-enrolments';
import type { WorkloadBinding } from './workload-binding';

const EAST = { role: 'zone', zone: 'east', federated: true } as const;
const DAY = 24 * 3_600_000;
const NOW = 1_000_000_000;

describe('enrolments', () => {
  const clock = new FakeClock(NOW);
  let plane: TestPlane;
  let enrolments: Enrolments;
  let takesKuma = false;
  let issued = 0;
  /** Statements of `enrolments`. */
  let writes = 0;

  beforeEach(async () => {
    takesKuma = false;
    plane = new TestPlane(EAST);
    const { store, index } = plane;
    const takesKumaTokens = (): boolean => takesKuma;
    writes = 0;
    const counting: Pick<typeof store, 'write'> = {
      write: (request) => {
        writes += 1;
        return store.write(request);
      },
    };
    const options = { cp: EAST, store: counting, index, clock, logger: silentLogger, takesKumaTokens, validity: DAY };
    enrolments = new Enrolments(options);
    await epoch({ since: NOW });
  });
  afterEach(async () => {
    enrolments.close();
    await plane.close();
  });

  const epoch = (spec: JsonObject): Promise<unknown> =>
    plane.write([{ type: 'put', id: enrolmentEpochId('east'), expect: 'any', labels: {}, spec }]);
  const dataplaneId = (name: string): Identity => ({
    kind: Dataplane.name,
    mesh: 'default',
    zone: 'east',
    namespace: 'default',
    name,
  });
  const token = (binding: WorkloadBinding, issuedAt = NOW + issued): JoiningCredential => {
    issued += 1;
    return { id: `t-${issued}`, issuedAt, binding: { mesh: 'default', ...binding } };
  };
  const stored = (name: string, service: string): Promise<unknown> =>
    plane.put('Dataplane', name, {
      networking: { address: '127.0.0.1', inbound: [{ port: 1, tags: { 'kuma.io/service': service } }] },
    });
  const upgraded = (name: string): Promise<unknown> =>
    plane.write([
      {
        type: 'put',
        id: { ...dataplaneId(name), kind: 'Enrolment' },
        expect: 'absent',
        labels: {},
        spec: { by: 'upgrade', services: ['web'], tokens: [], issuedAt: NOW },
      },
    ]);

  it.each<[string, WorkloadBinding, 'enrolled' | 'upgraded' | 'of a user' | 'new', boolean]>([
    ['of a mesh', {}, 'upgraded', true],
    ['of a mesh', {}, 'enrolled', false],
    ['of a mesh', {}, 'of a user', false],
    ['of a mesh', {}, 'new', false],
    ['that names it', { name: 'a' }, 'upgraded', true],
    ['that names it', { name: 'a' }, 'enrolled', true],
    ['that names it', { name: 'a' }, 'of a user', true],
    ['that names it', { name: 'a' }, 'new', false],
  ])("a token in Kuma's form %s (%j) and a Dataplane that is %s", async (_, binding, what, isGood) => {
    if (what === 'enrolled') await enrolments.join(dataplaneId('a'), token({ name: 'a', services: ['web'] }), false);
    if (what === 'upgraded') await upgraded('a');
    if (what === 'of a user') await stored('a', 'web');
    const joined = enrolments.join(dataplaneId('a'), token(binding), what === 'of a user');
    if (isGood) expect((await joined)?.spec.by).toBeDefined();
    else await expect(joined).rejects.toThrow(/says nothing of services/);
    takesKuma = true;
    expect(await enrolments.join(dataplaneId('a'), token(binding), false)).toBeDefined();
  });

  describe('of a group of machines', () => {
    const names = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `vm-${i}`);
    /** Joins machines at once; returns how many of them are enrolled, and the refusals. */
    async function joinAll(group: JoiningCredential, machines: readonly string[], at = enrolments) {
      const joins = machines.map((name) => at.join(dataplaneId(name), group, false));
      const results = await Promise.allSettled(joins);
      const refused = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
      const enrolled = results.filter(({ status }) => status === 'fulfilled').length;
      return { enrolled, refused };
    }

    it.each([20, 200])('%i machines that join at once share a write', async (count) => {
      const group = token({ workload: 'web', services: ['web'], machines: 1_000 });
      const { enrolled } = await joinAll(group, names(count));
      expect({ enrolled, writes }).toEqual({ enrolled: count, writes: 1 });
      expect(enrolments.counts.get('token')).toBe(count);
    });

    it('has as many machines as its token allows, and each name once, also at several replicas at once', async () => {
      const group = token({ workload: 'web', services: ['web'], machines: 10 });
      const { store, index } = plane;
      const options = { cp: EAST, store, index, clock, logger: silentLogger, validity: DAY };
      const other = new Enrolments({ ...options, takesKumaTokens: () => false });
      const all = await Promise.all([joinAll(group, names(8)), joinAll(group, names(16).slice(4), other)]);
      other.close();
      const listed = [...index.ofKind('Enrolment')].map(({ id }) => id.name);
      expect([listed.length, new Set(listed).size]).toEqual([10, 10]);
      expect(all.flatMap(({ refused }) => refused)).toContainEqual(
        expect.stringContaining('10 machines of this group'),
      );
    });

    it('refuses a machine without the others of its write', async () => {
      const group = token({ workload: 'web', services: ['web'], machines: 1_000 });
      const revokedAt = NOW + 10_000_000;
      const id = { ...dataplaneId('vm-1'), kind: WorkloadRevocation.name };
      await plane.write([{ type: 'put', id, expect: 'absent', labels: {}, spec: { revokedAt, ended: [] } }]);
      const { enrolled, refused } = await joinAll(group, names(3));
      expect([enrolled, refused]).toEqual([2, [expect.stringContaining('was revoked')]]);
    });
  });

  it('follow the newest token, whatever an older one grants', async () => {
    const [older, newer] = [token({ name: 'a', services: ['old'] }), token({ name: 'a', services: ['web'] })];
    const first = await enrolments.join(dataplaneId('a'), newer, false);
    expect((await enrolments.join(dataplaneId('a'), older, false))?.spec.services).toEqual(['web']);
    const again = await enrolments.join(dataplaneId('a'), token({ name: 'a', services: ['web', 'admin'] }), false);
    expect([again?.uid, again?.spec.services]).toEqual([first?.uid, ['web', 'admin']]);
  });

  it('of a certificate: its own, and none of another Dataplane', async () => {
    const a = await enrolments.join(dataplaneId('a'), token({ name: 'a', services: [] }), false);
    await enrolments.join(dataplaneId('b'), token({ name: 'b', services: [] }), false);
    expect((await enrolments.authoriseCertificate(dataplaneId('a'), a?.uid))?.uid).toBe(a?.uid);
    await expect(enrolments.authoriseCertificate(dataplaneId('b'), a?.uid)).rejects.toThrow(/to no current enrolment/);
    await expect(enrolments.authoriseCertificate(dataplaneId('c'), a?.uid)).rejects.toThrow(/to no current enrolment/);
    await expect(enrolments.authoriseCertificate(dataplaneId('a'), undefined)).rejects.toThrow(
      /to no current enrolment/,
    );
    await upgraded('old');
    expect((await enrolments.authoriseCertificate(dataplaneId('old'), undefined))?.spec.by).toBe('upgrade');
  });

  it('that a restored store lacks come back for one life of a certificate, each once, with what is stored, and not when revoked', async () => {
    await stored('a', 'web');
    await expect(enrolments.authoriseCertificate(dataplaneId('a'), 'gone')).rejects.toThrow(/to no current enrolment/);
    await epoch({ since: NOW, incarnation: 'two', restoredAt: clock.now() });
    const back = await enrolments.authoriseCertificate(dataplaneId('a'), 'gone');
    expect(back?.spec).toMatchObject({ by: 'import', services: ['web'], formerly: 'gone', confirmBefore: NOW + DAY });
    expect((await enrolments.authoriseCertificate(dataplaneId('a'), 'gone'))?.uid).toBe(back?.uid);
    // The same certificate under another name.
    await stored('b', 'bank');
    await expect(enrolments.authoriseCertificate(dataplaneId('b'), 'gone')).rejects.toThrow(/to no current enrolment/);
    const spec = { revokedAt: NOW, ended: [{ enrolment: 'stolen', until: NOW + DAY }] };
    const id = { ...dataplaneId('b'), kind: WorkloadRevocation.name };
    await plane.write([{ type: 'put', id, expect: 'absent', labels: {}, spec }]);
    await expect(enrolments.authoriseCertificate(dataplaneId('b'), 'stolen')).rejects.toThrow(
      /to no current enrolment/,
    );
    await stored('c', 'late');
    clock.advance(DAY);
    await expect(enrolments.authoriseCertificate(dataplaneId('c'), 'later')).rejects.toThrow(/to no current enrolment/);
    clock.advance(-DAY);
  });

  it('are made anew by a token of the second in which the last one was revoked, and by none of before', async () => {
    const revokedAt = NOW + 700;
    const id = { ...dataplaneId('a'), kind: WorkloadRevocation.name };
    const spec = { revokedAt, ended: [{ enrolment: 'stolen', until: NOW + DAY }] };
    await plane.write([{ type: 'put', id, expect: 'absent', labels: {}, spec }]);
    const binding = { name: 'a', services: ['web'] };
    await expect(enrolments.join(dataplaneId('a'), token(binding, NOW - 1_000), false)).rejects.toThrow(/was revoked/);
    expect((await enrolments.join(dataplaneId('a'), token(binding, NOW), false))?.spec.services).toEqual(['web']);
  });

  it('are not gone by while older replicas may be there', async () => {
    await plane.write([{ type: 'delete', id: enrolmentEpochId('east'), expect: 'any' }]);
    expect(plane.index.get(enrolmentEpochId('east'))?.id.kind).not.toBe(EnrolmentEpoch.name);
    expect(await enrolments.join(dataplaneId('a'), token({}), false)).toBeUndefined();
    expect(await enrolments.authoriseCertificate(dataplaneId('a'), undefined)).toBeUndefined();
  });
});
