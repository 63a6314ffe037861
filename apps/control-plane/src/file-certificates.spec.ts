import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, createServerCertificate } from '@causeway/access';
import { FakeClock, silentLogger } from '@causeway/runtime';
import { presentedCertificate, serveTls } from '../../../test/support/tls-server';
import { FileCertificates } from './file-certificates';

const NOW = Date.now();
const LOCAL = ['localhost', '127.0.0.1'];

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
    const server = await serveTls(certificates);
    expect(await presentedCertificate(server.port, first)).toMatchObject({ subject: { CN: 'Causeway global' } });
    const second = await writePair();
    clock.advance(5_000);
    expect(await presentedCertificate(server.port, second)).toMatchObject({ subject: { CN: 'Causeway global' } });
    expect(await presentedCertificate(server.port, first)).toMatch(/SELF_SIGNED|UNABLE_TO/);
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
