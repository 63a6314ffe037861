import { Forbidden } from '@causeway/resources';
import { silentLogger, systemClock, type Clock } from '@causeway/runtime';
import {
  XdsServer,
  type AdmittedProxy,
  type ProxyAuthenticator,
  type ProxyCaller,
  type XdsLimits,
} from '@causeway/xds-server';
import type { ServerCredentials } from '@grpc/grpc-js';
import { deltaClient, sotwClient, type DeltaClient, type SotwClient } from './ads-client';
import { MapSource } from './xds-source';

/** Admits every node by its id except `nobody`; a node `view:id` has that view. */
class TestAuthenticator implements ProxyAuthenticator<string> {
  readonly callers: ProxyCaller[] = [];
  readonly refused = new Set<string>(['nobody']);
  readonly views = new Map<string, string>();
  until: number | undefined;
  private listener: () => void = () => undefined;

  async admit(caller: ProxyCaller): Promise<AdmittedProxy<string>> {
    this.callers.push(caller);
    if (this.refused.has(caller.node)) throw new Forbidden(`${caller.node} may not connect`);
    const view = this.views.get(caller.node) ?? 'default';
    const until = this.until === undefined ? {} : { until: this.until };
    return Promise.resolve({ proxy: { id: caller.node, view }, ...until });
  }

  onChange(listener: () => void): () => void {
    this.listener = listener;
    return () => undefined;
  }

  change(): void {
    this.listener();
  }
}

/** A server of xDS on loopback, and its clients; `stop` leaves nothing open. */
export class XdsPlane {
  readonly auth = new TestAuthenticator();
  readonly server: XdsServer<string>;
  port = 0;
  private readonly clients: (DeltaClient | SotwClient)[] = [];

  constructor(
    limits: Partial<XdsLimits> = {},
    clock: Clock = systemClock,
    readonly source = new MapSource(),
  ) {
    const { auth } = this;
    this.server = new XdsServer({ source, auth, clock, logger: silentLogger, limits });
  }

  async start(port = 0, credentials?: ServerCredentials): Promise<void> {
    this.port = await this.server.listen('127.0.0.1', port, credentials);
  }

  delta(node?: string, authorization?: string): DeltaClient {
    const client = deltaClient(this.port, node, authorization);
    this.clients.push(client);
    return client;
  }

  sotw(node?: string, authorization?: string): SotwClient {
    const client = sotwClient(this.port, node, authorization);
    this.clients.push(client);
    return client;
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
    await this.server.close();
  }
}
