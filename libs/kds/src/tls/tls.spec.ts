import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { Server } from '@grpc/grpc-js';
import { FakeClock, silentLogger, systemClock } from '@causeway/runtime';
import { coreKinds } from '@causeway/kinds';
import { MemoryDisk } from '@causeway/store';
import { TestPlane } from '../../../../test/support/test-plane';
import { globalSecretId, putSecret, secretText } from '../auth/secret-text';
import { AUTHORITY_SECRET, authorityText, parseAuthority } from './authority-secret';
import { FileCertificates } from './file-certificates';
import { SelfIssuedCertificates } from './own-certificates';
import { tlsServerCredentials } from './server-credentials';
import type { ServerCertificates } from './server-certificates';
import { createAuthority, createServerCertificate, SERVER_VALIDITY } from './x509';

const NOW = Date.now();
const LOCAL = ['localhost', '127.0.0.1'];

/** What a server shows to somebody who trusts `ca`, or why it is not trusted. */
function shown(port: number, ca: string, servername = 'localhost'): Promise<PeerCertificate | string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ca, servername, ALPNProtocols: ['h2'] }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

async function serving(certificates: ServerCertificates): Promise<{ port: number; stop(): void }> {
  const server = new Server();
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', tlsServerCredentials(certificates), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { port, stop: () => server.forceShutdown() };
}

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
    await plane.write([putSecret(coreKinds, AUTHORITY_SECRET, text === '' ? ' ' : text, 'any')]);
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
      ...{ store: at.store, index: at.index, registry: coreKinds, logger: silentLogger, clock },
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
      const server = await serving(certificates);
      expect(await shown(server.port, one.authority())).toMatchObject({ subject: { CN: 'Causeway global' } });
      expect(await shown(server.port, one.authority(), 'elsewhere')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
      expect(await shown(server.port, (await createAuthority(NOW)).certificate)).toMatch(/SELF_SIGNED|UNABLE_TO/);
      server.stop();
      certificates.close();
    }
    await second.close();
  });

  it('are replaced while they serve when the secret holds another authority', async () => {
    const certificates = await open(plane);
    const server = await serving(certificates);
    const former = certificates.authority();
    const authority = await createAuthority(NOW);
    const replaced = changed(certificates);
    await plane.write([putSecret(coreKinds, AUTHORITY_SECRET, authorityText(authority), 'any')]);
    await replaced;
    expect(certificates.authority().trim()).toBe(authority.certificate.trim());
    expect(await shown(server.port, certificates.authority())).toMatchObject({ subject: { CN: 'Causeway global' } });
    expect(await shown(server.port, former)).toMatch(/SELF_SIGNED|UNABLE_TO/);
    const both = former + certificates.authority();
    expect(await shown(server.port, both)).toMatchObject({ subject: { CN: 'Causeway global' } });
    server.stop();
    certificates.close();
  });

  it('are made anew when the authority is deleted', async () => {
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
    await plane.write([putSecret(coreKinds, AUTHORITY_SECRET, 'no authority', 'any')]);
    const started = await open(plane);
    expect(certificates.current()).toBe(former);
    expect(started.authority()).not.toBe(certificates.authority());
    const mended = changed(started);
    await plane.write([putSecret(coreKinds, AUTHORITY_SECRET, text, 'any')]);
    await mended;
    expect(started.authority()).toBe(certificates.authority());
    certificates.close();
    started.close();
  });

  it('are renewed at half their life, by the same authority', async () => {
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

  it('are made anew when this machine has another address', async () => {
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

describe("an operator's own certificate", () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-tls-'));
  const [certificateFile, keyFile] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function writePair(chained = true): Promise<string> {
    const authority = await createAuthority(NOW);
    const { certificate, privateKey } = await createServerCertificate(authority, { names: LOCAL, now: NOW });
    writeFileSync(certificateFile, chained ? `${certificate}\n${authority.certificate}\n` : certificate);
    writeFileSync(keyFile, privateKey);
    return authority.certificate;
  }

  it('is shown, and its successor from the next look on', async () => {
    const clock = new FakeClock(NOW);
    const first = await writePair();
    const certificates = new FileCertificates({ certificateFile, keyFile, clock, logger: silentLogger });
    const server = await serving(certificates);
    expect(await shown(server.port, first)).toMatchObject({ subject: { CN: 'Causeway global' } });
    const second = await writePair();
    clock.advance(5_000);
    expect(await shown(server.port, second)).toMatchObject({ subject: { CN: 'Causeway global' } });
    expect(await shown(server.port, first)).toMatch(/SELF_SIGNED|UNABLE_TO/);
    server.stop();
    certificates.close();
    expect(clock.pending).toBe(0);
  });

  it('stays while its files do not fit together', async () => {
    const clock = new FakeClock(NOW);
    await writePair();
    const certificates = new FileCertificates({ certificateFile, keyFile, clock, logger: silentLogger });
    const former = certificates.current();
    const other = await createServerCertificate(await createAuthority(NOW), { names: LOCAL, now: NOW });
    writeFileSync(certificateFile, other.certificate);
    clock.advance(5_000);
    expect(certificates.current()).toBe(former);
    writeFileSync(keyFile, other.privateKey);
    clock.advance(5_000);
    expect(certificates.current()).toEqual({ certificate: other.certificate, privateKey: other.privateKey });
    certificates.close();
  });

  it('names its authority only where its file ends with it', async () => {
    const options = { certificateFile, keyFile, clock: new FakeClock(NOW), logger: silentLogger };
    const authority = await writePair();
    expect(new FileCertificates(options).authority()?.trim()).toBe(authority.trim());
    await writePair(false);
    expect(new FileCertificates(options).authority()).toBeUndefined();
  });

  it.each([
    ['are not there', async () => rmSync(keyFile), /ENOENT/],
    ['are no PEM', async () => writeFileSync(keyFile, 'key'), /must hold a certificate and its key in PEM/],
    [
      'do not belong together',
      async () => writeFileSync(keyFile, (await createAuthority(NOW)).privateKey),
      /the key in .* is not that of the certificate/,
    ],
  ])('is refused at the start when its files %s', async (_, spoil, wanted) => {
    await writePair();
    await spoil();
    const options = { certificateFile, keyFile, clock: new FakeClock(NOW), logger: silentLogger };
    expect(() => new FileCertificates(options)).toThrow(wanted);
  });
});
