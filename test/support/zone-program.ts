import { randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { getRegistry } from '@causeway/meshes';
import { ResourceIndex } from '@causeway/store';
import { ProgramTracer } from '@causeway/telemetry';
import { REST_APPLICATION_OPTIONS, restAdapter } from '@causeway/rest';
import { silentLogger, systemClock, type Clock, type Logger } from '@causeway/runtime';
import { XdsPort } from '@causeway/agent-service';
import { LeaderService } from '../../apps/control-plane/src/leader/leader.module';
import { propagationHistogram } from '../../apps/control-plane/src/metrics/sync-metrics';
import { GrpcRequests, RestRequests } from '../../apps/control-plane/src/metrics/request-metrics';
import { checkRanges, warnOfRanges } from '../../apps/zone/src/address-ranges';
import { zoneConfig } from '../../apps/zone/src/config';
import { dnsSettings } from '../../apps/zone/src/dns-options';
import { secretsSource } from '../../apps/zone/src/identity/secrets-key';
import { XdsCertificates } from '../../apps/zone/src/proxies/xds-options';
import { ZoneModule } from '../../apps/zone/src/zone.module';
import { ADMIN_SETTINGS, adminFetch } from './admin-credential';
import { TEST_SECRETS_KEY } from './process-plane';
import { until } from './until';

/** Settings by their environment variable. */
type Environment = Readonly<Record<string, string>>;

/** A zone's control plane in this process: the modules of the program, on free ports. */
export class ZoneProgram {
  private constructor(
    readonly app: NestFastifyApplication,
    private readonly shutdown: AbortController,
    readonly restUrl: string,
  ) {}

  /** Starts a program that leads, or follows another on the same database. */
  static async start(
    env: Environment,
    clock: Clock = systemClock,
    logger: Logger = silentLogger,
  ): Promise<ZoneProgram> {
    const ports = ['REST', 'GRPC', 'DIAGNOSTICS', 'DNS', 'XDS'].map((port) => [`CAUSEWAY_${port}_PORT`, '0']);
    const preset = {
      CAUSEWAY_ZONE_NAME: 'east',
      CAUSEWAY_SECRETS_KEY: TEST_SECRETS_KEY,
      CAUSEWAY_ADMIN_TOKEN_FILE: 'off',
    };
    const given = { ...Object.fromEntries(ports), ...preset, ...ADMIN_SETTINGS, ...env };
    const { values: settings, redacted } = zoneConfig({ env: given, args: [] });
    warnOfRanges(checkRanges(settings), logger);
    const shutdown = new AbortController();
    const cp = { role: 'zone', zone: settings.CAUSEWAY_ZONE_NAME, federated: false } as const;
    const index = new ResourceIndex();
    const facts = {
      registry: getRegistry(index),
      index,
      clock,
      logger,
      propagation: propagationHistogram(),
      requests: new RestRequests(),
      calls: new GrpcRequests(),
      tracer: new ProgramTracer({ endpoint: undefined, ratio: 0, program: {}, clock, logger: silentLogger }),
      instance: `test-${randomBytes(4).toString('hex')}`,
      shutdown: shutdown.signal,
      reload: { on: () => undefined, onCheck: () => () => undefined },
    };
    const plan = { global: undefined, dns: dnsSettings(settings), secrets: secretsSource(settings, cp) };
    const app = await NestFactory.create<NestFastifyApplication>(
      ZoneModule.forRoot({ cp, settings, redacted, ...facts }, plan),
      restAdapter(),
      { ...REST_APPLICATION_OPTIONS, logger: false },
    );
    await app.listen(0, '127.0.0.1');
    return new ZoneProgram(app, shutdown, await app.getUrl());
  }

  get xds(): XdsPort {
    return this.app.get(XdsPort, { strict: false });
  }

  /** The authority that verifies its port for proxies; undefined in plain text. */
  get authority(): string | undefined {
    return this.app.get(XdsCertificates, { strict: false }).certificates()?.authority();
  }

  untilLeading(): Promise<unknown> {
    return until('it leads', () => this.app.get(LeaderService, { strict: false }).status()?.leading);
  }

  /** A request of an administrator. */
  fetch(path: string, init?: RequestInit): Promise<Response> {
    return adminFetch(this.restUrl + path, init);
  }

  /** Writes a resource by REST. */
  async put(path: string, body: unknown): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const answer = await this.fetch(path, { method: 'PUT', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }

  /** Sends an order by REST, and resolves with the answer. */
  async post(path: string, body: unknown): Promise<unknown> {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const answer = await this.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Tokens in Kuma's form, which grant everything in the mesh `default`, are good here from now on. */
  async takeKumaTokens(): Promise<void> {
    await this.put('/meshparameters/kuma-tokens', {
      type: 'MeshParameters',
      name: 'kuma-tokens',
      spec: { dataplaneTokens: 'Kuma' },
    });
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'kuma-tokens' };
    await this.put('/meshes/default', { type: 'Mesh', name: 'default', spec: { parametersRef } });
  }

  /** One request of HTTP/1 to the port at which proxies are served, by TLS: `body` as it is, or as JSON. */
  askXds(
    method: string,
    path: string,
    body: unknown = '',
    headers: Record<string, string> = {},
  ): Promise<{ readonly status: number; readonly text: string }> {
    return new Promise((resolve, reject) => {
      const tls = { ca: this.authority ?? '', host: '127.0.0.1', port: this.xds.address.port };
      const asked = { ...tls, method, path, headers, checkServerIdentity: () => undefined };
      const call = request(asked, (answer) => {
        let text = '';
        answer.on('data', (part: Buffer) => (text += part.toString()));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      });
      call.on('error', reject);
      call.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  }

  async delete(path: string): Promise<void> {
    const answer = await this.fetch(path, { method: 'DELETE' });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  }

  async stop(): Promise<void> {
    this.shutdown.abort();
    await this.app.close();
  }
}
