import { DEFAULT_CONNECTIONS, GrpcListener, tlsServerCredentials, type Http2Streams } from '@causeway/grpc-server';
import {
  NamingServiceService,
  PolicyServiceService,
  ResourceServiceService,
  RoutingServiceService,
  ServerReflectionService,
  ServerReflectionV1AlphaService,
} from '@causeway/proto-gen';
import { CallerLog } from '@causeway/runtime';
import { Server, type Metadata, type ServerOptions } from '@grpc/grpc-js';
import { CallAudit } from './calls/call-audit';
import { CallAuthenticator } from './calls/call-authenticator';
import { CallObserver } from './calls/call-observer';
import { HandlerFactory } from './calls/handler-factory';
import { ActiveCalls } from './calls/active-calls';
import type { GrpcApiOptions } from './grpc-api-options';
import { HealthHandlers } from './services/health-service';
import { NamingServiceHandlers } from './services/naming-service';
import { PolicyServiceHandlers } from './services/policy-service';
import { Reflection } from './services/reflection-service';
import { ResourceReads } from './services/resource-reads';
import { ResourceWatches } from './services/resource-watches';
import { ResourceWrites } from './services/resource-writes';
import { RoutingServiceHandlers } from './services/routing-service';

/** Services that require authorization. */
const API = [
  'causeway.v1.ResourceService',
  'causeway.v1.NamingService',
  'causeway.v1.RoutingService',
  'causeway.v1.PolicyService',
] as const;
const SERVICES = [
  ...API,
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
] as const;

/** Maximum number of concurrent calls on a connection, before and after valid credentials. */
const UNAUTHENTICATED_STREAMS = 128;
const MAX_CONCURRENT_STREAMS = 1_000;

/** gRPC's usual maximum message size: no document is larger, and batches are split into several messages. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const BOUNDS: ServerOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': -1, // The server bounds its messages itself.
  'grpc.max_concurrent_streams': UNAUTHENTICATED_STREAMS,
  'grpc.max_metadata_size': 64 * 1024, // above the longest token, which is refused by name
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 15_000,
  'grpc.max_connection_idle_ms': 300_000,
};

const asIs = (bytes: Buffer): Buffer => bytes;

/** ResourceService whose streams are written as bytes: a message is encoded once for many readers. */
const resourceService = {
  ...ResourceServiceService,
  list: { ...ResourceServiceService.list, responseSerialize: asIs },
  apply: { ...ResourceServiceService.apply, responseSerialize: asIs },
  watch: { ...ResourceServiceService.watch, responseSerialize: asIs },
} as const;

/** The gRPC API of a control plane. */
export class GrpcApiServer {
  private readonly activeCalls: ActiveCalls;
  private readonly health: HealthHandlers;
  private readonly audit: CallAudit;
  private readonly callers: CallAuthenticator;
  private readonly observer: CallObserver;
  private readonly listener: GrpcListener;

  constructor(private readonly options: GrpcApiOptions) {
    const { clock, logger, connections = DEFAULT_CONNECTIONS } = options;
    this.activeCalls = new ActiveCalls(clock);
    this.audit = new CallAudit(options);
    this.callers = new CallAuthenticator({ ...options, audit: this.audit });
    this.observer = new CallObserver(options, (call, metadata) =>
      options.observe?.({ ...call, user: this.callers.callerOf(metadata).user }),
    );
    this.health = new HealthHandlers({ ...options, services: SERVICES });
    this.listener = new GrpcListener(
      (streams) => this.createServer(streams),
      connections,
      new CallerLog(logger, clock),
      clock,
    );
  }

  /** Listens as configured and resolves with the port. Rejects if it cannot listen. */
  listen(): Promise<number> {
    const { host, port } = this.options;
    const certificates = this.options.certificates();
    return this.listener.bind(host, port, certificates && tlsServerCredentials(certificates));
  }

  /** Number of calls under way. */
  get calls(): number {
    return this.activeCalls.size;
  }

  /** Reports NOT_SERVING, ends streams, waits up to 2 s for the other calls, and stops listening. */
  async close(): Promise<void> {
    this.health.close();
    await this.activeCalls.close();
    this.callers.close();
    await this.listener.close();
  }

  private createServer(streams: Http2Streams): Server {
    const { options, activeCalls, health, audit, callers } = this;
    const recognised = (metadata: Metadata): void => streams.markAuthenticated(metadata, MAX_CONCURRENT_STREAMS);
    const handlers = new HandlerFactory({ ...options, activeCalls, callers, streams, audit });
    const [reads, writes, watches] = [
      new ResourceReads(options),
      new ResourceWrites(options),
      new ResourceWatches(options),
    ];
    const naming = new NamingServiceHandlers(options.queries);
    const routing = new RoutingServiceHandlers(options.queries);
    const policies = new PolicyServiceHandlers(options);
    const reflection = new Reflection(SERVICES);
    const server = new Server({
      ...BOUNDS,
      interceptors: [streams.interceptor, this.observer.interceptor, callers.interceptor(recognised)],
    });
    server.addService(resourceService, {
      get: handlers.unary(reads.get.bind(reads)),
      list: handlers.serverStream(reads.list.bind(reads)),
      apply: handlers.bidiStream(writes.apply.bind(writes)),
      delete: handlers.unary(writes.delete.bind(writes)),
      watch: handlers.serverStream(watches.watch.bind(watches)),
    });
    server.addService(NamingServiceService, {
      resolve: handlers.unary(naming.resolve.bind(naming)),
      explain: handlers.unary(naming.explain.bind(naming)),
    });
    server.addService(RoutingServiceService, {
      explainRequest: handlers.unary(routing.explainRequest.bind(routing)),
      listRoutes: handlers.unary(routing.listRoutes.bind(routing)),
    });
    server.addService(PolicyServiceService, {
      listPolicies: handlers.unary(policies.listPolicies.bind(policies)),
      listScopes: handlers.unary(policies.listScopes.bind(policies)),
      getImpact: handlers.unary(policies.getImpact.bind(policies)),
      getTopology: handlers.unary(policies.getTopology.bind(policies)),
    });
    server.addService(health.definition, { check: health.check, watch: health.watch });
    server.addService(ServerReflectionService, { serverReflectionInfo: reflection.info });
    server.addService(ServerReflectionV1AlphaService, { serverReflectionInfo: reflection.info });
    return server;
  }
}
