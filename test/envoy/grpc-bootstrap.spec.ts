import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { register } from '@grpc/grpc-js-xds';
import { freePort } from '../../scripts/lib/ports.mjs';
import { runAsAdmin, type Ran } from '../ctl/run-causeway';
import { GrpcProgram, looseTimers, plainCall } from '../support/grpc-workload';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

const TARGET = 'sni.msvc.default.east.greeter.grpc';

/** The built command line tool, a zone and unmodified gRPC programs (grpc-js-xds). */
describe('causeway proxies bootstrap --grpc', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bootstrap-'));
  const stops: (() => void)[] = [() => rmSync(folder, { recursive: true })];
  let database: TestDatabase;
  let zone: ZoneProgram;
  let at = '';

  const run = (...args: readonly string[]): Promise<Ran> => runAsAdmin(zone.restUrl, ['proxies', ...args]);
  const xds = (): string => `127.0.0.1:${zone.xds.address.port}`;
  const text = (name: string, file: string): string => readFileSync(join(folder, name, file), 'utf8');
  const leaf = (name: string): X509Certificate => new X509Certificate(text(name, 'certificate.pem'));
  const bootstrap = (name: string, ...more: readonly string[]): Promise<Ran> =>
    run('bootstrap', `default/${name}`, '--grpc', '--xds', xds(), '-d', join(folder, name), ...more);

  beforeAll(async () => {
    register();
    stops.push(looseTimers());
    database = await createTestDatabase();
    zone = await ZoneProgram.start({ DATABASE_URL: database.url });
    await zone.untilLeading();
    const port = await freePort();
    at = `127.0.0.1:${port}`;
    const inbound = [{ port, name: 'grpc', protocol: 'grpc', tags: { 'kuma.io/service': 'greeter' } }];
    for (const [name, of] of [
      ['greeter-1', inbound],
      ['client-1', []],
    ] as const)
      await zone.put(`/meshes/default/dataplanes/${name}`, {
        type: 'Dataplane',
        mesh: 'default',
        name,
        networking: { address: '127.0.0.1', inbound: of },
      });
    const settled = async (): Promise<boolean> => {
      const answer = await adminFetch(`${zone.restUrl}/meshes/default/meshservices/greeter`);
      return JSON.stringify(await answer.json()).includes('/workload/greeter-1');
    };
    await until('the service has its identity', settled);
  });
  afterAll(async () => {
    stops.reverse().forEach((stop) => stop());
    await zone.stop();
    await database.drop();
  });

  it('writes what gRPC programs start with, which call each other by mutual TLS, also after a renewal', async () => {
    for (const name of ['greeter-1', 'client-1']) {
      const file = join(folder, name, 'grpc.json');
      expect(await bootstrap(name)).toEqual({ code: 0, err: '', out: `GRPC_XDS_BOOTSTRAP=${file}\n` });
      for (const own of ['key.pem', 'grpc.json', 'certificate.pem', 'authorities.pem'])
        expect(statSync(join(folder, name, own)).mode & 0o777).toBe(0o600);
      expect(leaf(name).subjectAltName).toBe(`URI:spiffe://default.east.mesh.local/workload/${name}`);
    }
    const programs = ['greeter-1', 'client-1'].map((name) => new GrpcProgram(text(name, 'grpc.json')));
    const [server, client] = programs as [GrpcProgram, GrpcProgram];
    stops.push(...programs.map((program) => () => program.stop()));
    await server.serve('greeter', at);
    const call = client.channel(TARGET);
    await until('an answer', async () => (await call()) === 'greeter');
    expect(await plainCall(at)).toBe('UNAVAILABLE');
    const before = leaf('client-1').serialNumber;
    const renewed = await run('renew', '-d', join(folder, 'client-1'));
    expect(renewed).toMatchObject({ code: 0, err: '' });
    expect(renewed.out).toMatch(
      /^spiffe:\/\/default.east.mesh.local\/workload\/client-1 until \S+Z, to be renewed from \S+Z\n$/,
    );
    expect(leaf('client-1').serialNumber).not.toBe(before);
    // Of the same key, which a program may read at another moment than the certificate.
    expect(leaf('client-1').checkPrivateKey(createPrivateKey(text('client-1', 'key.pem')))).toBe(true);
    expect(await call()).toBe('greeter');
    await until('they are known', () => zone.xds.proxies().length === 2);
  });

  it('says what is wrong: no such Dataplane, no control plane, no folder, a token that holds no longer', async () => {
    expect(await bootstrap('nobody')).toMatchObject({ code: 1, err: expect.stringContaining('nobody') as string });
    expect(
      await run('bootstrap', '--grpc', '--ingress', 'a', '--token-file', '/dev/null', '--xds', xds()),
    ).toMatchObject({
      code: 2,
      err: expect.stringContaining('--grpc is for a Dataplane') as string,
    });
    expect(await run('renew', '-d', join(folder, 'nothing'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('grpc.json') as string,
    });
    const token = join(folder, 'token');
    writeFileSync(token, 'nonsense');
    expect(await bootstrap('client-1', '--token-file', token)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/no certificate: 127\.0\.0\.1:\d+: the dataplane token cannot be read/) as string,
    });
    const free = `127.0.0.1:${await freePort()}`;
    const away = await run('bootstrap', 'default/client-1', '--grpc', '--xds', free, '-d', join(folder, 'away'));
    expect(away).toMatchObject({
      code: 1,
      err: expect.stringContaining(`no certificate: ${free}: grpc://${free}`) as string,
    });
    const both = ['--xds', `${free},${xds()}`, '-d', join(folder, 'both')];
    expect(await run('bootstrap', 'default/client-1', '--grpc', ...both)).toMatchObject({ code: 0 });
  });
});
