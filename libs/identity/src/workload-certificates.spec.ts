import { randomBytes, X509Certificate, type webcrypto } from 'node:crypto';
import { Forbidden, Invalid, NotFound, Unavailable, type Identity } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryLease } from '@causeway/store/testing';
import { createCsr, csrKey } from '../../../test/support/csr';
import { TestPlane } from '../../../test/support/test-plane';
import { identityPathStateId } from './identity-paths';
import { SealingKeys } from './sealing-keys';
import { WorkloadCertificates, type CertificateRequest } from './workload-certificates';
import { ZoneAuthority } from './zone-authority';

const NOW = Date.parse('2026-11-23T00:00:00Z');
const networking = { address: '10.0.0.1', inbound: [{ port: 80, tags: { 'kuma.io/service': 'web' } }] };
const bound = { workload: 'web' };

describe('a CSR', () => {
  let plane: TestPlane;
  let certificates: WorkloadCertificates;
  let signer: ZoneAuthority;
  let keys: webcrypto.CryptoKeyPair;
  let csr: string;
  beforeAll(async () => {
    keys = await csrKey();
    csr = await createCsr(keys);
    plane = new TestPlane({ role: 'zone', zone: 'east', federated: true });
    const clock = new FakeClock(NOW);
    const parsed = SealingKeys.parse(`k:${randomBytes(32).toString('base64')}`);
    if (!parsed.ok) throw new Error(parsed.reason);
    signer = new ZoneAuthority({
      store: plane.store,
      keys: parsed.keys,
      zone: 'east',
      clock,
      logger: silentLogger,
    });
    const epoch = (await new MemoryLease(plane.disk).takeOver(0, 'a', 60_000)) ?? 0;
    await signer.ensure({ epoch, holder: 'a' });
    certificates = new WorkloadCertificates({ index: plane.index, signer, clock });
    await plane.put('Mesh', 'default', {});
    const provider = { type: 'Bundled' };
    await plane.put('MeshIdentity', 'all', { selector: { dataplane: { matchLabels: { mtls: 'yes' } } }, provider });
    await plane.put('MeshIdentity', 'spire', {
      selector: { dataplane: { matchLabels: { spire: 'yes' } } },
      provider: { type: 'Spire' },
    });
    await plane.put('Dataplane', 'web-1', { networking }, { mtls: 'yes', 'kuma.io/workload': 'web' });
    await plane.put('Dataplane', 'bare', { networking });
    await plane.put('Dataplane', 'spire', { networking }, { spire: 'yes' });
    await plane.put('Dataplane', 'dots', { networking }, { mtls: 'yes', 'kuma.io/workload': '' });
  });
  afterAll(() => plane.close());

  const request = (rest: Partial<CertificateRequest> = {}): CertificateRequest => ({
    dataplane: plane.id('Dataplane', 'web-1'),
    binding: bound,
    csr,
    ...rest,
  });

  it.each([
    ['shortens the validity', '1h30m0s', 90 * 60_000],
    ['cannot make it longer than that of the zone', '48h', 24 * 3_600_000],
    ['cannot make it shorter than 10 s', '20ms', 10_000],
  ])('certificateParameters.expiry of its MeshIdentity %s', async (_, expiry, validity) => {
    const provider = { type: 'Bundled', bundled: { certificateParameters: { expiry } } };
    const selector = { dataplane: { matchLabels: { short: 'yes' } } };
    await plane.put('MeshIdentity', 'short', { selector, provider });
    await plane.put('Dataplane', 'short-1', { networking }, { short: 'yes', 'kuma.io/workload': 'web' });
    const { notAfter, chain } = await certificates.issue(request({ dataplane: plane.id('Dataplane', 'short-1') }));
    expect(notAfter).toBe(NOW + validity);
    expect(Date.parse(new X509Certificate(chain).validTo)).toBe(NOW + validity);
  });

  it('gives its key a certificate of the id of the stored Dataplane; its own subject and names decide nothing', async () => {
    const { uri, chain, notAfter } = await certificates.issue(request());
    expect(uri).toBe('spiffe://default.east.mesh.local/workload/web');
    const leaf = new X509Certificate(chain);
    expect(leaf.subjectAltName).toBe(`URI:${uri}`);
    expect(chain).not.toContain('admin');
    const held = Buffer.from(await crypto.subtle.exportKey('spki', keys.publicKey));
    expect(leaf.publicKey.export({ format: 'der', type: 'spki' })).toEqual(held);
    expect(notAfter).toBe(NOW + 24 * 3_600_000);
  });

  it('is of the form that the zone signs for, outside of namespace default', async () => {
    const inShop = { ...plane.id('Dataplane', 'web-1'), namespace: 'shop' };
    const uriOf = async (dataplane: Identity): Promise<string> =>
      (await certificates.issue(request({ dataplane }))).uri;
    await plane.write([
      {
        type: 'put',
        id: inShop,
        expect: 'absent',
        spec: { networking },
        labels: { mtls: 'yes', 'kuma.io/workload': 'web' },
      },
    ]);
    const steps = [
      { signs: 'Workload', step: 'Announcing' },
      { signs: 'Namespaced', step: 'Retiring' },
    ];
    const uris: string[] = [];
    for (const spec of [...steps, { signs: 'Namespaced' }]) {
      const id = identityPathStateId({ mesh: 'default', zone: 'east' });
      await plane.write([{ type: 'put', id, expect: 'any', labels: {}, spec }]);
      uris.push(await uriOf(inShop));
      expect(await uriOf(plane.id('Dataplane', 'web-1'))).toBe('spiffe://default.east.mesh.local/workload/web');
    }
    const namespaced = 'spiffe://default.east.mesh.local/ns/shop/workload/web';
    expect(uris).toEqual(['spiffe://default.east.mesh.local/workload/web', namespaced, namespaced]);
  });

  const changed = (pem: string): string => {
    const [head = '', ...rest] = pem.trim().split('\n');
    const bytes = Buffer.from(rest.slice(0, -1).join(''), 'base64');
    // A byte of the name, which the signature covers.
    const at = bytes.indexOf('admin');
    bytes.write('b', at);
    return [head, bytes.toString('base64'), rest.at(-1)].join('\n');
  };
  it.each<[string, () => Promise<string> | string, RegExp]>([
    ['nothing', () => '', /^must be one PEM block/],
    ['no PEM', () => 'garbage', /^must be one PEM block/],
    ['two blocks', () => csr + csr, /^must be one PEM block/],
    ['a certificate', () => csr.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE'), /^must be one PEM block/],
    ['garbage in PEM', () => csr.replace(/\n[\s\S]*\n/, '\nAAAA\n'), /^cannot be read/],
    ['a cut one', () => csr.replace(/\n[A-Za-z0-9+/=]+\n(?=-----END)/, '\n'), /^cannot be read|signature does not fit/],
    ['a changed one', () => changed(csr), /^must be signed with its own key; the signature does not fit/],
    ['a huge one', () => csr + ' '.repeat(8_192), /^must have at most 8192 characters/],
    [
      'an RSA key',
      async () =>
        createCsr(
          await csrKey({
            name: 'RSASSA-PKCS1-v1_5',
            modulusLength: 2048,
            hash: 'SHA-256',
            publicExponent: new Uint8Array([1, 0, 1]),
          }),
        ),
      /^must have an ECDSA key of the curve P-256; got rsa/,
    ],
    [
      'another curve',
      async () => createCsr(await csrKey({ name: 'ECDSA', namedCurve: 'P-384' })),
      /^must have an ECDSA key of the curve P-256; got ec secp384r1/,
    ],
  ])('that is %s is refused', async (_, make, reason) => {
    const refusal = await certificates.issue(request({ csr: await make() })).catch((error: unknown) => error);
    if (!(refusal instanceof Invalid)) throw new Error('issued', { cause: refusal });
    expect(refusal.violations[0]?.field).toBe('csr');
    expect(refusal.violations[0]?.reason).toMatch(reason);
  });

  it.each<[string, () => Partial<CertificateRequest>, new (...args: never[]) => Error, RegExp]>([
    ['no Dataplane', () => ({ dataplane: plane.id('Dataplane', 'no') }), NotFound, /no Dataplane no in mesh default/],
    ["somebody else's name", () => ({ binding: { workload: 'db' } }), Forbidden, /claim "Workload" is "db"/],
    ['another mesh', () => ({ binding: { ...bound, mesh: 'other' } }), Forbidden, /claim "Mesh" is "other"/],
    ['a token of the name only', () => ({ binding: { name: 'web-1' } }), Forbidden, /must have the claim "Workload"/],
    ['a token of everything', () => ({ binding: {} }), Forbidden, /must have the claim "Workload"/],
    [
      'no MeshIdentity',
      () => ({ dataplane: plane.id('Dataplane', 'bare'), binding: { name: 'bare' } }),
      Forbidden,
      /no MeshIdentity of mesh default selects Dataplane bare/,
    ],
    [
      'another authority',
      () => ({ dataplane: plane.id('Dataplane', 'spire'), binding: { name: 'spire' } }),
      Forbidden,
      /provider Spire/,
    ],
    [
      'an id that is none',
      () => ({ dataplane: plane.id('Dataplane', 'dots'), binding: { workload: '' } }),
      Invalid,
      /empty segment/,
    ],
  ])('for %s is refused', async (_, rest, type, reason) => {
    const refusal = await certificates.issue(request(rest())).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(type);
    expect(String(refusal)).toMatch(reason);
  });

  it('gets nothing for an id that the settings of its mesh revoke', async () => {
    const revoked = 'spiffe://default.east.mesh.local/workload/web';
    const isRevoked = (mesh: string, uri: string): boolean => mesh === 'default' && uri === revoked;
    const strict = new WorkloadCertificates({ index: plane.index, signer, clock: new FakeClock(NOW), isRevoked });
    await expect(strict.issue(request())).rejects.toThrow(
      new Forbidden(`the settings of mesh default revoke ${revoked}`),
    );
  });

  it('waits for a signer that is away', async () => {
    const signer = { sign: () => Promise.reject(new Unavailable('the HSM is away')) };
    const away = new WorkloadCertificates({ index: plane.index, signer, clock: new FakeClock(NOW) });
    await expect(away.issue(request())).rejects.toBeInstanceOf(Unavailable);
  });
});
