import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { Forbidden, Unavailable, type Identity, type JsonObject } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { createCsr, csrKey } from '../../../test/support/csr';
import { kumaAuthority } from '../../../test/support/kuma-authority';
import { TestPlane } from '../../../test/support/test-plane';
import { findEgressIdentity } from './egress-identity';
import { MeshAuthorities, findMeshAuthority, meshAuthoritySecrets } from './mesh-authority';
import { openSealedText, sealSpec, findSealingKeyId } from './sealed-secret';
import { SealingKeys } from './sealing-keys';
import type { WorkloadBinding } from './workload-binding';
import { WorkloadCertificates, type WorkloadCertificate } from './workload-certificates';
import { createMeshAuthority } from './x509';

const NOW = Date.parse('2026-11-23T03:00:00Z');
const MTLS = { mtls: { enabledBackend: 'ca-1', backends: [{ name: 'ca-1', type: 'builtin' }] } };
const inbound = (port: number, tags: JsonObject) => ({ port, tags });
const networking = {
  address: '10.0.0.1',
  inbound: [
    inbound(80, { 'kuma.io/service': 'web', 'kuma.io/protocol': 'http' }),
    inbound(81, { 'kuma.io/service': 'admin' }),
  ],
};
const SERVICES = { tags: { 'kuma.io/service': ['web', 'admin'] } };

function sealingKeys(...ids: string[]): SealingKeys {
  const parsed = SealingKeys.parse(ids.map((id) => `${id}:${Buffer.alloc(32, id).toString('base64')}`).join(','));
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.keys;
}

const data = (text: string): JsonObject => ({ data: Buffer.from(text).toString('base64') });

describe('the authority of a mesh', () => {
  let plane: TestPlane;
  let csr: string;
  const keys = sealingKeys('k');
  const ids = meshAuthoritySecrets('default', 'ca-1');
  beforeAll(async () => {
    csr = await createCsr(await csrKey());
  });
  beforeEach(async () => {
    plane = new TestPlane({ role: 'zone', zone: 'east', federated: true });
    await plane.put('Mesh', 'default', MTLS);
    await plane.put('Dataplane', 'web-1', { networking });
  });
  afterEach(() => plane.close());

  const put = async ({ kind, mesh, name, ...rest }: Identity, spec: JsonObject, labels = {}): Promise<void> => {
    const id = { kind, mesh, name, ...rest };
    await plane.store.write({ changes: [{ type: 'put', id, expect: 'any', labels, spec }], onRefusal: 'abort' });
    await plane.holds(id, ({ spec: held }) => held['data'] === spec['data']);
  };
  const certificates = (): WorkloadCertificates => {
    const meshAuthorities = new MeshAuthorities(plane.index, keys);
    const signer = { sign: () => Promise.reject(new Error('the authority of the zone is not asked')) };
    return new WorkloadCertificates({ index: plane.index, signer, meshAuthorities, clock: new FakeClock(NOW) });
  };
  const issue = (binding: WorkloadBinding = SERVICES): Promise<WorkloadCertificate> =>
    certificates().issue({ dataplane: plane.id('Dataplane', 'web-1'), binding, csr });

  it.each<[string, () => Promise<{ certificate: string; privateKey: string }>, boolean]>([
    ['of ours, its key sealed', () => createMeshAuthority('default', NOW), true],
    ['of ours, in plain', () => createMeshAuthority('default', NOW), false],
    ["of Kuma's own making, its key of RSA", () => kumaAuthority('default', NOW), true],
  ])('%s signs what Kuma expects: services as ids, tags as names', async (_, make, sealed) => {
    const { certificate, privateKey } = await make();
    await put(ids.certificate, data(certificate));
    if (sealed) await put(ids.key, sealSpec(keys, ids.key, privateKey), { 'causeway.io/sealed': 'k' });
    else await put(ids.key, data(privateKey));
    const { uri, chain, notAfter } = await issue();
    const leaf = new X509Certificate(chain);
    const authority = new X509Certificate(certificate);
    expect(uri).toBe('spiffe://default/admin');
    expect(leaf.subjectAltName?.split(', ')).toEqual([
      'URI:spiffe://default/admin',
      'URI:spiffe://default/web',
      'URI:kuma://kuma.io/protocol/http',
      'URI:kuma://kuma.io/service/admin',
      'URI:kuma://kuma.io/service/web',
    ]);
    expect(leaf.verify(authority.publicKey) && leaf.checkIssued(authority)).toBe(true);
    expect([authority.ca, leaf.ca, notAfter]).toEqual([true, false, NOW + 24 * 3_600_000]);
    expect(chain.endsWith(`${certificate.trim()}\n`)).toBe(true);
  });

  it.each<[string, WorkloadBinding, RegExp]>([
    ['of its name only', { name: 'web-1' }, /must have the claim "Workload", or "Tags" with kuma.io\/service/],
    ['of everything', {}, /must have the claim/],
    ['of a workload that is not called as its services', { workload: 'web-1' }, /"Workload" is "web-1", .* "admin"/],
    ['of another mesh', { ...SERVICES, mesh: 'other' }, /claim "Mesh" is "other"/],
    ['of fewer services', { tags: { 'kuma.io/service': ['web'] } }, /allows "kuma.io\/service": web; .* "admin"/],
  ])('refuses a token %s', async (_, binding, reason) => {
    const { certificate, privateKey } = await createMeshAuthority('default', NOW);
    await put(ids.certificate, data(certificate));
    await put(ids.key, data(privateKey));
    const refusal: unknown = await issue(binding).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Forbidden);
    expect(String(refusal)).toMatch(reason);
  });

  it('takes a token of a workload for the service that is called so', async () => {
    const { certificate, privateKey } = await createMeshAuthority('default', NOW);
    await put(ids.certificate, data(certificate));
    await put(ids.key, data(privateKey));
    await plane.put('Dataplane', 'web-1', {
      networking: { ...networking, inbound: [inbound(80, { 'kuma.io/service': 'web-1' })] },
    });
    expect((await issue({ workload: 'web-1' })).uri).toBe('spiffe://default/web-1');
  });

  it('is not there while Mesh.mtls is off or its certificate has not come; without its key it waits', async () => {
    expect(findMeshAuthority(plane.index, 'default')).toBeUndefined();
    await expect(issue()).rejects.toThrow(/must have the claim|no MeshIdentity/);
    const { certificate, privateKey } = await createMeshAuthority('default', NOW);
    await put(ids.certificate, data(certificate));
    expect(findMeshAuthority(plane.index, 'default')).toEqual({ mesh: 'default', backend: 'ca-1', certificate });
    await expect(issue()).rejects.toThrow(
      new Unavailable('the key of the authority of mesh default is not in this zone'),
    );
    await put(ids.key, sealSpec(sealingKeys('other'), ids.key, privateKey), { 'causeway.io/sealed': 'other' });
    await expect(issue()).rejects.toThrow(/cannot be opened: it is sealed with key "other"/);
    await put(ids.key, data('no key'));
    await expect(issue()).rejects.toBeInstanceOf(Unavailable);
    await plane.put('Mesh', 'default', { mtls: { ...MTLS.mtls, enabledBackend: '' } });
    expect(findMeshAuthority(plane.index, 'default')).toBeUndefined();
  });

  it('signs for the egress of the zone where its key is, and for no Dataplane that is called so', async () => {
    const place = { mesh: 'default', zone: 'east' };
    const { certificate, privateKey } = await createMeshAuthority('default', NOW);
    await put(ids.certificate, data(certificate));
    expect(findEgressIdentity(plane.index, place)).toBeUndefined();
    await expect(certificates().issueToEgress({ ...place, csr })).rejects.toThrow(/has no authority for the egress/);
    await put(ids.key, data(privateKey));
    const uri = 'spiffe://default/zone-egress';
    expect(findEgressIdentity(plane.index, place)).toEqual({ uri, authority: 'mesh' });
    const issued = await certificates().issueToEgress({ ...place, csr });
    expect(issued).toMatchObject({ uri, meshAuthority: certificate });
    const { subjectAltName } = new X509Certificate(issued.chain);
    expect(subjectAltName).toBe(`URI:${uri}, URI:kuma://kuma.io/service/zone-egress`);
    const inbounds = [inbound(80, { 'kuma.io/service': 'zone-egress' })];
    await plane.put('Dataplane', 'web-1', { networking: { ...networking, inbound: inbounds } });
    const refusal: unknown = await issue({ tags: { 'kuma.io/service': ['zone-egress'] } }).catch((e: unknown) => e);
    expect(refusal).toBeInstanceOf(Forbidden);
    expect(String(refusal)).toContain('that of zone egresses');
    // A MeshIdentity that this zone signs for comes first.
    const identity = { selector: { dataplane: { matchLabels: { some: 'label' } } }, provider: { type: 'Bundled' } };
    await plane.put('MeshIdentity', 'some', identity);
    const own = { uri: 'spiffe://default.east.mesh.local/zone-egress', authority: 'zone' };
    expect(findEgressIdentity(plane.index, place)).toEqual(own);
  });

  it('has the name of the mesh as trust domain, and a key that Kuma reads', async () => {
    const { certificate, privateKey } = await createMeshAuthority('default', NOW);
    const { subjectAltName, ca } = new X509Certificate(certificate);
    expect([subjectAltName, ca]).toEqual(['URI:spiffe://default', true]);
    expect(createPrivateKey(privateKey).asymmetricKeyType).toBe('ec');
    expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey))).toBe(true);
  });
});

describe('a sealed Secret', () => {
  const of = { mesh: 'default', name: 'key' };
  it('is the same each time, opens for its own name only, and tells nothing without its key', () => {
    const [first, old] = [sealingKeys('a', 'b'), sealingKeys('b')];
    const text = randomBytes(20).toString('hex');
    const spec = sealSpec(first, of, text);
    expect(sealSpec(first, of, text)).toEqual(spec);
    expect(sealSpec(first, of, `${text}x`)).not.toEqual(spec);
    expect(sealSpec(first, { ...of, mesh: 'other' }, text)).not.toEqual(spec);
    expect(JSON.stringify(spec)).not.toContain(Buffer.from(text).toString('base64').slice(0, 12));
    expect([
      findSealingKeyId(spec),
      findSealingKeyId(data(text)),
      findSealingKeyId({}),
      findSealingKeyId(data('{}')),
    ]).toEqual(['a', undefined, undefined, undefined]);
    expect(openSealedText(first, of, spec)).toEqual({ ok: true, text });
    expect(openSealedText(first, of, sealSpec(old, of, text))).toEqual({ ok: true, text });
    expect(openSealedText(old, of, spec)).toMatchObject({ ok: false });
    expect(openSealedText(first, { ...of, name: 'other' }, spec)).toMatchObject({ ok: false });
    expect(openSealedText(first, of, data(text))).toMatchObject({ ok: false, reason: 'its data is not sealed' });
  });
});
