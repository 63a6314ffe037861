import type { JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { EAST_AUTHORITY, NEXT_EAST_AUTHORITY } from '../../../../test/support/certificates';
import { idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { TrustPublisher } from './trust-publisher';

const mesh = (name: string): Change => put({ kind: 'Mesh', mesh: '', zone: '', namespace: '', name }, {});
const identityId = (name: string, of = 'default', zone = '') => idOf('MeshIdentity', name, { mesh: of, zone });
const identity = (name: string, rest: JsonObject = {}, ...at: string[]): Change =>
  put(identityId(name, ...at), { provider: { type: 'Bundled' }, ...rest });

describe('the trust that a zone publishes', () => {
  let harness: LoopHarness;
  let replica: Replica;
  let certificates: readonly string[];
  beforeEach(async () => {
    certificates = [];
    harness = new LoopHarness();
    replica = harness.replica();
    await lead();
    await apply(mesh('default'), mesh('other'));
  });
  afterEach(() => harness.stop());

  const lead = async (): Promise<void> => {
    await replica.lead([new TrustPublisher({ zone: 'east', certificates: () => certificates })]);
    await replica.settle();
  };
  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const domains = async (): Promise<unknown[]> => {
    const trusts = (await harness.rows()).filter(({ id }) => id.kind === 'MeshTrust');
    return trusts.map(({ id, spec }) => `${id.zone} ${id.mesh} ${JSON.stringify(spec['trustDomain'])}`).sort();
  };

  it('is one MeshTrust a mesh and domain, once there is an authority, and nothing where nothing changes', async () => {
    await apply(
      identity('all'),
      identity('too'),
      identity('own', { spiffeID: { trustDomain: 'e.corp' } }, 'other', 'east'),
    );
    expect(await domains()).toEqual([]);
    certificates = [EAST_AUTHORITY];
    await lead();
    expect(await domains()).toEqual(['east default "default.east.mesh.local"', 'east other "e.corp"']);
    const { revision } = harness;
    await lead();
    expect(harness.revision).toBe(revision);
    await apply(remove(identityId('all')), remove(identityId('own', 'other', 'east')));
    expect(await domains()).toEqual(['east default "default.east.mesh.local"']);
    await apply(remove(identityId('too')));
    expect(await domains()).toEqual([]);
  });

  it('has the certificates of all authorities that are trusted, as a rotation goes on', async () => {
    certificates = [EAST_AUTHORITY];
    await apply(identity('all'));
    certificates = [EAST_AUTHORITY, NEXT_EAST_AUTHORITY];
    await replica.settle();
    const [trust] = (await harness.rows()).filter(({ id }) => id.kind === 'MeshTrust');
    expect(trust?.spec['caBundles']).toEqual(certificates.map((value) => ({ type: 'Pem', pem: { value } })));
    await apply({
      type: 'patch',
      id: trust?.id ?? identityId('x'),
      expect: 'any',
      spec: { trustDomain: 'x', caBundles: [] },
    });
    expect(await domains()).toEqual(['east default "default.east.mesh.local"']);
  });

  it('is of identities that another authority, another zone or a missing mesh serves none, and no hand-written one is touched', async () => {
    certificates = [EAST_AUTHORITY];
    const byHand = put(idOf('MeshTrust', 'mine', { zone: 'east' }), { trustDomain: 'mine', caBundles: [] });
    await apply(
      byHand,
      identity('spire', { provider: { type: 'Spire' } }),
      identity('quiet', { provider: { type: 'Bundled', bundled: { meshTrustCreation: 'Disabled' } } }),
      identity('far', {}, 'default', 'west'),
      identity('lost', {}, 'nowhere'),
    );
    expect(await domains()).toEqual(['east default "mine"']);
  });
});
