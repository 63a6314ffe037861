/*
 * Health: tcp, http, grpc, command as another user; thresholds, damping; why a service is down is reported. Also:
 * libs/agent/src/health/health-state.spec.ts, test/scenarios/agent-leases.spec.ts, test/agent/agent.spec.ts.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server as NetServer } from 'node:net';
import { endianness, tmpdir } from 'node:os';
import { join } from 'node:path';
import { HealthCheckResponse_ServingStatus, HealthService } from '@causeway/proto-gen';
import { systemClock } from '@causeway/runtime';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { freePort } from '../../../../scripts/lib/ports.mjs';
import type { HealthCheckConfig } from '../config/schema';
import { until } from '../../../../test/support/until';
import { probeCommand } from './command-probe';
import { HealthChecks, type CheckedService } from './health-checks';
import { isListening, listListeningByPort, parseSocketTable } from './listening-sockets';
import { probeGrpc, probeHttp, probeTcp } from './probes';

const address = '127.0.0.1';
/** Time for what answers. */
const soon = (): AbortSignal => AbortSignal.timeout(60_000);
/** Time for what never does. */
const brief = (): AbortSignal => AbortSignal.timeout(500);
const FAST = { interval: '250ms', timeout: '500ms', healthyThreshold: 1, unhealthyThreshold: 2 } as const;

const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

function listen(server: NetServer, port = 0, host = address): Promise<number> {
  stops.push(() => server.close());
  return new Promise((resolve) => server.listen(port, host, () => resolve((server.address() as AddressInfo).port)));
}

describe('probes', () => {
  it('tcp: a connection, or why there is none', async () => {
    const port = await listen(createServer((socket) => socket.destroy()));
    expect(await probeTcp({ address, port }, soon())).toEqual({ ok: true });
    const refused = { ok: false, reason: 'connection refused', isDefinite: true };
    expect(await probeTcp({ address, port: await freePort() }, soon())).toEqual(refused);
  });

  it('http: status and text of an answer; one that never ends is cut', async () => {
    const server = createHttpServer((request, response) => {
      if (request.url === '/slow') return void response.write('x');
      response.statusCode = request.url === '/down' ? 503 : 200;
      response.end('all is well');
    });
    stops.push(() => server.closeAllConnections());
    const port = await listen(server);
    const probe = (path: string, more: { readonly status?: readonly number[]; readonly body?: string } = {}) =>
      probeHttp({ address, port }, { path, status: [], body: '', ...more }, path === '/slow' ? brief() : soon());
    expect(await probe('/')).toEqual({ ok: true });
    expect(await probe('/', { body: 'is well' })).toEqual({ ok: true });
    expect(await probe('/down', { status: [503] })).toEqual({ ok: true });
    expect(await probe('/down')).toMatchObject({ reason: 'status 503', isDefinite: false });
    expect(await probe('/', { body: 'ill' })).toMatchObject({ reason: 'the answer lacks the text "ill"' });
    expect(await probe('/slow', { body: 'x!' })).toMatchObject({ reason: 'no answer in time' });
  });

  it('grpc: what grpc.health.v1 says', async () => {
    const server = new Server();
    const { SERVING, NOT_SERVING } = HealthCheckResponse_ServingStatus;
    server.addService(HealthService, {
      check: ({ request }: { request: { service: string } }, done: (error: null, answer: object) => void) =>
        done(null, { status: request.service === '' ? SERVING : NOT_SERVING }),
      list: () => undefined,
      watch: () => undefined,
    });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync(`${address}:0`, ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      ),
    );
    stops.push(() => server.forceShutdown());
    expect(await probeGrpc({ address, port }, '', soon())).toEqual({ ok: true });
    expect(await probeGrpc({ address, port }, 'x', soon())).toMatchObject({
      reason: 'grpc.health.v1 says NOT_SERVING',
    });
    const refused = await probeGrpc({ address, port: await freePort() }, '', soon());
    expect(refused).toMatchObject({ reason: 'connection refused', isDefinite: true });
  });

  it('command: its end, its words, its time; nothing of it is left', async () => {
    const run = (...command: readonly string[]) => probeCommand({ command, user: undefined }, soon());
    const endless = (script: string) => probeCommand({ command: ['sh', '-c', script], user: undefined }, brief());
    expect(await run('true')).toEqual({ ok: true });
    expect(await run('sh', '-c', 'echo disk full >&2; exit 3')).toMatchObject({ reason: 'ended with 3: disk full' });
    expect(await run('/no/such/program')).toMatchObject({ reason: expect.stringContaining('cannot be started') });
    const slow = await endless(`sleep 7${process.pid}1 & echo $!; wait`);
    expect(slow).toMatchObject({ reason: 'did not end in time' });
    // A command that leaves a child process.
    expect(await run('sh', '-c', `sleep 7${process.pid}2 & exit 0`)).toEqual({ ok: true });
    await until('all is killed', () => !commandLines().includes(`sleep\x007${process.pid}`));
    expect(await endless('yes')).toMatchObject({ reason: 'did not end in time' });
  });

  it('command: a service whose manager knows its state (docs/guides/agent.md), as systemctl tells it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-health-'));
    const [state, systemctl] = ['state', 'systemctl'].map((name) => join(folder, name));
    if (state === undefined || systemctl === undefined) throw new Error('no paths');
    // `is-active` ends with 0 if the unit has reported its readiness, else with 3.
    const script = `#!/bin/sh\ntest "$1" = is-active || exit 1\nis=$(cat ${state})\necho "$is"\n[ "$is" = active ] || exit 3\n`;
    writeFileSync(systemctl, script, { mode: 0o755 });
    const guide = readFileSync(join(__dirname, '../../../../docs/guides/agent.md'), 'utf8');
    const [, example = ''] = /command: \[systemctl, ([^\]]+)\]/.exec(guide) ?? [];
    const command = [systemctl, ...example.split(', ')];
    expect(command).toEqual([systemctl, 'is-active', 'redis.service']);
    const probe = () => probeCommand({ command, user: undefined }, soon());
    writeFileSync(state, 'activating');
    expect(await probe()).toMatchObject({ ok: false, reason: 'ended with 3: activating' });
    writeFileSync(state, 'active');
    expect(await probe()).toEqual({ ok: true });
    writeFileSync(state, 'failed');
    expect(await probe()).toMatchObject({ ok: false, reason: 'ended with 3: failed' });
    rmSync(folder, { recursive: true });
  });

  it('command: as another user', async () => {
    const nobody = probeCommand({ command: ['id', '-u'], user: 'no-such-user' }, soon());
    expect(await nobody).toMatchObject({ reason: 'there is no user "no-such-user"' });
    if (process.getuid?.() !== 0) return;
    const check = ['sh', '-c', 'test "$(id -un)" = nobody && test "$(id -G | wc -w)" = 1'];
    expect(await probeCommand({ command: check, user: 'nobody' }, soon())).toEqual({ ok: true });
  });
});

/** Of all processes of this machine. */
function commandLines(): string {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    })
    .join('\n');
}

describe('health checks', () => {
  const received: { readonly ready: boolean; readonly reason: string }[] = [];
  const end = new AbortController();
  /** Number of times that the listening sockets were read. */
  let looks = 0;
  const checks = new HealthChecks({
    clock: systemClock,
    sockets: {
      listening: () => {
        looks += 1;
        return listListeningByPort();
      },
    },
    changed: (_, health) => received.push(...health.slice(0, 1)),
    failed: (error) => {
      throw error;
    },
  });
  let running: Promise<void>;
  beforeAll(() => void (running = checks.run(end.signal)));
  beforeEach(() => void received.splice(0));
  afterAll(async () => {
    end.abort();
    await running;
  });
  const service = (port: number, check?: HealthCheckConfig): CheckedService => ({
    dataplane: 'default/redis-1',
    inbound: 0,
    target: { address, port },
    check,
  });

  it('tell when a service is up, down and up again, with the reason', async () => {
    const port = await freePort();
    checks.set([service(port, { tcp: {}, ...FAST })]);
    expect(received).toMatchObject([{ ready: false, reason: 'not checked yet' }]);
    await until('it is down', () => received.at(-1)?.reason === 'connection refused');
    await listen(createServer(), port);
    await until('it is up', () => received.at(-1)?.ready === true);
    expect(checks.readiness('default/redis-1')).toMatchObject([
      { check: `tcp 127.0.0.1:${port}`, ready: true, reason: '' },
    ]);
    checks.set([]);
    expect(checks.readiness('default/redis-1')).toEqual([]);
  });

  it('see at once that a process was killed, whatever the interval is, and without any check too', async () => {
    if (!existsSync('/proc/net/tcp')) return;
    for (const check of [{ tcp: {}, ...FAST, interval: '1h' }, undefined]) {
      const port = await freePort();
      const script = `require('node:net').createServer().listen(${port}, '${address}')`;
      const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
      // Another service has the same port, at another address of the machine.
      await listen(createServer(), port, '127.77.0.1');
      await until('it listens', () => isListening(listListeningByPort() ?? new Map(), { address, port }));
      checks.set([service(port, check)]);
      await until('it is up', () => received.at(-1)?.ready === true);
      // A read that began before this has ended, and another read.
      const before = looks;
      await until('it was seen', () => looks >= before + 2);
      child.kill('SIGKILL');
      await until('it is down', () => received.at(-1)?.ready === false);
      expect(received.at(-1)?.reason).toMatch(/^(nothing listens at port|connection refused)/);
    }
  });

  it.each([
    ['its own address', '127.0.0.1', ['0100007F'], true],
    ['another address', '127.0.0.1', ['0200007F'], false],
    ['all addresses', '127.0.0.1', ['00000000'], true],
    ['all addresses, IPv6 too', '127.0.0.1', ['0'.repeat(32)], true],
    ['its own address in IPv6', '127.0.0.1', ['0000000000000000FFFF00000100007F'], true],
    ['all of IPv4, where it is IPv6', '::1', ['00000000'], false],
    ['its own IPv6 address', '0:0::1', ['00000000000000000000000001000000'], true],
    ['nowhere', '127.0.0.1', [], false],
  ])('know a process that listens at %s', (_, address, found, isThere) => {
    // The table is in the byte order of the machine.
    if (endianness() !== 'LE') return;
    const sockets = new Map([[6379, found.map((one) => ({ address: one, port: 6379, uid: 0 }))]]);
    expect(isListening(sockets, { address, port: 6379 })).toBe(isThere);
    expect(isListening(sockets, { address, port: 6380 })).toBe(false);
  });

  it('reads the table of the kernel up to the first connection', () => {
    const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
    const line = (local: string, state: string): string =>
      `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:0 00000000 1000 0 42`;
    const text = [head, line('0100007F:18EB', '0A'), line('00000000:0016', '0A'), line('0100007F:1F90', '01')].join(
      '\n',
    );
    expect(parseSocketTable(text)).toEqual([
      { address: '0100007F', port: 6379, uid: 1000 },
      { address: '00000000', port: 22, uid: 1000 },
    ]);
    expect(parseSocketTable(text, new Set([22, 8080]))).toEqual([{ address: '00000000', port: 22, uid: 1000 }]);
    const of6 = (address: string): string =>
      line(`${address}:18EB`, '0A')
        .replace('00000000:0000', `${'0'.repeat(32)}:0000`)
        .replace(' 0:', '10000:');
    const addresses = ['00000000000000000000000001000000', '0'.repeat(32)];
    expect(parseSocketTable([head, ...addresses.map(of6), ''].join('\n'), new Set([6379]))).toEqual(
      addresses.map((address) => ({ address, port: 6379, uid: 1000 })),
    );
  });
});
