import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import type { DynamicModule } from '@nestjs/common';
import { ProgramTracer } from '@causeway/telemetry';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { getRegistry } from '@causeway/meshes';
import { ResourceIndex } from '@causeway/store';
import { REST_APPLICATION_OPTIONS, restAdapter } from '@causeway/rest';
import { silentLogger, systemClock } from '@causeway/runtime';
import { propagationHistogram } from '../../apps/control-plane/src/metrics/sync-metrics';
import { GrpcRequests, RestRequests } from '../../apps/control-plane/src/metrics/request-metrics';
import { LeaderService } from '../../apps/control-plane/src/leader/leader.module';
import { globalConfig } from '../../apps/global/src/config';
import { GlobalModule } from '../../apps/global/src/global.module';
import { zoneConfig } from '../../apps/zone/src/config';
import { dnsSettings } from '../../apps/zone/src/dns-options';
import { secretsSource } from '../../apps/zone/src/identity/secrets-key';
import { ZoneModule } from '../../apps/zone/src/zone.module';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { TEST_SECRETS_KEY } from '../support/process-plane';
import { until } from '../support/until';

const ROOT = resolve(__dirname, '..', '..');
const HOOKS = [
  'onModuleInit',
  'onApplicationBootstrap',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
] as const;

type Hook = (...args: unknown[]) => unknown;

/** Notes the end of each lifecycle hook of an instance, as `hook Class`. */
function recorded(instance: unknown, log: string[]): unknown {
  if (typeof instance !== 'object' || instance === null) return instance;
  for (const hook of HOOKS) {
    const original: unknown = Reflect.get(instance, hook);
    if (typeof original !== 'function') continue;
    const called: Hook = async (...args) => {
      await Reflect.apply(original, instance, args);
      log.push(`${hook} ${instance.constructor.name}`);
    };
    Reflect.set(instance, hook, called);
  }
  return instance;
}

interface Started {
  readonly app: NestFastifyApplication;
  readonly shutdown: AbortController;
  readonly log: string[];
}

/** Starts a program's module in this process, on free ports. */
async function start(program: 'global' | 'zone', database: TestDatabase): Promise<Started> {
  const env = {
    DATABASE_URL: database.url,
    CAUSEWAY_REST_PORT: '0',
    CAUSEWAY_GRPC_PORT: '0',
    CAUSEWAY_DIAGNOSTICS_PORT: '0',
    ...(program === 'global' ? { CAUSEWAY_KDS_PORT: '0', CAUSEWAY_KDS_BIND_ADDRESS: '127.0.0.1' } : {}),
    ...(program === 'zone'
      ? {
          CAUSEWAY_ZONE_NAME: 'east',
          CAUSEWAY_DNS_PORT: '0',
          CAUSEWAY_XDS_PORT: '0',
          CAUSEWAY_SECRETS_KEY: TEST_SECRETS_KEY,
        }
      : {}),
  };
  const shutdown = new AbortController();
  const index = new ResourceIndex();
  const facts = {
    registry: getRegistry(index),
    index,
    clock: systemClock,
    logger: silentLogger,
    propagation: propagationHistogram(),
    requests: new RestRequests(),
    calls: new GrpcRequests(),
    tracer: new ProgramTracer({
      endpoint: undefined,
      ratio: 0,
      program: {},
      clock: systemClock,
      logger: silentLogger,
    }),
    instance: 'test',
    reload: { on: () => undefined, onCheck: () => () => undefined },
    shutdown: shutdown.signal,
  };
  const module = (): DynamicModule => {
    if (program === 'global') {
      const { values: settings, redacted } = globalConfig({ env, args: [] });
      const plan = { certificates: { type: 'own', names: [] }, sealing: undefined } as const;
      return GlobalModule.forRoot({ cp: { role: 'global' }, settings, redacted, ...facts }, plan);
    }
    const { values: settings, redacted } = zoneConfig({ env, args: [] });
    const cp = { role: 'zone', zone: 'east', federated: false } as const;
    const plan = { global: undefined, dns: dnsSettings(settings), secrets: secretsSource(settings, cp) };
    return ZoneModule.forRoot({ cp, settings, redacted, ...facts }, plan);
  };
  const log: string[] = [];
  const app = await NestFactory.create<NestFastifyApplication>(module(), restAdapter(), {
    ...REST_APPLICATION_OPTIONS,
    instrument: { instanceDecorator: (instance) => recorded(instance, log) },
  });
  await app.listen(0, '127.0.0.1');
  log.push('listening');
  return { app, shutdown, log };
}

describe('a control plane as a Nest application', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  it.each([
    [
      'global',
      [
        'onModuleInit StoreConnection',
        'onModuleInit StoreBinding',
        'onModuleInit IndexFollower',
        'onModuleInit RoutesFollower',
        'onModuleInit PoliciesFollower',
        'onModuleInit AuthenticationModule',
        'onModuleInit ZoneSecurity',
        'onModuleInit RestCertificates',
        'onModuleInit GrpcCertificates',
        'onModuleInit LeaderService',
        'onApplicationBootstrap LeaderService',
        'onApplicationBootstrap KdsListener',
        'onApplicationBootstrap GrpcApiListener',
        'onApplicationBootstrap DiagnosticsListener',
        'listening',
        'onModuleDestroy LeaderService',
        'beforeApplicationShutdown DiagnosticsListener',
        'beforeApplicationShutdown GrpcApiListener',
        'beforeApplicationShutdown RestModule',
        'beforeApplicationShutdown KdsListener',
        'onApplicationShutdown RestModule',
        'onApplicationShutdown SharedQuerySources',
        'onApplicationShutdown QueriesModule',
        'onApplicationShutdown LeaderService',
        'onApplicationShutdown RestCertificates',
        'onApplicationShutdown GrpcCertificates',
        'onApplicationShutdown AuditModule',
        'onApplicationShutdown ZoneSecurity',
        'onApplicationShutdown AuthenticationModule',
        'onApplicationShutdown AccessModule',
        'onApplicationShutdown PoliciesFollower',
        'onApplicationShutdown RoutesFollower',
        'onApplicationShutdown IndexFollower',
        'onApplicationShutdown StoreConnection',
      ],
    ],
    [
      'zone',
      [
        'onModuleInit StoreConnection',
        'onModuleInit StoreBinding',
        'onModuleInit IndexFollower',
        'onModuleInit RoutesFollower',
        'onModuleInit PoliciesFollower',
        'onModuleInit SealedKeyCheck',
        'onModuleInit AuthenticationModule',
        'onModuleInit XdsCertificates',
        'onModuleInit RestCertificates',
        'onModuleInit GrpcCertificates',
        'onModuleInit LeaderService',
        'onApplicationBootstrap ProxyDirectoryReader',
        'onApplicationBootstrap FirstStateLookup',
        'onApplicationBootstrap UpgradeLookup',
        'onApplicationBootstrap XdsListener',
        'onApplicationBootstrap LeaderService',
        'onApplicationBootstrap DnsListeners',
        'onApplicationBootstrap GrpcApiListener',
        'onApplicationBootstrap DiagnosticsListener',
        'listening',
        'onModuleDestroy LeaderService',
        'beforeApplicationShutdown DiagnosticsListener',
        'beforeApplicationShutdown GrpcApiListener',
        'beforeApplicationShutdown RestModule',
        'beforeApplicationShutdown DnsListeners',
        'beforeApplicationShutdown XdsListener',
        'beforeApplicationShutdown UpgradeLookup',
        'beforeApplicationShutdown FirstStateLookup',
        'beforeApplicationShutdown ProxyDirectoryReader',
        'onApplicationShutdown RestModule',
        'onApplicationShutdown SharedQuerySources',
        'onApplicationShutdown QueriesModule',
        'onApplicationShutdown LeaderService',
        'onApplicationShutdown RestCertificates',
        'onApplicationShutdown GrpcCertificates',
        'onApplicationShutdown AuditModule',
        'onApplicationShutdown AccessModule',
        'onApplicationShutdown XdsCertificates',
        'onApplicationShutdown AuthenticationModule',
        'onApplicationShutdown WorkloadIdentityModule',
        'onApplicationShutdown PoliciesFollower',
        'onApplicationShutdown RoutesFollower',
        'onApplicationShutdown IndexFollower',
        'onApplicationShutdown StoreConnection',
      ],
    ],
  ] as const)('a %s starts and ends in the order of its imports', async (program, wanted) => {
    const { app, shutdown, log } = await start(program, database);
    shutdown.abort();
    await app.close();
    expect(log).toEqual(wanted);
  });

  it('listens while another replica leads', async () => {
    const first = await start('zone', database);
    await until('the first leads', () => first.app.get(LeaderService).status()?.leading);
    const second = await start('zone', database);
    expect(second.app.get(LeaderService).status()?.leading).toBe(false);
    for (const { shutdown, app } of [first, second]) {
      shutdown.abort();
      await app.close();
    }
  });
});

/** A way to the database of `url` that lets this many connections through and ends all others. */
async function narrowWay(url: string, connections: number): Promise<{ readonly url: string; close(): void }> {
  const onward = new URL(url);
  let left = connections;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (left-- <= 0) return void socket.destroy();
    const there = connect(Number(onward.port), onward.hostname);
    there.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => there.destroy());
    socket.pipe(there).pipe(socket);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const way = new URL(url);
  way.port = String((server.address() as AddressInfo).port);
  return { url: way.href, close: () => server.close() };
}

describe('SIGTERM while a control plane starts', () => {
  it.each([
    ['the database is away', 'zone', 0],
    ['the database goes away after the first connections', 'zone', 2],
    ['the database is away', 'global', 0],
    ['the database goes away after the first connections', 'global', 2],
  ] as const)('ends the wait at once, without a complaint (%s, %s)', async (_, app, connections) => {
    const database = await createTestDatabase();
    const way = await narrowWay(database.url, connections);
    const { PATH = '', NODE_OPTIONS = '' } = process.env;
    const child = fork(resolve(ROOT, 'dist', 'apps', app, 'src', 'main.js'), {
      env: { PATH, NODE_OPTIONS, DATABASE_URL: way.url, CAUSEWAY_ZONE_NAME: 'east', CAUSEWAY_REST_PORT: '0' },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    // Resolves when all of its output is read.
    const exit = once(child, 'close');
    let [log, complaints] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (log += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaints += text));
    await until('it waits', () => /waiting for|trying again/.test(log));
    child.kill('SIGTERM');
    expect({ exit: await exit, complaints }).toEqual({ exit: [0, null], complaints: '' });
    expect(log).toMatch(/"msg":"ended"/);
    way.close();
    await database.drop();
  });
});
