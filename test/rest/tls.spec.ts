import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { Agent, request, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SelfIssuedCertificates } from '@causeway/access';
import { createAuthority, createServerCertificate } from '@causeway/access/testing';
import { coreKinds } from '@causeway/kinds';
import { RestTls } from '@causeway/rest';
import { silentLogger, systemClock, type LogFields } from '@causeway/runtime';
import { FileCertificates } from '../../apps/control-plane/src/certificates/file-certificates';
import { restFixture, ZONE_EAST, type RestFixture } from './rest-fixture';

const LOCAL = ['localhost', '127.0.0.1'];
const NOW = Date.now();

/** The status of `GET /`, or the code of what went wrong. */
function status(options: RequestOptions, send = request): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    send({ host: '127.0.0.1', path: '/', agent: false, ...options }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    })
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EPROTO' ? error.message : error.code))
      .end();
  });
}

describe('REST over TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-rest-tls-'));
  const [certificateFile, keyFile] = [join(folder, 'server.crt'), join(folder, 'server.key')];
  const logged: LogFields[] = [];
  const logger = { ...silentLogger, warn: (_: string, fields: LogFields = {}) => void logged.push(fields) };
  let fixture: RestFixture;
  let tls: RestTls;

  beforeEach(async () => {
    logged.length = 0;
    tls = new RestTls({ clock: systemClock, logger });
    fixture = await restFixture({ cp: ZONE_EAST, tls });
  });
  afterEach(async () => {
    await fixture.close();
    tls.close();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Writes a certificate of a new authority and resolves with that authority. */
  async function writePair(): Promise<string> {
    const authority = await createAuthority(NOW);
    const { certificate, privateKey } = await createServerCertificate(authority, { names: LOCAL, now: NOW });
    writeFileSync(certificateFile, certificate);
    writeFileSync(keyFile, privateKey);
    return authority.certificate;
  }

  async function serveFiles(): Promise<{ readonly port: number; readonly ca: string; check(): void; close(): void }> {
    const ca = await writePair();
    let check = (): void => undefined;
    const onCheck = (listener: () => void) => {
      check = listener;
      return () => undefined;
    };
    const facts = { certificateFile, keyFile, clock: systemClock, logger: silentLogger };
    const certificates = new FileCertificates({ ...facts, reload: { onCheck } });
    tls.use(certificates);
    return { port: await fixture.server.listen('127.0.0.1', 0), ca, check, close: () => certificates.close() };
  }

  it('shows a certificate of the own authority of a zone, which stays in that zone', async () => {
    const { store, index } = fixture;
    const certificates = await SelfIssuedCertificates.open({
      store,
      index,
      registry: coreKinds,
      clock: systemClock,
      logger: silentLogger,
      cp: ZONE_EAST,
      names: () => LOCAL,
    });
    tls.use(certificates);
    const port = await fixture.server.listen('127.0.0.1', 0);
    const ca = certificates.authority();
    expect(await status({ port, ca })).toBe(200);
    expect(await status({ port, ca, servername: 'elsewhere' })).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
    expect(await status({ port, ca: (await createAuthority(NOW)).certificate })).toMatch(/SELF_SIGNED|UNABLE_TO/);
    const secrets = [...index.ofKind('GlobalSecret')].map(({ id, labels }) => [
      id.name,
      id.zone,
      labels['kuma.io/origin'],
    ]);
    expect(secrets).toEqual([['rest-tls-authority', 'east', 'zone']]);
    certificates.close();
  });

  it('uses replaced files for new connections and keeps open ones', async () => {
    const { port, ca: first, check, close } = await serveFiles();
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: first });
    expect(await status({ port, agent })).toBe(200);
    const second = await writePair();
    check();
    expect(await status({ port, ca: second })).toBe(200);
    expect(await status({ port, ca: first })).toMatch(/SELF_SIGNED|UNABLE_TO/);
    expect(await status({ port, agent })).toBe(200); // the connection from before
    agent.destroy();
    close();
  });

  it('ends a connection that speaks plain HTTP, says so once, and serves the others', async () => {
    const { port, ca, close } = await serveFiles();
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
    expect(await status({ port, agent })).toBe(200);
    expect(await status({ port }, plainRequest)).toMatch(/ECONNRESET|EPIPE|HPE_/);
    expect(await status({ port }, plainRequest)).toMatch(/ECONNRESET|EPIPE|HPE_/);
    expect(logged).toEqual([{ address: '127.0.0.1', reason: expect.stringContaining('https://') }]);
    expect(await status({ port, agent })).toBe(200);
    agent.destroy();
    close();
  });

  it('takes TLS 1.2 and nothing older', async () => {
    const { port, ca, close } = await serveFiles();
    const ciphers = 'DEFAULT:@SECLEVEL=0';
    expect(await status({ port, ca, ciphers, maxVersion: 'TLSv1.2' })).toBe(200);
    expect(await status({ port, ca, ciphers, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).toMatch(
      /alert protocol version/,
    );
    close();
  });

  it('shows its authority only where it is its own', async () => {
    const answer = await fixture.server.inject({ url: '/rest/ca' });
    expect([answer.statusCode, answer.json().detail]).toEqual([
      404,
      expect.stringMatching(/^This server has no authority of its own/),
    ]);
    const own = await restFixture({ authority: () => 'PEM' });
    const { statusCode, headers, body } = await own.server.inject({ url: '/rest/ca' });
    expect([statusCode, headers['content-type'], body]).toEqual([200, 'application/x-pem-file', 'PEM']);
    await own.close();
  });
});
