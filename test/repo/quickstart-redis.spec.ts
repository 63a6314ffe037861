import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createRedisLock } from '@causeway/leader-redis';
import { silentLogger } from '@causeway/runtime';
import { hasRedisServer } from '../../scripts/lib/redis.mjs';
import { describeWith } from '../dns/programs';
import { until } from '../support/until';

const root = join(__dirname, '..', '..');

/** Starts the demo's Redis in a state folder, prints the settings of control planes for it, and ends with its stdin. */
const STARTER = `
import { provideLeaderLock } from ${JSON.stringify(pathToFileURL(join(root, 'scripts/quickstart/services.mjs')).href)};
import { Parts } from ${JSON.stringify(pathToFileURL(join(root, 'scripts/quickstart/parts.mjs')).href)};
const parts = new Parts();
const { env } = await provideLeaderLock({ dataDir: process.argv[2] }, parts);
const [{ pid }] = parts.list();
console.log(JSON.stringify({ env, pid }));
process.stdin.resume().once('end', async () => {
  await parts.stop();
  process.exit(0);
});
`;

interface Started {
  readonly env: Record<string, string>;
  readonly pid: number;
}

describeWith(
  'redis-server',
  hasRedisServer(),
  'apt-get install redis-server',
)("the demo's Redis", () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-redis-'));
  const dataDir = join(folder, 'state');
  let starter: ChildProcess | undefined;
  let first: URL;
  afterEach(async () => {
    const ended = starter && new Promise((resolve) => starter?.once('exit', resolve));
    starter?.stdin?.end();
    await ended;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  async function start(): Promise<Started> {
    const file = join(folder, 'starter.mjs');
    writeFileSync(file, STARTER);
    const child = spawn(process.execPath, [file, dataDir], { stdio: ['pipe', 'pipe', 'inherit'] });
    starter = child;
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await until('Redis runs', () => said.endsWith('\n'));
    return JSON.parse(said) as Started;
  }

  const modeOf = (...path: string[]): number => statSync(join(dataDir, ...path)).mode & 0o777;
  const urlOf = ({ env }: Started): URL => new URL(readFileSync(env['REDIS_URL_FILE'] ?? '', 'utf8').trim());

  async function locks(url: string): Promise<unknown> {
    const lock = createRedisLock({ url, key: 'k', logger: silentLogger });
    try {
      await until('it is connected', () => lock.connected());
      return await lock.acquire('a', 60_000);
    } finally {
      lock.close();
    }
  }

  it('has a password, which stands in the state folder alone, for this account alone', async () => {
    const started = await start();
    expect(started.env).toEqual({ REDIS_URL_FILE: join(dataDir, 'redis', 'redis-url') });
    expect([modeOf('redis'), modeOf('redis', 'redis.conf'), modeOf('redis', 'redis-url')]).toEqual([
      0o700, 0o600, 0o600,
    ]);
    const url = (first = urlOf(started));
    expect(url.password).toMatch(/^[0-9a-f]{48}$/);
    const { stdout: processes } = await promisify(execFile)('ps', ['-ww', '-o', 'args=', '-p', String(started.pid)]);
    expect(processes).toContain('redis-server');
    expect(processes).not.toContain(url.password);

    const cli = (...args: string[]): Promise<{ stdout: string }> =>
      promisify(execFile)('redis-cli', ['-h', url.hostname, '-p', url.port, ...args]);
    expect((await cli('SET', 'causeway:leader:x', 'foreign')).stdout).toContain('NOAUTH');
    expect(await locks(url.href)).toBe(true);
  });

  it('keeps it over starts', async () => {
    const again = urlOf(await start());
    expect(again.password).toBe(first.password);
    expect(await locks(again.href)).toBe(true);
  });
});
