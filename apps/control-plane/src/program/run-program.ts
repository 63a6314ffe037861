import { randomBytes } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import type { DynamicModule, INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getRegistry } from '@causeway/meshes';
import type { ControlPlane } from '@causeway/resources';
import { LocalSocket, REST_APPLICATION_OPTIONS, restAdapter, RestTls } from '@causeway/rest';
import { aborted, systemClock, type Logger, type Settings } from '@causeway/runtime';
import { ResourceIndex } from '@causeway/store';
import { createLogger, ProgramTracer, type ProgramLogger } from '@causeway/telemetry';
import { prepareAdminSocket } from './admin-socket';
import type { ControlPlaneCore } from '../core.module';
import type { SharedSettings } from '../settings/settings';
import { exitWithProblems } from '../settings/load-config';
import { grpcCertificateSource, RestCertificates, restCertificateSource } from '../certificates/certificates.module';
import { restLimits } from '../api/rest-dependencies';
import { SettingsReload, type RereadSettings } from '../settings/settings-reload';
import { shutdownSignal } from './shutdown-signal';
import { GrpcRequests, RestRequests } from '../metrics/request-metrics';
import { propagationHistogram } from '../metrics/sync-metrics';
import { VERSION } from '../version';

/** A control plane with its settings and its log; ends when the process is asked to. */
export interface Program<S extends SharedSettings> {
  readonly core: ControlPlaneCore<S>;
  /** Shuts down the program. */
  readonly shutdown: AbortController;
}

/** The part of a `LoadedConfig` used here. */
interface ProgramConfig<S extends SharedSettings> {
  readonly values: S;
  readonly settings: Settings;
  readonly reread: () => RereadSettings<S>;
  readonly redacted: Readonly<Record<string, unknown>>;
  readonly unknownVariables: readonly string[];
}

/** Writes warnings of Node and of packages into the log, once each, in place of Node's own lines on stderr. */
function logWarnings(logger: Logger): void {
  const seen = new Set<string>();
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    const isNew = !seen.has(message) && seen.size < MAX_WARNINGS;
    seen.add(message);
    if (isNew) logger.warn('a warning of the runtime', { name, warning: message });
  });
}

/** Maximum number of warnings of the runtime in a log. */
const MAX_WARNINGS = 100;

/** Opens the log and installs handlers for the signals of the process. */
export function createProgram<S extends SharedSettings>(cp: ControlPlane, config: ProgramConfig<S>): Program<S> {
  const { values: settings, redacted, unknownVariables } = config;
  if (settings.CAUSEWAY_LEADER_BACKEND === 'redis' && settings.REDIS_URL === undefined)
    exitWithProblems(['CAUSEWAY_LEADER_BACKEND is redis, and REDIS_URL is missing']);
  restCertificateSource(settings);
  grpcCertificateSource(settings);
  const logger = createLogger({ level: settings.LOG_LEVEL, program: programName(cp), pretty: process.stdout.isTTY });
  const shutdown = shutdownSignal(() => logger);
  logWarnings(logger);
  logger.info('starting', { version: VERSION, settings: redacted });
  if (unknownVariables.length > 0)
    logger.warn('variables that are not settings of this program are ignored', {
      variables: [...unknownVariables].sort().join(', '),
    });
  const reload = followSettings(config, logger, shutdown.signal);
  const instance = `${hostname()}-${process.pid}-${randomBytes(2).toString('hex')}`;
  const index = new ResourceIndex();
  const facts = { cp, settings, redacted, registry: getRegistry(index), index, instance, reload };
  const core = {
    ...facts,
    clock: systemClock,
    tracer: new ProgramTracer({
      endpoint: settings.CAUSEWAY_OTLP_ENDPOINT,
      ratio: Number(settings.CAUSEWAY_TRACE_RATIO),
      program: { 'service.name': serviceName(cp), 'service.version': VERSION, 'service.instance.id': instance },
      clock: systemClock,
      logger,
    }),
    logger,
    propagation: propagationHistogram(),
    requests: new RestRequests(),
    calls: new GrpcRequests(),
    shutdown: shutdown.signal,
  };
  return { core, shutdown };
}

/** Applies changes of settings until the end; checks immediately on SIGHUP. */
function followSettings<S extends SharedSettings>(
  { values, settings, reread }: ProgramConfig<S>,
  logger: ProgramLogger,
  ended: AbortSignal,
): SettingsReload<S> {
  const reload = new SettingsReload({ values, settings, reread, clock: systemClock, logger });
  reload.on('LOG_LEVEL', (level) => logger.setLevel(level));
  const check = (): void => {
    logger.info('SIGHUP: the settings are read again');
    reload.check();
  };
  process.on('SIGHUP', check);
  ended.addEventListener('abort', () => {
    process.off('SIGHUP', check);
    reload.close();
  });
  return reload;
}

/**
 * Starts an application of this module, serves REST until the program is asked to stop, and shuts the application down
 * by its hooks. Rejects if it cannot start; a start that was interrupted by a stop is no failure.
 */
export async function runProgram<S extends SharedSettings>(
  { core, shutdown }: Program<S>,
  createModule: () => DynamicModule,
): Promise<void> {
  let app: INestApplication | undefined;
  const { settings } = core;
  const tls = restCertificateSource(settings).type === 'off' ? undefined : new RestTls(core);
  try {
    const adminSocket = await prepareAdminSocket(settings, core.logger);
    await core.tracer.start();
    app = await NestFactory.create(createModule(), restAdapter(restLimits(settings), tls), REST_APPLICATION_OPTIONS);
    await app.init();
    const certificates = app.get(RestCertificates).certificates();
    if (certificates) tls?.use(certificates);
    const { CAUSEWAY_BIND_ADDRESS: host, CAUSEWAY_REST_PORT: port } = settings;
    await app.listen(port, host);
    const { port: bound } = new URL(await app.getUrl());
    core.logger.info('listening', { rest: `${tls ? 'https' : 'http'}://${urlHost(host)}:${bound}` });
    if (adminSocket !== undefined) {
      await app.get(LocalSocket, { strict: false }).listen(adminSocket);
      core.logger.info('listening', { adminSocket });
    }
    await aborted(core.shutdown);
  } catch (error) {
    if (!core.shutdown.aborted) throw error;
  } finally {
    shutdown.abort(); // after a failure no wait of a part may outlive the start
    await app?.close();
    tls?.close();
    await core.tracer.close();
    core.logger.info('ended');
  }
}

/** Formats a host for a URL. */
function urlHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

/** Returns the name of a program in traces: `causeway-global`, or `causeway-zone-east`. */
function serviceName(cp: ControlPlane): string {
  return cp.role === 'global' ? 'causeway-global' : `causeway-zone-${cp.zone}`;
}

/** Returns the name of a program in logs: `global`, or `zone east`. */
function programName(cp: ControlPlane): string {
  return cp.role === 'global' ? 'global' : `zone ${cp.zone}`;
}
