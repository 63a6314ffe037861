import { findCondition, type Identity, type JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { EAST_AUTHORITY, LEAF_CERTIFICATE, NEXT_EAST_AUTHORITY } from '../../../../test/support/certificates';
import { idOf, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { derivedTrustId } from './plan-trust';
import { createTrustLoop } from './trust-reconciler';

const EAST = 'default.east.mesh.local';
const WEST = 'default.west.mesh.local';
const zone = (name: string): Change => put({ kind: 'Zone', mesh: '', zone: '', namespace: '', name }, {});
const trustId = (of: string, name = 'own'): Identity => idOf('MeshTrust', name, { zone: of });
const bundle = (value: string): JsonObject => ({ caBundles: [{ type: 'Pem', pem: { value } }] });
const trust = (of: string, trustDomain: string, pem = EAST_AUTHORITY, name = 'own'): Change =>
  put(trustId(of, name), { trustDomain, ...bundle(pem) });
const identityOf = (trustDomain: string): Change =>
  put(idOf('MeshIdentity', 'all', { zone: '' }), { spiffeID: { trustDomain }, provider: { type: 'Bundled' } });

describe('the trust that the global derives', () => {
  let harness: LoopHarness;
  let replica: Replica;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    await replica.lead([createTrustLoop()]);
    await replica.settle();
    await apply(zone('east'), zone('west'));
  });
  afterEach(() => harness.stop());

  const apply = async (...changes: Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const derived = async (trustDomain: string): Promise<JsonObject | undefined> => {
    const held = await harness.get(derivedTrustId('default', trustDomain));
    const source = held && (await harness.rows()).find(({ uid }) => uid === held.labels['causeway.io/derived-from']);
    return held && { from: `${source?.id.zone}/${source?.id.name}`, spec: held.spec };
  };
  const from = async (trustDomain: string): Promise<unknown> => (await derived(trustDomain))?.['from'];
  const refused = async (id: Identity): Promise<string | undefined> => {
    const condition = findCondition((await harness.get(id))?.status, 'TrustRefused');
    const { reason, message } = condition ?? {};
    return typeof reason === 'string' && typeof message === 'string' ? `${reason}: ${message}` : undefined;
  };

  it("is one for each zone's domain, says what the zone says, and follows it", async () => {
    await apply(trust('east', EAST), trust('west', WEST, NEXT_EAST_AUTHORITY));
    expect(await derived(EAST)).toEqual({ from: 'east/own', spec: { trustDomain: EAST, ...bundle(EAST_AUTHORITY) } });
    expect(await from(WEST)).toBe('west/own');
    await apply(trust('east', EAST, EAST_AUTHORITY + NEXT_EAST_AUTHORITY));
    expect((await derived(EAST))?.['spec']).toMatchObject(bundle(EAST_AUTHORITY + NEXT_EAST_AUTHORITY));
    expect(await refused(trustId('east'))).toBeUndefined();
    await apply(remove(trustId('east')));
    expect([await from(EAST), await from(WEST)]).toEqual([undefined, 'west/own']);
    const { revision } = harness;
    await replica.lead([createTrustLoop()]);
    await replica.settle();
    expect(harness.revision).toBe(revision);
  });

  it('refuses the domain of another zone, also where that zone has none yet, and accepts it once it is its own', async () => {
    await apply(trust('west', EAST));
    expect(await from(EAST)).toBeUndefined();
    expect(await refused(trustId('west'))).toBe(
      'TrustDomainOfAnother: spec.trustDomain: must be a trust domain of the zone; bound to zone west are default.west.mesh.local; got "default.east.mesh.local"',
    );
    await apply(trust('east', EAST));
    expect(await from(EAST)).toBe('east/own');
    expect(await refused(trustId('west'))).toMatch(/^TrustDomainOfAnother/);
    await apply(trust('west', WEST));
    expect([await from(WEST), await refused(trustId('west'))]).toEqual(['west/own', undefined]);
  });

  it('accepts what a MeshIdentity of the global gives in the zone, as long as it gives it', async () => {
    await apply(trust('east', 'east.corp.example'), trust('west', 'east.corp.example'));
    expect(await from('east.corp.example')).toBeUndefined();
    await apply(identityOf('{{ .Zone }}.corp.example'));
    expect(await from('east.corp.example')).toBe('east/own');
    expect(await refused(trustId('east'))).toBeUndefined();
    expect(await refused(trustId('west'))).toMatch(/^TrustDomainOfAnother/);
    await apply(remove(idOf('MeshIdentity', 'all', { zone: '' })));
    expect(await from('east.corp.example')).toBeUndefined();
    expect(await refused(trustId('east'))).toMatch(/^TrustDomainOfAnother/);
  });

  it('has one winner where a domain is claimed twice; it stays until it goes, then the other one follows', async () => {
    await apply(identityOf('corp.example'), trust('west', 'corp.example'));
    await apply(trust('east', 'corp.example'), trust('east', 'corp.example', EAST_AUTHORITY, 'again'));
    expect(await from('corp.example')).toBe('west/own');
    const taken = 'TrustDomainTaken: trust domain "corp.example" is that of MeshTrust own of zone west';
    expect([await refused(trustId('east')), await refused(trustId('east', 'again'))]).toEqual([taken, taken]);
    await replica.lead([createTrustLoop()]);
    await replica.settle();
    expect(await from('corp.example')).toBe('west/own');
    await apply(remove(trustId('west')));
    expect(await from('corp.example')).toBe('east/own');
    expect(await refused(trustId('east'))).toBeUndefined();
    expect(await refused(trustId('east', 'again'))).toMatch(/of MeshTrust own of zone east$/);
  });

  it("is not made beside the operator's own MeshTrust", async () => {
    await apply(trust('east', EAST));
    await apply(trust('', EAST, NEXT_EAST_AUTHORITY));
    expect(await from(EAST)).toBeUndefined();
    expect(await refused(trustId('east'))).toBe(
      `TrustDomainTaken: trust domain "${EAST}" is that of MeshTrust own of the global`,
    );
    await apply(remove(trustId('')));
    expect([await from(EAST), await refused(trustId('east'))]).toEqual(['east/own', undefined]);
  });

  it('is not derived from what is no certificate of an authority', async () => {
    await apply(trust('east', EAST, LEAF_CERTIFICATE), trust('west', WEST, 'garbage'));
    expect([await from(EAST), await from(WEST)]).toEqual([undefined, undefined]);
    expect(await refused(trustId('east'))).toMatch(
      /^RulesBroken: spec.caBundles\[0\].pem.value: .*is not of a certificate/,
    );
    expect(await refused(trustId('west'))).toMatch(/^RulesBroken: spec.caBundles\[0\].pem.value: must have a PEM/);
    await apply(trust('east', EAST));
    expect([await from(EAST), await refused(trustId('east'))]).toEqual(['east/own', undefined]);
  });

  it('stays while a zone is lost and goes when it is deleted; one that is changed by hand is put right', async () => {
    await apply(trust('east', EAST));
    const id = { kind: 'Zone', mesh: '', zone: '', namespace: '', name: 'east' };
    await apply({ type: 'patch', id, expect: 'any', status: { lost: { since: 1 } } });
    expect(await from(EAST)).toBe('east/own');
    const derivedId = derivedTrustId('default', EAST);
    await apply(remove(derivedId));
    expect(await from(EAST)).toBe('east/own');
    await apply({
      type: 'patch',
      id: derivedId,
      expect: 'any',
      spec: { trustDomain: EAST, ...bundle(NEXT_EAST_AUTHORITY) },
    });
    expect((await derived(EAST))?.['spec']).toMatchObject(bundle(EAST_AUTHORITY));
    await apply(remove(id));
    expect(await from(EAST)).toBeUndefined();
    await apply(zone('east'));
    expect(await from(EAST)).toBe('east/own');
  });

  it('knows meshes apart', async () => {
    const other = idOf('MeshTrust', 'own', { zone: 'west', mesh: 'other' });
    await apply(trust('east', EAST), put(other, { trustDomain: EAST, ...bundle(EAST_AUTHORITY) }));
    expect(await from(EAST)).toBe('east/own');
    expect(await refused(other)).toMatch(/bound to zone west are other.west.mesh.local; got/);
  });

  it('knows zones and meshes with dots apart: a domain is bound to a whole name, not to its last part', async () => {
    await apply(zone('b.c'), zone('c'));
    const dotted = 'default.b.c.mesh.local';
    await apply(trust('c', dotted));
    expect(await from(dotted)).toBeUndefined();
    expect(await refused(trustId('c'))).toMatch(/^TrustDomainOfAnother: .*bound to zone c are default\.c\.mesh\.local/);
    await apply(trust('b.c', dotted));
    expect(await from(dotted)).toBe('b.c/own');
    // The mesh `default.b` of zone c has a domain of the same text, which counts in that mesh only.
    const twin = idOf('MeshTrust', 'own', { zone: 'c', mesh: 'default.b' });
    await apply(put(twin, { trustDomain: dotted, ...bundle(NEXT_EAST_AUTHORITY) }));
    expect(await refused(twin)).toBeUndefined();
    expect((await harness.get(derivedTrustId('default.b', dotted)))?.spec).toMatchObject(bundle(NEXT_EAST_AUTHORITY));
    expect((await derived(dotted))?.['spec']).toMatchObject(bundle(EAST_AUTHORITY));
  });
});
