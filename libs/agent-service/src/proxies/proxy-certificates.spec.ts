import { X509Certificate } from 'node:crypto';
import { createCsr } from '@causeway/identity';
import { Unavailable, type Identity } from '@causeway/resources';
import { silentLogger, yieldToEventLoop } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestAuthority } from '../../../../test/support/test-authority';
import { CertificateSigner } from './certificate-signer';
import { ProxyCertificates } from './proxy-certificates';

const HOUR = 3_600_000;

function dataplane(name: string): Identity {
  return { kind: 'Dataplane', mesh: 'default', zone: 'east', namespace: 'default', name };
}

/** An issuer that signs on paper, and the certificates that it keeps alive. */
function setUp(random = () => 0.5) {
  const clock = new FakeClock(1_000_000);
  const former: string[] = [];
  const state = { authority: 'A', uri: 'spiffe://a/', former, fails: false, signed: 0, underWay: 0, most: 0, looks: 0 };
  const signer = new CertificateSigner({
    clock,
    random,
    issuer: {
      issueToEgress: () => Promise.reject(new Unavailable('of Dataplanes only')),
      issue: async () => {
        state.most = Math.max(state.most, ++state.underWay);
        const { uri } = state;
        await yieldToEventLoop();
        state.underWay -= 1;
        if (state.fails) throw new Unavailable('no authority yet');
        state.signed += 1;
        return { chain: `${state.signed} ${state.authority}`, uri, notAfter: clock.now() + 24 * HOUR };
      },
    },
  });
  const certificates = new ProxyCertificates({
    clock,
    logger: silentLogger,
    random,
    signer,
    authority: () => Promise.resolve(state.authority),
    meshAuthority: () => undefined,
    listIds: () => {
      state.looks += 1;
      return [state.uri, ...state.former];
    },
  });
  const renewed: string[] = [];
  const enrol = (name: string) =>
    certificates.enrol({
      owner: { type: 'dataplane', dataplane: dataplane(name), binding: {} },
      renewed: () => void renewed.push(name),
      key: { type: 'file', csr: 'csr', path: '/key.pem' },
    });
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn++) await yieldToEventLoop();
  };
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settle();
  };
  return { clock, state, signer, certificates, renewed, enrol, settle, pass };
}

describe('the certificates of proxies', () => {
  it.each([
    [0, 0.4],
    [0.5, 0.5],
    [1, 0.6],
  ])('are renewed at 50 %% ± 10 %% of their validity: drawn %p, at %p', async (drawn, part) => {
    const { enrol, settle, pass, renewed, certificates } = setUp(() => drawn);
    const certificate = enrol('redis-1');
    await settle();
    expect(certificate.current()).toMatchObject({ chain: '1 A', key: { path: '/key.pem' } });
    await pass(part * 24 * HOUR - 2_000);
    expect(renewed).toHaveLength(1);
    await pass(3_000);
    expect(renewed).toHaveLength(2);
    certificate.close();
    await pass(24 * HOUR);
    expect(renewed).toHaveLength(2);
    certificates.close();
  });

  it('are tried again with backoff, and say why there is none', async () => {
    const { enrol, settle, pass, state, certificates } = setUp();
    state.fails = true;
    const certificate = enrol('redis-1');
    await settle();
    expect(certificate.current()).toBeUndefined();
    expect(certificate.status()).toEqual({ failure: 'no authority yet' });
    for (let i = 0; i < 10; i++) await pass(1_000);
    const { failed } = certificates;
    expect(failed).toBeGreaterThanOrEqual(3);
    expect(failed).toBeLessThanOrEqual(6);
    state.fails = false;
    await pass(60_000);
    expect(certificate.status()).toEqual({ uri: 'spiffe://a/', notAfter: expect.any(Number) as number });
    certificates.close();
  });

  it('are all of the new authority and the new id, at most eight at one time', async () => {
    const { enrol, settle, pass, state, certificates, renewed } = setUp();
    const held = Array.from({ length: 40 }, (_, i) => enrol(`redis-${i}`));
    await settle();
    expect(state.most).toBe(8);
    state.authority = 'B';
    for (let i = 0; i < 6; i++) await pass(1_000);
    expect(held.every((one) => one.current()?.chain.endsWith('B'))).toBe(true);
    state.uri = 'spiffe://b/';
    certificates.reviewIds();
    await settle();
    expect(held.map((one) => one.status().uri)).toEqual(held.map(() => 'spiffe://b/'));
    expect(renewed).toHaveLength(120);
    certificates.reviewIds();
    for (let i = 0; i < 6; i++) await pass(1_000);
    expect(renewed).toHaveLength(120);
    certificates.close();
  });

  it('are of the new id where it changes while they are signed', async () => {
    const { enrol, settle, pass, state, signer, certificates } = setUp();
    const certificate = enrol('redis-1');
    state.uri = 'spiffe://b/';
    certificates.reviewIds();
    await settle();
    expect(certificate.status().uri).toBe('spiffe://a/');
    await pass(1_000);
    expect(certificate.status().uri).toBe('spiffe://b/');
    await pass(10_000);
    expect(signer.signed).toBe(2);
    certificates.close();
  });

  it('are renewed at their time where the form of ids changes, and at once where the one held is known no longer', async () => {
    const { enrol, settle, pass, state, certificates } = setUp();
    const certificate = enrol('redis-1');
    await settle();
    [state.uri, state.former] = ['spiffe://b/', ['spiffe://a/']];
    certificates.reviewIds();
    await pass(1_000);
    expect(certificate.status().uri).toBe('spiffe://a/');
    await pass(12 * HOUR);
    expect(certificate.status().uri).toBe('spiffe://b/');
    [state.uri, state.former] = ['spiffe://c/', []];
    certificates.reviewIds();
    await settle();
    expect(certificate.status().uri).toBe('spiffe://c/');
    certificates.close();
  });

  it('are looked at one by one where Dataplanes change', async () => {
    const { enrol, settle, state, certificates } = setUp();
    for (let i = 0; i < 40; i++) enrol(`redis-${i}`);
    await settle();
    state.looks = 0;
    certificates.reviewIds([dataplane('redis-7'), dataplane('elsewhere')]);
    expect(state.looks).toBe(1);
    certificates.close();
  });

  describe('that a proxy has shown', () => {
    const uri = 'spiffe://default.east.mesh.local/ns/default/sa/redis';
    const DAY = 24 * HOUR;

    /** A proxy that shows a certificate of an authority, at a zone whose authority signs. */
    async function shown({ by, of = uri, validFor = DAY, isOwnKey = true }: Shown) {
      const [signing, other] = [await TestAuthority.create('signing'), await TestAuthority.create('other')];
      const { clock, state, signer, certificates, settle, pass } = setUp();
      clock.advance(Date.now() - clock.now());
      Object.assign(state, { authority: signing.certificate, uri });
      const { chain, key } = await (by === 'other' ? other : signing).issue({ uri: of }, validFor);
      const keyOfCsr = isOwnKey ? key : (await signing.issue({ uri }, DAY)).key;
      const certificate = certificates.enrol({
        owner: { type: 'dataplane', dataplane: dataplane('redis-1'), binding: {} },
        key: { type: 'file', csr: await createCsr(keyOfCsr), path: '/key.pem' },
        shown: new X509Certificate(chain),
        renewed: () => undefined,
      });
      await settle();
      return { state, certificate, chain: chain + signing.certificate, pass, signer };
    }
    interface Shown {
      readonly by?: 'signing' | 'other';
      readonly of?: string;
      readonly validFor?: number;
      readonly isOwnKey?: boolean;
    }

    it('is served again as it was signed, and renewed when its time comes', async () => {
      const { state, certificate, chain, pass, signer } = await shown({});
      expect([certificate.current()?.chain, state.signed, signer.signed]).toEqual([chain, 0, 0]);
      await pass(DAY / 2);
      expect([state.signed, signer.signed]).toEqual([1, 1]);
    });

    it.each<[string, Shown]>([
      ['of another authority', { by: 'other' }],
      ['of another id', { of: 'spiffe://default.east.mesh.local/ns/default/sa/web' }],
      ['that is to be renewed', { validFor: HOUR / 2 }],
      ['for another key', { isOwnKey: false }],
    ])('is signed anew where it is one %s', async (_, how) => {
      const { state, certificate } = await shown(how);
      expect([state.signed, certificate.current()?.chain]).toEqual([1, `1 ${state.authority}`]);
    });
  });
});
