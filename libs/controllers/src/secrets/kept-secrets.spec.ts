import { findCondition, type Identity, type JsonObject, type Labels } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import type { Change } from '@causeway/store';
import { EAST_AUTHORITY } from '../../../../test/support/certificates';
import { EAST, LoopHarness, put, remove, type Replica } from '../../../../test/support/loop-harness';
import { TestAuthority } from '../../../../test/support/test-authority';
import { createExternalTrustLoop } from './external-trust-reconciler';
import { createKeptSecretsLoop } from './kept-secrets-loop';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const inMesh = (kind: string, name: string, zone: string): Identity => ({
  kind,
  mesh: 'default',
  zone,
  namespace: '',
  name,
});
const own: Labels = { 'kuma.io/origin': 'zone', 'kuma.io/zone': 'east' };
const secret = (name: string, text: string, zone = 'east', more: JsonObject = {}): Change =>
  put(
    inMesh('Secret', name, zone),
    { data: base64(text), ...more },
    zone === '' ? { 'kuma.io/origin': 'global' } : own,
  );
const api = (name: string, verification: JsonObject, zone = 'east'): Change =>
  put(inMesh('MeshExternalService', name, zone), {
    match: { port: 443 },
    endpoints: [{ address: '192.0.2.1', port: 443 }],
    tls: { enabled: true, verification },
  });
const egress = put({ kind: 'ZoneEgress', mesh: '', zone: 'east', namespace: '', name: 'out' }, {});
const user = (name: string, zone = 'east'): JsonObject => ({ kind: 'MeshExternalService', name, zone });

describe('the Secrets of a store that is upgraded', () => {
  let harness: LoopHarness;
  let replica: Replica;
  let chain = '';
  let key = '';
  let otherKey = '';
  beforeAll(async () => {
    const authority = await TestAuthority.create('outside');
    const [pair, other] = await Promise.all([authority.issue({ dns: 'a' }), authority.issue({ dns: 'b' })]);
    [chain, key, otherKey] = [pair.chain, pair.key, other.key];
  });
  beforeEach(() => {
    harness = new LoopHarness();
    replica = harness.replica();
  });
  afterEach(() => harness.stop());

  const lead = async (by = replica): Promise<void> => {
    await by.lead([createKeptSecretsLoop({ cp: EAST, logger: silentLogger }), createExternalTrustLoop(EAST)]);
    await by.settle();
  };
  const write = async (...changes: readonly Change[]): Promise<void> => {
    await harness.write(...changes);
    await replica.settle();
  };
  const usersOf = async (name: string, zone = 'east'): Promise<unknown> =>
    (await harness.get(inMesh('Secret', name, zone)))?.spec['usedBy'];
  const statusOf = async (kind: string, name: string, zone = 'east'): Promise<JsonObject | undefined> =>
    (await harness.get(inMesh(kind, name, zone)))?.status;
  const resolved = async (name: string): Promise<unknown> => {
    const found = findCondition(await statusOf('MeshExternalService', name), 'ResolvedRefs');
    const { reason, message } = found ?? {};
    return typeof reason === 'string' && typeof message === 'string' ? `${reason}: ${message}` : undefined;
  };

  it('list who used their certificates then, once; a private key as an authority is given on to nobody', async () => {
    await harness.write(
      secret('ca', EAST_AUTHORITY),
      secret('stolen', key),
      secret('mixed', EAST_AUTHORITY + key),
      secret('unused', key),
      api('a', { caCert: { secret: 'ca' } }),
      api('b', { caCert: { type: 'Secret', secretRef: { kind: 'Secret', name: 'ca' } } }),
      api('thief', { caCert: { secret: 'stolen' } }),
      api('sly', { caCert: { secret: 'mixed' } }),
      api('none', { caCert: { secret: 'ghost' } }),
    );
    await lead();
    expect(await usersOf('ca')).toEqual([user('a'), user('b')]);
    for (const name of ['stolen', 'mixed', 'unused']) expect(await usersOf(name)).toBeUndefined();
    expect(findCondition(await statusOf('Secret', 'ca'), 'UsersKept')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('MeshExternalService a of zone east, MeshExternalService b of zone east'),
    });
    expect(await resolved('a')).toBeUndefined();
    expect(await resolved('thief')).toBe(
      'RefNotPermitted: spec.tls.verification.caCert.secret: no Secret "stolen" of the mesh lists MeshExternalService "thief" in ' +
        'spec.usedBy: nothing that needs it is served',
    );
    await write(
      secret('late', EAST_AUTHORITY),
      api('late', { caCert: { secret: 'late' } }),
      api('c', { caCert: { secret: 'ca' } }),
    );
    expect([await usersOf('late'), await usersOf('ca')]).toEqual([undefined, [user('a'), user('b')]]);
    const [revision, next] = [harness.revision, harness.replica('b')];
    await lead(next);
    expect(harness.revision).toBe(revision);
    expect(await resolved('late')).toMatch(/^RefNotPermitted/);
  });

  it('list who used a pair of certificate and key, and nobody for a key beside another certificate', async () => {
    await harness.write(
      secret('cert', chain),
      secret('key', key),
      secret('pair', chain + key),
      secret('other', otherKey),
      egress,
      api('two', { clientCert: { secret: 'cert' }, clientKey: { secret: 'key' } }),
      api('one', { clientCert: { secret: 'pair' }, clientKey: { secret: 'pair' } }),
      api('mine', { clientCert: { inlineString: chain }, clientKey: { secret: 'other' } }),
    );
    await lead();
    expect([await usersOf('cert'), await usersOf('key')]).toEqual([[user('two')], [user('two')]]);
    expect([await usersOf('pair'), await usersOf('other')]).toEqual([[user('one')], undefined]);
    expect(await resolved('mine')).toMatch(/RefNotPermitted: spec.tls.verification.clientKey.secret/);
  });

  it('that came from a global without lists keep theirs in the status, until the global has one', async () => {
    await harness.write(
      secret('ca', EAST_AUTHORITY, ''),
      api('a', { caCert: { secret: 'ca' } }),
      api('g', { caCert: { secret: 'ca' } }, ''),
    );
    await lead();
    expect(await usersOf('ca', '')).toBeUndefined();
    expect((await statusOf('Secret', 'ca', ''))?.['usedBy']).toEqual([user('a'), user('g', '')]);
    expect(await resolved('a')).toBeUndefined();
    await write(secret('ca', EAST_AUTHORITY, '', { usedBy: [] }));
    expect(await statusOf('Secret', 'ca', '')).toEqual({});
    expect(await resolved('a')).toMatch(/^RefNotPermitted/);
  });

  it('get back a list that a replica of the version before has dropped, and not one that was emptied', async () => {
    await harness.write(secret('ca', EAST_AUTHORITY), api('a', { caCert: { secret: 'ca' } }));
    await lead();
    await write(secret('ca', EAST_AUTHORITY + EAST_AUTHORITY));
    expect(await usersOf('ca')).toEqual([user('a')]);
    await write(secret('ca', EAST_AUTHORITY, 'east', { usedBy: [] }));
    expect(await usersOf('ca')).toEqual([]);
    expect(findCondition(await statusOf('Secret', 'ca'), 'UsersKept')).toBeUndefined();
  });

  it('leave their key to clients of a zone without an egress for this version, and say so', async () => {
    const pair = { clientCert: { secret: 'cert' }, clientKey: { secret: 'key' } };
    await harness.write(secret('cert', chain), secret('key', key), api('a', pair));
    await lead();
    expect((await statusOf('MeshExternalService', 'a'))?.['keptClientKey']).toBe('Secret key');
    expect(findCondition(await statusOf('MeshExternalService', 'a'), 'ClientKeyAtClients')).toMatchObject({
      status: 'True',
    });
    const lists = { usedBy: [{ kind: 'MeshExternalService', name: '*' }] };
    await write(secret('cert', chain, 'east', lists), secret('key', key, 'east', lists), api('b', pair));
    expect(await resolved('b')).toMatch(/^ClientKeyNeedsEgress: /);
    await write(egress);
    expect(await resolved('b')).toBeUndefined();
    expect(findCondition(await statusOf('MeshExternalService', 'a'), 'ClientKeyAtClients')).toBeUndefined();
    await write(remove({ kind: 'ZoneEgress', mesh: '', zone: 'east', namespace: '', name: 'out' }));
    expect(await resolved('b')).toMatch(/^ClientKeyNeedsEgress: /);
  });

  it('are not needed by a new store: what comes later is asked for its list', async () => {
    await lead();
    await write(secret('ca', EAST_AUTHORITY), api('a', { caCert: { secret: 'ca' } }));
    expect(await usersOf('ca')).toBeUndefined();
    expect(await resolved('a')).toMatch(/^RefNotPermitted/);
  });

  it.each<[string, JsonObject, RegExp]>([
    [
      'an unknown form',
      { caCert: { type: 'File', file: { path: '/ca' } } },
      /^UnknownForm: spec.tls.verification.caCert/,
    ],
    [
      'no certificate',
      { caCert: { inlineString: 'x' } },
      /^InvalidCertificateRef: spec.tls.verification.caCert must hold a cert/,
    ],
  ])('and a service with %s says why it is not served', async (_, verification, said) => {
    await lead();
    await write(api('a', verification));
    expect(await resolved('a')).toMatch(said);
    await write(api('a', { caCert: { inlineString: EAST_AUTHORITY + key } }));
    expect(await resolved('a')).toBeUndefined();
    expect(findCondition(await statusOf('MeshExternalService', 'a'), 'CertificatesDropped')?.['message']).toBe(
      'spec.tls.verification.caCert: a block PRIVATE KEY is left out: only certificates count',
    );
  });
});
