import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { Conflict, Unavailable } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { Fenced, type Fence } from '@causeway/store';
import type { PostgresBackend } from '@causeway/store-postgres';
import { createPostgresBackend } from '@causeway/store-postgres/testing';
import { createTestDatabase, type TestDatabase } from '../../../test/support/postgres';
import { createCsr, csrKey } from '../../../test/support/csr';
import { SIGNING_SLACK } from './authority-rotation';
import { SealingKeys } from './sealing-keys';
import { checkCsr } from './x509';
import { AUTHORITY_ENTRY, CERTIFICATE_VALIDITY, ZoneAuthority, type ZoneAuthorityOptions } from './zone-authority';

const NOW = Date.parse('2026-11-23T00:00:00Z');
const URI = 'spiffe://default.east.mesh.local/workload/web';
const [ONE, TWO] = [`one:${randomBytes(32).toString('base64')}`, `two:${randomBytes(32).toString('base64')}`];

function sealingKeys(text = ONE): SealingKeys {
  const parsed = SealingKeys.parse(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.keys;
}

describe("a zone's authority", () => {
  let database: TestDatabase;
  let backends: PostgresBackend[];
  let clock: FakeClock;
  beforeEach(async () => {
    database = await createTestDatabase();
    backends = [];
    clock = new FakeClock(NOW);
  });
  afterEach(async () => {
    await Promise.all(backends.map((backend) => backend.close()));
    await database.drop();
  });

  const replica = async (): Promise<PostgresBackend> => {
    const backend = await createPostgresBackend({ url: database.url, poolSize: 2 });
    backends.push(backend);
    return backend;
  };
  const lead = async ({ lease }: PostgresBackend, holder: string): Promise<Fence> => {
    const standing = await lease.readEpoch();
    await lease.release(standing.epoch, standing.holder);
    const epoch = await lease.takeOver(standing.epoch, holder, 60_000);
    if (epoch === undefined) throw new Error('another one leads');
    return { epoch, holder };
  };
  const authority = (
    { store }: Pick<PostgresBackend, 'store'>,
    rest: Partial<ZoneAuthorityOptions> = {},
  ): ZoneAuthority =>
    new ZoneAuthority({ store, keys: sealingKeys(), zone: 'east', clock, logger: silentLogger, ...rest });
  const publicKey = async (): Promise<Buffer> => {
    const checked = await checkCsr(await createCsr(await csrKey()));
    if (!checked.ok) throw new Error(checked.violation.reason);
    return checked.publicKey;
  };
  const sign = async (by: ZoneAuthority): Promise<X509Certificate[]> => {
    const now = clock.now();
    const order = { uri: URI, publicKey: await publicKey(), now, notAfter: now + CERTIFICATE_VALIDITY };
    const { chain } = await by.sign(order);
    return chain.split(/(?=-----BEGIN)/).map((pem) => new X509Certificate(pem));
  };

  it('is made once by two replicas: the one whose term is over writes nothing, both sign with the same', async () => {
    const [a, b] = [await replica(), await replica()];
    const [fenceA, other] = [await lead(a, 'a'), authority(b)];
    let takeOver: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => (takeOver = resolve));
    const slow = authority({
      store: Object.assign(Object.create(a.store), {
        write: async (...request: Parameters<typeof a.store.write>) => {
          await taken;
          return a.store.write(...request);
        },
      }),
    });
    const refused = slow.ensure(fenceA).catch((error: unknown) => error);
    const made = await other.ensure(await lead(b, 'b'));
    takeOver();
    expect(await refused).toBeInstanceOf(Fenced);
    expect((await slow.state())?.signing).toBe(made.signing);
    const [[, rootA], [, rootB]] = [await sign(slow), await sign(other)];
    expect(rootA?.raw).toEqual(rootB?.raw);
  });

  it('is made once by a leader that is asked twice at once, and kept by the next leader', async () => {
    const [a, b] = [await replica(), await replica()];
    const [fence, first] = [await lead(a, 'a'), authority(a)];
    const [one, two] = await Promise.all([first.ensure(fence), first.ensure(fence)]);
    expect(two).toEqual(one);
    expect(await authority(b).ensure(await lead(b, 'b'))).toEqual(one);
  });

  it('signs by X.509-SVID: one URI, no subject, no authority, both usages, 24 h from five minutes ago', async () => {
    const a = await replica();
    const zone = authority(a);
    await zone.ensure(await lead(a, 'a'));
    const [leaf, root] = await sign(zone);
    if (!leaf || !root) throw new Error('no chain');
    expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true);
    expect([leaf.ca, root.ca]).toEqual([false, true]);
    expect(leaf.subject || '').toBe('');
    expect(leaf.subjectAltName).toBe(`URI:${URI}`);
    expect(leaf.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2']);
    expect([Date.parse(leaf.validFrom), Date.parse(leaf.validTo)]).toEqual([NOW - 300_000, NOW + 24 * 3_600_000]);
    const [short] = await sign(authority(a, { validity: 3_000 }));
    expect(Date.parse(short?.validTo ?? '')).toBe(NOW + 3_000);
  });

  it('reads its state once for signatures that are asked for at once, and again for the next one', async () => {
    const a = await replica();
    await authority(a).ensure(await lead(a, 'a'));
    let reads = 0;
    const counting = authority({
      store: Object.assign(Object.create(a.store), {
        readMetadata: (...entry: Parameters<typeof a.store.readMetadata>) => {
          reads += 1;
          return a.store.readMetadata(...entry);
        },
      }),
    });
    const order = { uri: URI, publicKey: await publicKey(), now: NOW, notAfter: NOW + CERTIFICATE_VALIDITY };
    const signed = await Promise.all(Array.from({ length: 200 }, () => counting.sign(order)));
    expect([reads, new Set(signed.map(({ chain }) => chain)).size]).toEqual([1, 200]);
    await counting.sign(order);
    expect(reads).toBe(2);
  });

  it('signs nothing before a leader made it', async () => {
    const zone = authority(await replica());
    await expect(sign(zone)).rejects.toThrow('there is no certificate authority yet');
  });

  it('has no key in plain in any table, in none of its forms', async () => {
    const a = await replica();
    const keys = sealingKeys();
    const state = await authority(a, { keys }).ensure(await lead(a, 'a'));
    const [{ key } = { key: undefined }] = state.authorities;
    const opened = key && keys.open(key, 'workload-authority/east');
    if (!opened?.ok) throw new Error('not opened');
    const der = createPrivateKey(opened.text).export({ format: 'der', type: 'pkcs8' });
    const { d = '' } = createPrivateKey(opened.text).export({ format: 'jwk' });
    const scalar = Buffer.from(d, 'base64url');
    const tables =
      JSON.stringify(await a.store.listMetadata(AUTHORITY_ENTRY.area)) + JSON.stringify(await a.store.snapshot());
    for (const bytes of [der, scalar]) {
      for (const form of ['base64', 'base64url', 'hex'] as const) expect(tables).not.toContain(bytes.toString(form));
    }
    expect(tables).toContain(key?.sealed);
    expect(tables).not.toContain('PRIVATE KEY');
  });

  it('is sealed anew when another key seals, and is neither opened nor replaced without its key', async () => {
    const a = await replica();
    const fence = await lead(a, 'a');
    const before = await authority(a).ensure(fence);
    const stranger = authority(a, { keys: sealingKeys(TWO) });
    for (const attempt of [stranger.ensure(fence), sign(stranger)]) {
      await expect(attempt).rejects.toThrow('it is sealed with key "one", which is not in CAUSEWAY_SECRETS_KEY');
    }
    const after = await authority(a, { keys: sealingKeys(`${TWO},${ONE}`) }).ensure(fence);
    expect(after.authorities.map(({ key }) => key.keyId)).toEqual(['two']);
    expect(after.signing).toBe(before.signing);
    expect(await stranger.ensure(fence)).toEqual(after);
    const [, root] = await sign(stranger);
    expect(root?.toString()).toContain(before.authorities[0]?.certificate.trim());
  });

  it.each(['changed', 'of half a state', 'of another version', 'of a signer that is not there'])(
    'that is %s is Unavailable and stays as it is',
    async (what) => {
      const a = await replica();
      const fence = await lead(a, 'a');
      await authority(a).ensure(fence);
      const entry = await a.store.readMetadata(AUTHORITY_ENTRY.area, AUTHORITY_ENTRY.key);
      const text = JSON.stringify(entry);
      const broken: Record<string, object> = {
        changed: JSON.parse(text.replace(/"sealed":"(.)/, (_, c: string) => `"sealed":"${c === 'A' ? 'B' : 'A'}`)),
        'of half a state': { ...entry, step: { type: 'trusting' } },
        'of another version': { ...entry, version: 2 },
        'of a signer that is not there': { ...entry, signing: 'x' },
      };
      const value = JSON.parse(JSON.stringify(broken[what]));
      await a.store.write({ changes: [], onRefusal: 'abort', metadata: [{ ...AUTHORITY_ENTRY, value }] });
      const zone = authority(a);
      for (const attempt of [zone.ensure(fence), sign(zone)]) await expect(attempt).rejects.toBeInstanceOf(Unavailable);
      expect(await a.store.readMetadata(AUTHORITY_ENTRY.area, AUTHORITY_ENTRY.key)).toEqual(value);
    },
  );

  it('is rotated in stored steps that the next leader goes on with; every replica signs with the one that signs', async () => {
    const [a, b] = [await replica(), await replica()];
    const [zone, other] = [authority(a), authority(b)];
    const old = (await zone.ensure(await lead(a, 'a'))).signing;
    await zone.beginRotation(await lead(a, 'a'), NOW + 60_000);
    const [, rootBefore] = await sign(other);
    const fence = await lead(b, 'b');
    await expect(zone.advanceRotation({ epoch: fence.epoch - 1, holder: 'a' }, { missing: [] })).rejects.toBeInstanceOf(
      Fenced,
    );
    expect((await other.advanceRotation(fence, { missing: ['web-1'] })).step.type).toBe('trusting');
    await expect(other.beginRotation(fence, NOW)).rejects.toBeInstanceOf(Conflict);
    const used = await other.advanceRotation(fence, { missing: ['web-1'], force: true });
    expect(used.step).toMatchObject({ type: 'retiring', old, usedBy: 'force', missing: ['web-1'] });
    const [leaf, root] = await sign(zone);
    expect(root?.raw).not.toEqual(rootBefore?.raw);
    expect(root && leaf?.verify(root.publicKey)).toBe(true);
    clock.advance(CERTIFICATE_VALIDITY + SIGNING_SLACK);
    const done = await other.advanceRotation(fence, { missing: ['web-1'] });
    expect(done).toMatchObject({ signing: used.signing, step: { type: 'steady' } });
    expect(done.authorities).toHaveLength(1);
  });

  it('gives a rotation up, and begins another', async () => {
    const a = await replica();
    const [fence, zone] = [await lead(a, 'a'), authority(a)];
    const before = await zone.ensure(fence);
    await zone.beginRotation(fence, NOW);
    expect(await zone.abandonRotation(fence)).toEqual(before);
    expect((await zone.beginRotation(fence, NOW)).authorities).toHaveLength(2);
  });
});
