import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { Agent, get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';
import { TestAuthority, type TestCertificate } from '../support/test-authority';
import { until } from '../support/until';

const LISTENERS = ['REST', 'gRPC', 'KDS', 'xDS'] as const;
type Listener = (typeof LISTENERS)[number];

/** The fingerprint of the certificate that new connections see. */
function shownAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

/** An open HTTP/2 connection. */
class HeldSession {
  private constructor(private readonly session: ClientHttp2Session) {}

  static open(port: number): Promise<HeldSession> {
    return new Promise((resolve, reject) => {
      const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
      session.once('connect', () => resolve(new HeldSession(session))).on('error', reject);
    });
  }

  /** Whether the server answers on it. */
  isAnswered(): Promise<boolean> {
    return new Promise((resolve) => {
      if (!this.session.ping((error) => resolve(error === null))) resolve(false);
    });
  }

  close(): void {
    this.session.destroy();
  }
}

describe('certificates from files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-replaced-'));
  const files = { chain: join(folder, 'chain.pem'), key: join(folder, 'key.pem'), ca: join(folder, 'ca.pem') };
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  let databases: readonly TestDatabase[];
  let authority: TestAuthority;
  let global: ProcessPlane;
  let zone: ProcessPlane;

  const issue = (): Promise<TestCertificate> => authority.issue({ dns: 'localhost', ip: '127.0.0.1' });
  const write = ({ chain, key }: TestCertificate): void => {
    writeFileSync(files.chain, chain);
    writeFileSync(files.key, key, { mode: 0o600 });
  };
  const filesOf = (port: string) => ({
    [`CAUSEWAY_${port}_TLS_CERT_FILE`]: files.chain,
    [`CAUSEWAY_${port}_TLS_KEY_FILE`]: files.key,
  });
  const portOf = (listener: Listener): number => {
    const [rest, grpc] = [global.restUrl, global.grpcUrl].map((url) => Number(new URL(url).port));
    const [kds, xds] = [global.kdsAddress, zone.xdsAddress].map((address) => Number(address.split(':')[1]));
    return { REST: rest ?? 0, gRPC: grpc ?? 0, KDS: kds ?? 0, xDS: xds ?? 0 }[listener];
  };
  const shown = (): Promise<readonly string[]> => Promise.all(LISTENERS.map((each) => shownAt(portOf(each))));
  const reload = (): void => [global, zone].forEach((plane) => plane.signal('SIGHUP'));
  /** Returns the warnings of the diagnostics ports. */
  const warnings = async (): Promise<string> => {
    const answers = [global, zone].map(async ({ diagnosticsUrl }) => (await fetch(`${diagnosticsUrl}/ready`)).text());
    return (await Promise.all(answers)).join('\n');
  };
  /** The socket of a request to REST by the agent, which keeps it. */
  const restSocket = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get(`${global.restUrl}/`, { agent }, (answer) => {
        const { localPort } = answer.socket;
        answer.resume().on('end', () => resolve(localPort));
      }).on('error', reject);
    });
  const session = async (): Promise<string | undefined> =>
    /"session":\d+/.exec(JSON.stringify(await zone.get('/zones/east/_overview')))?.[0];

  beforeAll(async () => {
    databases = await Promise.all([createMigratedDatabase(), createMigratedDatabase()]);
    const [one, two] = databases.map(({ url }) => ({ DATABASE_URL: url }));
    authority = await TestAuthority.create('files');
    writeFileSync(files.ca, authority.certificate);
    write(await issue());
    global = await ProcessPlane.start('global', 'global', {
      ...one,
      CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1',
      CAUSEWAY_KDS_AUTH: 'none',
      ...filesOf('REST'),
      ...filesOf('GRPC'),
      ...filesOf('KDS'),
    });
    zone = await ProcessPlane.start('zone', 'east', {
      ...two,
      ...filesOf('XDS'),
      CAUSEWAY_GLOBAL_ADDRESS: `grpcs://${global.kdsAddress}`,
      CAUSEWAY_GLOBAL_CA_FILE: files.ca,
    });
    await until('the zone has its session', session);
  });
  afterAll(async () => {
    agent.destroy();
    await Promise.all([global, zone].map((plane) => plane.stop()));
    await Promise.all(databases.map((database) => database.drop()));
    rmSync(folder, { recursive: true });
  });

  it('are replaced for new connections of each listener, and open ones stay', async () => {
    const before = await shown();
    const held = await Promise.all(LISTENERS.slice(1).map((each) => HeldSession.open(portOf(each))));
    const [socket, joined] = [await restSocket(), await session()];
    write(await issue());
    reload();
    await until('each listener shows the new one', async () => (await shown()).every((one) => !before.includes(one)));
    expect(await Promise.all(held.map((each) => each.isAnswered()))).toEqual([true, true, true]);
    expect([await restSocket(), await session()]).toEqual([socket, joined]);
    for (const each of held) each.close();
  });

  it.each<[string, (one: TestCertificate, other: TestCertificate) => TestCertificate, RegExp]>([
    ['whose key is of another', ({ chain }, { key }) => ({ chain, key }), /is not that of the certificate/],
    ['that is no PEM', ({ key }) => ({ chain: 'none', key }), /must hold a certificate and its key in PEM/],
  ])('are refused by each listener in a pair %s; the former pair stays, and is warned of', async (_, spoil, why) => {
    const before = await shown();
    const [one, other] = [await issue(), await issue()];
    write(spoil(one, other));
    reload();
    const isWarned = async (): Promise<boolean> => {
      const lines = (await warnings()).split('\n').filter((line) => why.test(line));
      return lines.length === LISTENERS.length;
    };
    await until('each listener warns', isWarned);
    expect(await shown()).toEqual(before);
    write(one);
    // Without SIGHUP: the files are looked at again by themselves.
    await until('each listener shows it', async () => (await shown()).every((now) => !before.includes(now)));
    expect(await warnings()).not.toMatch(why);
  });
});
