import { spawn, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ADMIN_TOKEN } from '../support/admin-credential';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { presentedCertificate } from '../support/tls-server';
import { ProcessPlane } from '../support/process-plane';

const ROOT = resolve(__dirname, '..', '..');

/** The authority that a control plane gives to everybody. */
function fetchAuthority(plane: ProcessPlane): Promise<string> {
  return new Promise((done, failed) => {
    get(`${plane.restUrl}/rest/ca`, { rejectUnauthorized: false, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => done(text));
    }).on('error', failed);
  });
}

/** Returns the output of the command line tool for the operator. */
function causeway(...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }> {
  const { PATH, NODE_OPTIONS } = process.env;
  const child = spawn(process.execPath, ['dist/apps/ctl/src/main.js', ...args], {
    cwd: ROOT,
    env: { PATH, NODE_OPTIONS, HOME: tmpdir(), CAUSEWAY_TOKEN: ADMIN_TOKEN },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((done) => child.on('close', (code) => done({ code, output })));
}

describe('control planes that serve REST over TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-rest-tls-'));
  const env = { CAUSEWAY_REST_TLS: 'on', CAUSEWAY_GRPC_TLS: 'on' };
  let databases: readonly TestDatabase[];
  let planes: readonly ProcessPlane[];

  beforeAll(async () => {
    databases = await Promise.all([createMigratedDatabase(), createMigratedDatabase()]);
    const [one, two] = databases.map(({ url }) => ({ ...env, DATABASE_URL: url }));
    planes = await Promise.all([
      ProcessPlane.start('global', 'global', { ...one, CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1' }),
      ProcessPlane.start('zone', 'east', { ...two }),
    ]);
  });
  afterAll(async () => {
    await Promise.all(planes.map((plane) => plane.stop()));
    await Promise.all(databases.map((database) => database.drop()));
    rmSync(folder, { recursive: true });
  });

  it.each([
    [0, 'global', 'CN=Causeway zones'],
    [1, 'zone', 'OU=east'],
  ])('are reached by the tool with the authority that they give (%s, %s)', async (index, _role, subject) => {
    const plane = planes[index];
    if (!plane) throw new Error('it did not start');
    expect(plane.restUrl).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    const pem = await fetchAuthority(plane);
    expect(new X509Certificate(pem).subject).toContain(subject);
    const file = join(folder, `${index}.pem`);
    writeFileSync(file, pem);
    const grpc = Number(new URL(plane.grpcUrl).port);
    expect(await presentedCertificate(grpc, pem)).toMatchObject({ issuer: { O: 'Causeway' } });
    const trusted = await causeway('-s', plane.restUrl, '--ca-file', file, 'get', 'meshes');
    expect(trusted).toEqual({ code: 0, output: expect.stringContaining('default') });
    const blind = await causeway('-s', plane.restUrl, 'get', 'meshes');
    expect([blind.code, blind.output]).not.toEqual([0, expect.anything()]);
    expect(blind.output).toContain('unknown authority');
  });
});

it.each([
  [
    'a certificate of gRPC without its key',
    { CAUSEWAY_GRPC_TLS_CERT_FILE: 'x' },
    'CAUSEWAY_GRPC_TLS_CERT_FILE and CAUSEWAY_GRPC_TLS_KEY_FILE must be given together',
  ],
])('%s is refused in one line', (_, own, line) => {
  const { PATH, NODE_OPTIONS } = process.env;
  const { status, stderr } = spawnSync(process.execPath, ['dist/apps/zone/src/main.js'], {
    cwd: ROOT,
    env: { PATH, NODE_OPTIONS, DATABASE_URL: 'postgres://a@127.0.0.1:1/a', CAUSEWAY_ZONE_NAME: 'east', ...own },
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([2, `causeway: ${line}\n`]);
});
