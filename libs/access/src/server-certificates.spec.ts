import { X509Certificate } from 'node:crypto';
import { coreKinds } from '@causeway/kinds';
import { silentLogger, systemClock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryDisk } from '@causeway/store/testing';
import { TestPlane } from '../../../test/support/test-plane';
import { presentedCertificate, serveTls } from '../../../test/support/tls-server';
import {
  AUTHORITY_SECRET,
  authorityText,
  createAuthority,
  createServerCertificate,
  parseAuthority,
  SERVER_VALIDITY,
} from './certificate-authority';
import { globalSecretId, putSecret, secretText } from './global-secrets';
import { SelfIssuedCertificates, type ServerCertificates } from './server-certificates';

const NOW = Date.now();
const LOCAL = ['localhost', '127.0.0.1'];

describe('certificates', () => {
  it('of a server are signed by the authority, for all its names', async () => {
    const authority = await createAuthority(NOW);
    const { certificate } = await createServerCertificate(authority, {
      names: ['global', '10.1.2.3', '::1'],
      now: NOW,
    });
    const [root, server] = [new X509Certificate(authority.certificate), new X509Certificate(certificate)];
    expect([root.ca, server.ca]).toEqual([true, false]);
    expect(server.checkIssued(root) && server.verify(root.publicKey)).toBe(true);
    expect(server.checkHost('global')).toBe('global');
    expect(server.checkHost('elsewhere')).toBeUndefined();
    expect([server.checkIP('10.1.2.3'), server.checkIP('::1'), server.checkIP('10.1.2.4')]).toEqual([
      '10.1.2.3',
      '::1',
      undefined,
    ]);
    expect(Date.parse(root.validTo) - NOW).toBeGreaterThan(9.9 * 365 * 24 * 3_600_000);
  });

  it.each([
    ['nothing', '', 'it must hold a certificate and its private key, both in PEM'],
    ['no key', 'certificate', 'it must hold a certificate and its private key, both in PEM'],
    ['the key of another', 'other key', 'its key is not that of its certificate'],
    ['a server', 'server', /^its certificate is not that of an authority/],
    ['one that has ended', 'ended', /^its certificate ended on /],
    ['one in order', 'good', /^in order$/],
  ])('an authority that is %s', async (_, what, wanted) => {
    const authority = await createAuthority(NOW);
    const server = await createServerCertificate(authority, { names: LOCAL, now: NOW });
    const other = await createAuthority(NOW);
    const texts: Record<string, string> = {
      certificate: authority.certificate,
      'other key': authorityText({ ...authority, privateKey: other.privateKey }),
      server: authorityText(server),
    };
    const text = texts[what] ?? (what === '' ? '' : authorityText(authority));
    const plane = new TestPlane({ role: 'global' });
    await plane.write([
      putSecret(coreKinds, { name: AUTHORITY_SECRET, text: text === '' ? ' ' : text, expect: 'any' }),
    ]);
    const secret = await plane.holds(globalSecretId(AUTHORITY_SECRET));
    const reading = parseAuthority(secret, what === 'ended' ? NOW + 3_651 * 24 * 3_600_000 : NOW);
    expect(reading.ok ? 'in order' : reading.reason).toMatch(wanted);
    await plane.close();
  });
});

describe("a global's own certificates", () => {
  const disk = new MemoryDisk();
  let plane: TestPlane;
  const open = (at: TestPlane, names = LOCAL, clock = systemClock): Promise<SelfIssuedCertificates> =>
    SelfIssuedCertificates.open({
      store: at.store,
      index: at.index,
      registry: coreKinds,
      logger: silentLogger,
      clock,
      names: () => [...names],
    });
  const changed = (certificates: ServerCertificates): Promise<void> =>
    new Promise((resolve) => {
      const stop = certificates.onChange(() => {
        stop();
        resolve();
      });
    });

  beforeEach(() => {
    plane = new TestPlane({ role: 'global' }, disk);
  });
  afterEach(() => plane.close());

  it('are trusted by who has the authority, on every replica and after every restart', async () => {
    const second = new TestPlane({ role: 'global' }, disk);
    const [one, two] = await Promise.all([open(plane), open(second)]);
    expect(two.authority()).toBe(one.authority());
    for (const certificates of [one, two, await open(plane)]) {
      const server = await serveTls(certificates);
      expect(await presentedCertificate(server.port, one.authority())).toMatchObject({
        subject: { CN: 'Causeway global' },
      });
      expect(await presentedCertificate(server.port, one.authority(), 'elsewhere')).toBe(
        'ERR_TLS_CERT_ALTNAME_INVALID',
      );
      expect(await presentedCertificate(server.port, (await createAuthority(NOW)).certificate)).toMatch(
        /SELF_SIGNED|UNABLE_TO/,
      );
      server.stop();
      certificates.close();
    }
    await second.close();
  });

  it('are replaced while they serve when the secret holds another authority', async () => {
    const certificates = await open(plane);
    const server = await serveTls(certificates);
    const former = certificates.authority();
    const authority = await createAuthority(NOW);
    const replaced = changed(certificates);
    await plane.write([
      putSecret(coreKinds, { name: AUTHORITY_SECRET, text: authorityText(authority), expect: 'any' }),
    ]);
    await replaced;
    expect(certificates.authority().trim()).toBe(authority.certificate.trim());
    expect(await presentedCertificate(server.port, certificates.authority())).toMatchObject({
      subject: { CN: 'Causeway global' },
    });
    expect(await presentedCertificate(server.port, former)).toMatch(/SELF_SIGNED|UNABLE_TO/);
    const both = former + certificates.authority();
    expect(await presentedCertificate(server.port, both)).toMatchObject({ subject: { CN: 'Causeway global' } });
    server.stop();
    certificates.close();
  });

  it('are issued again when the authority is deleted', async () => {
    const certificates = await open(plane);
    const former = certificates.authority();
    const replaced = changed(certificates);
    await plane.write([{ type: 'delete', id: globalSecretId(AUTHORITY_SECRET), expect: 'any' }]);
    await replaced;
    expect(certificates.authority()).not.toBe(former);
    expect(secretText(await plane.holds(globalSecretId(AUTHORITY_SECRET)))).toContain(certificates.authority().trim());
    certificates.close();
  });

  it('stay as they are while the secret holds no authority; a start then serves until it is mended', async () => {
    const certificates = await open(plane);
    const [former, text] = [certificates.current(), secretText(await plane.holds(globalSecretId(AUTHORITY_SECRET)))];
    await plane.write([putSecret(coreKinds, { name: AUTHORITY_SECRET, text: 'no authority', expect: 'any' })]);
    const started = await open(plane);
    expect(certificates.current()).toBe(former);
    expect(started.authority()).not.toBe(certificates.authority());
    const mended = changed(started);
    await plane.write([putSecret(coreKinds, { name: AUTHORITY_SECRET, text: text, expect: 'any' })]);
    await mended;
    expect(started.authority()).toBe(certificates.authority());
    certificates.close();
    started.close();
  });

  it('are renewed at half their validity, by the same authority', async () => {
    const clock = new FakeClock(NOW);
    const certificates = await open(plane, LOCAL, clock);
    const [first, authority] = [certificates.current(), certificates.authority()];
    const renewed = changed(certificates);
    clock.advance(SERVER_VALIDITY / 2 + 3_600_000);
    await renewed;
    expect(certificates.current()).not.toBe(first);
    expect(certificates.authority()).toBe(authority);
    certificates.close();
  });

  it('are issued again when this machine has another address', async () => {
    const clock = new FakeClock(NOW);
    const names = [...LOCAL];
    const certificates = await open(plane, names, clock);
    const renewed = changed(certificates);
    names.push('10.0.0.9');
    clock.advance(3_600_000);
    await renewed;
    expect(new X509Certificate(certificates.current().certificate).checkIP('10.0.0.9')).toBe('10.0.0.9');
    certificates.close();
  });
});
