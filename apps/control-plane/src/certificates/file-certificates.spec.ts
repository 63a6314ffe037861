import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, createServerCertificate } from '@causeway/access/testing';
import { silentLogger } from '@causeway/runtime';
import { presentedCertificate, serveTls } from '../../../../test/support/tls-server';
import { FileCertificates } from './file-certificates';

const NOW = Date.now();
const LOCAL = ['localhost', '127.0.0.1'];

describe("an operator's own certificate", () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-tls-'));
  const [certificateFile, keyFile] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const checks = new Set<() => void>();
  const check = (): void => checks.forEach((listener) => listener());
  const reload = {
    onCheck: (listener: () => void) => {
      checks.add(listener);
      return () => void checks.delete(listener);
    },
  };
  const open = (now = NOW): FileCertificates =>
    new FileCertificates({ certificateFile, keyFile, clock: { now: () => now }, logger: silentLogger, reload });

  async function writePair(chained = true, now = NOW): Promise<string> {
    const authority = await createAuthority(now);
    const { certificate, privateKey } = await createServerCertificate(authority, { names: LOCAL, now });
    writeFileSync(certificateFile, chained ? `${certificate}\n${authority.certificate}\n` : certificate);
    writeFileSync(keyFile, privateKey);
    return authority.certificate;
  }

  it('is shown, and its successor from the next look on', async () => {
    const first = await writePair();
    const certificates = open();
    const server = await serveTls(certificates);
    expect(await presentedCertificate(server.port, first)).toMatchObject({ subject: { CN: 'Causeway global' } });
    const second = await writePair();
    check();
    expect(await presentedCertificate(server.port, second)).toMatchObject({ subject: { CN: 'Causeway global' } });
    expect(await presentedCertificate(server.port, first)).toMatch(/SELF_SIGNED|UNABLE_TO/);
    server.stop();
    certificates.close();
    expect(checks.size).toBe(0);
  });

  it('stays while its files do not fit together', async () => {
    await writePair();
    const certificates = open();
    const former = certificates.current();
    const other = await createServerCertificate(await createAuthority(NOW), { names: LOCAL, now: NOW });
    writeFileSync(certificateFile, other.certificate);
    check();
    expect(certificates.current()).toBe(former);
    writeFileSync(keyFile, other.privateKey);
    check();
    expect(certificates.current()).toEqual({ certificate: other.certificate, privateKey: other.privateKey });
    certificates.close();
  });

  it('stays where its successor has ended already, or where a part of its chain is damaged', async () => {
    await writePair();
    const certificates = open();
    const former = certificates.current();
    await writePair(true, NOW - 100 * 24 * 3_600_000);
    check();
    expect([certificates.current(), certificates.fault()]).toEqual([
      former,
      expect.stringMatching(/^the certificate in \S+server\.crt has ended at \d{4}-/),
    ]);
    await writePair();
    const block = '-----BEGIN CERTIFICATE-----\nQUFB\n-----END CERTIFICATE-----\n';
    writeFileSync(certificateFile, `${readFileSync(certificateFile, 'utf8')}${block}`);
    check();
    expect([certificates.current(), certificates.fault()]).toEqual([
      former,
      expect.stringContaining('must hold a certificate and its key in PEM'),
    ]);
    certificates.close();
  });

  it('names its authority only where its file ends with it', async () => {
    const authority = await writePair();
    expect(open().authority()?.trim()).toBe(authority.trim());
    await writePair(false);
    expect(open().authority()).toBeUndefined();
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
    expect(() => open()).toThrow(wanted);
  });
});
