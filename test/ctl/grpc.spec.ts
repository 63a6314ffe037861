import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerCertificates } from '@causeway/access';
import { createAuthority, createServerCertificate } from '@causeway/access/testing';
import { GrpcFixture, OPERATOR_TOKEN } from '../grpc/grpc-fixture';
import { restFixture, serviceId, ZONE_EAST } from '../rest/rest-fixture';
import { until } from '../support/until';
import { PROGRAM, runCauseway, type Ran } from './run-causeway';

const service = (name: string, spec = 'ports: [{port: 6379}]'): string =>
  `type: MeshService\nmesh: default\nname: ${name}\nlabels: {team: db}\nspec:\n  selector: {dataplaneTags: {app: ${name}}}\n  ${spec}\n`;
const dataplane = `type: Dataplane
mesh: default
name: redis-1
spec: {networking: {address: 10.0.0.1, inbound: [{port: 6379, tags: {app: redis, kuma.io/service: redis}}]}}
`;
const generator = `type: HostnameGenerator
name: local
spec: {selector: {meshService: {}}, template: '{{ name }}.mesh'}
`;

describe('causeway over gRPC', () => {
  let grpc: GrpcFixture;
  let server: string;
  let folder: string;

  beforeAll(async () => {
    grpc = await GrpcFixture.open({
      cp: ZONE_EAST,
      open: false,
      rates: { user: 500, address: 500 },
    });
    server = `grpc://${grpc.address}`;
    folder = mkdtempSync(join(tmpdir(), 'causeway-ctl-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await grpc.close();
  });

  const causeway = (args: readonly string[], stdin = '', token: string | undefined = OPERATOR_TOKEN): Promise<Ran> =>
    runCauseway(server, args, stdin, { CAUSEWAY_TOKEN: token });

  it('applies, shows, labels, compares, waits for and deletes resources', async () => {
    const all = await causeway(
      ['apply', '-f', '-'],
      [service('redis'), service('web'), dataplane, generator].join('---\n'),
    );
    expect(all).toEqual({
      code: 0,
      err: '',
      out: 'MeshService redis created\nMeshService web created\nDataplane redis-1 created\nHostnameGenerator local created\n',
    });
    expect((await causeway(['get', 'msvc', '-l', 'team=db'])).out).toMatch(/^ZONE +NAMESPACE .*\n.*redis .*\n.*web /);
    expect(JSON.parse((await causeway(['get', 'msvc/redis', '-o', 'json'])).out)).toMatchObject({ name: 'redis' });
    expect((await causeway(['label', 'msvc/redis', 'tier=cache'])).out).toBe('MeshService redis labelled\n');
    expect(grpc.index.get(serviceId('redis'))?.labels).toMatchObject({ team: 'db', tier: 'cache' });
    const change = await causeway(['diff', '-f', '-'], service('redis', 'ports: [{port: 6380}]'));
    expect([change.code, change.out]).toEqual([1, expect.stringMatching(/would be updated\n[^]*\+.*6380/)]);
    expect((await causeway(['wait', 'msvc/redis', '--for=create'])).out).toBe('MeshService redis created\n');
    expect((await causeway(['instances', 'redis'])).out).toMatch(/redis-1 +east +Ready +10\.0\.0\.1/);
    expect((await causeway(['describe', 'dataplane', 'redis-1'])).out).toContain('MeshService redis');
    expect((await causeway(['describe', 'hg/local'])).out).toContain('shown over REST only');
    expect((await causeway(['explain', 'redis.mesh'])).out).toMatch(
      /1 +MeshService .*redis +local \(east\) +Available/,
    );
    expect((await causeway(['vips'])).out).toMatch(/\(none yet\) .* redis\n/);
    const listed = await causeway(['__complete', 'fish', '--', 'get', 'msvc', 'r']);
    expect(listed.out).toBe('redis\n');
    expect((await causeway(['delete', 'msvc', 'web', 'nope'])).out).toBe('MeshService web deleted\n');
    const [pruned] = [await causeway(['apply', '--prune', '-l', 'team=db', '-f', '-'], service('kept'))];
    expect(pruned?.out).toBe('MeshService kept created\nMeshService redis deleted\n');
  });

  it('edits a resource, and refuses one that was renamed', async () => {
    await causeway(['apply', '-f', '-'], service('edited'));
    const editor = (script: string): Promise<Ran> =>
      runCauseway(server, ['edit', 'msvc/edited'], '', {
        CAUSEWAY_TOKEN: OPERATOR_TOKEN,
        VISUAL: '',
        EDITOR: `sh -c '${script}' sh`,
      });
    expect((await editor('sed -i s/6379/6400/ "$1"')).out).toBe('MeshService edited updated\n');
    expect(grpc.index.get(serviceId('edited'))?.spec).toMatchObject({ ports: [{ port: 6400 }] });
    const renamed = await editor(
      'if grep -q "^# It was not" "$1"; then : > "$1"; else sed -i s/edited/other/ "$1"; fi',
    );
    expect([renamed.code, renamed.err]).toEqual([1, 'nothing was written\n']);
    expect(grpc.index.get(serviceId('other'))).toBeUndefined();
  });

  it('shows the place of an error, all or nothing, and doubles, as over REST', async () => {
    const path = join(folder, 'bad.yaml');
    writeFileSync(path, `${service('good')}---\n${service('bad', 'ports: [{port: 99999}]')}`);
    const each = await causeway(['apply', '--atomic', '-f', path]);
    expect([each.code, each.out]).toEqual([1, '']);
    expect(each.err).toContain(`${path}:15:12: MeshService bad: spec.ports[0].port: must be 1 to 65535; got 99999`);
    expect(each.err).toContain('nothing was written: 1 of 2 documents refused');
    const double = await causeway(['apply', '-f', '-'], `${service('twice')}---\n${service('twice')}`);
    expect(double.err).toContain('-:3:1: MeshService twice: stands twice; the other is at -:11:1');
    const missing = await causeway(['get', 'msvc', 'nope']);
    expect([missing.code, missing.err]).toEqual([1, expect.stringMatching(/^Not found: .*nope/)]);
  });

  it('watches: what is there, then each change', async () => {
    await causeway(['apply', '-f', '-'], service('watched'));
    const args = [PROGRAM, '-s', server, '--token', OPERATOR_TOKEN, 'get', 'msvc', 'watched', '-w', '-o', 'name'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (printed += text));
    await until('what is there', () => printed === 'meshservice/watched put\n');
    await causeway(['delete', 'msvc/watched']);
    await until('the change', () => printed === 'meshservice/watched put\nmeshservice/watched delete\n');
    const ended = new Promise<number | null>((done) => child.once('close', done));
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  it.each([
    ['zones', ['zones']],
    ['audit', ['audit']],
    ['dig', ['dig', 'redis.mesh']],
    ['doctor', ['doctor']],
    ['hostnames', ['hostnames']],
    ['auth can-i', ['auth', 'whoami']],
    ['tokens', ['tokens', 'list', '--users']],
  ])('says in one line that %s needs REST', async (_, args) => {
    const { code, out, err } = await causeway(args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^grpc:\/\/\S+ is a gRPC address, and only REST answers this \(\S+\): .*\n$/);
  });

  it('is asked by the context in use, with its token and its mesh', async () => {
    await causeway(['apply', '-f', '-'], service('known'));
    const own = { CAUSEWAY_CONTEXTS_FILE: join(folder, 'contexts.json') };
    const inContext = (args: readonly string[], stdin = ''): Promise<Ran> => runCauseway('', args, stdin, own);
    const made = await inContext(['config', 'set-context', 'east', '-s', server, '--token', '-'], OPERATOR_TOKEN);
    expect(made.out).toBe('context east created, and in use\n');
    expect((await inContext(['config', 'get-contexts'])).out).toContain(server);
    expect((await inContext(['get', 'msvc/known', '-o', 'name'])).out).toBe('meshservice/known\n');
    expect((await inContext(['zones'])).err).toContain('is a gRPC address, and only REST answers this');
    await inContext(['config', 'set-context', 'elsewhere', '-s', server, '-m', 'nowhere', '--token', OPERATOR_TOKEN]);
    const elsewhere = await inContext(['--context', 'elsewhere', 'get', 'msvc/known']);
    expect([elsewhere.code, elsewhere.err]).toEqual([1, expect.stringMatching(/^Not found: .*nowhere/)]);
    // A server that is named gets the token of the context for exactly this server.
    expect((await inContext(['-s', server, 'get', 'msvc/known', '-o', 'name'])).out).toBe('meshservice/known\n');
    const otherName = server.replace('127.0.0.1', 'localhost');
    expect((await inContext(['-s', otherName, 'get', 'msvc/known'])).err).toMatch(/^Unauthorized: /);
  });

  it('says what is wrong with the caller, its rate and the connection', async () => {
    const nobody = await causeway(['get', 'msvc'], '', '');
    expect(nobody.code).toBe(1);
    expect(nobody.err).toMatch(/^Unauthorized: .*\n {2}a token comes from --token/);
    const away = await runCauseway('grpc://127.0.0.1:9', ['get', 'msvc']);
    expect(away).toMatchObject({ code: 1, err: expect.stringMatching(/^cannot reach grpc:\/\/127\.0\.0\.1:9: is /) });
    const watch = await runCauseway('grpc://127.0.0.1:9', ['get', 'msvc', '-w']);
    expect([watch.code, watch.err]).toEqual([1, expect.stringMatching(/^cannot reach /)]);
  });
});

describe('causeway over gRPC, limited and with TLS', () => {
  it('says that there are too many requests and when to try again, as over REST', async () => {
    const rates = { user: 1, address: 1 };
    const grpc = await GrpcFixture.open({ open: false, rates });
    const rest = await restFixture({ access: { operatorToken: OPERATOR_TOKEN, open: false, rates } });
    try {
      const restUrl = `http://127.0.0.1:${await rest.server.listen('127.0.0.1', 0)}`;
      for (const server of [`grpc://${grpc.address}`, restUrl]) {
        const many = ['get', 'msvc,dp,hg,meshes'];
        const { code, err } = await runCauseway(server, many, '', { CAUSEWAY_TOKEN: OPERATOR_TOKEN });
        expect([code, err]).toEqual([1, expect.stringMatching(/^Too many requests: user .*; try again in 1s\n$/)]);
      }
    } finally {
      await Promise.all([grpc.close(), rest.close()]);
    }
  });

  it('verifies the server by --ca-file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-ctl-'));
    const now = Date.now();
    const authority = await createAuthority(now);
    const key = await createServerCertificate(authority, { now, names: ['127.0.0.1'] });
    const certificates: ServerCertificates = {
      current: () => key,
      authority: () => authority.certificate,
      fault: () => undefined,
      onChange: () => () => undefined,
      close: () => undefined,
    };
    const grpc = await GrpcFixture.open({ certificates });
    const file = join(folder, 'ca.pem');
    writeFileSync(file, authority.certificate);
    const server = `grpcs://${grpc.address}`;
    try {
      expect((await runCauseway(server, ['get', 'meshes'])).err).toContain('--ca-file FILE');
      expect((await runCauseway(server, ['--ca-file', file, 'get', 'meshes'])).out).toMatch(/NAME.*\ndefault/);
      expect((await runCauseway(server, ['--insecure-skip-tls-verify', 'get', 'meshes'])).code).toBe(0);
    } finally {
      await grpc.close();
      rmSync(folder, { recursive: true });
    }
  });
});
