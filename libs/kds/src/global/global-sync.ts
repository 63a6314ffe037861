import { Server, ServerCredentials } from '@grpc/grpc-js';
import {
  GlobalKDSServiceService,
  SyncServiceService,
  type HandshakeRequest,
  type HandshakeResponse,
} from '@causeway/proto-gen';
import type { JsonObject, Resource } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { QUARANTINED, releases } from '@causeway/sync';
import { StreamAuthMonitor } from '../auth/stream-auth-monitor';
import type { KindReport } from '../session/kind-report';
import { kdsChannelOptions, kdsSyncService } from '../wire/kds-service';
import { Extension } from '../wire/dialect';
import { ResourceEncoder } from '../wire/resource-encoder';
import type { ZoneHeaders } from '../wire/headers';
import { AttemptLimits, ConnectionAcceptor, DEFAULT_CONNECTIONS } from './connection-limits';
import { FanOut } from './fan-out';
import { DoubtfulClaims, RefusedStores, StreamEndings } from './zones/zone-incidents';
import { ZoneInsights } from './zones/zone-insights';
import { KumaGate } from './kuma-gate';
import { LiveSessions, type LiveStream } from './live-sessions';
import type { GlobalSyncOptions } from './global-sync-options';
import type { GlobalParts } from './parts';
import { KumaInstanceIds } from '../kuma/kuma-incarnation';
import { Quarantines, zoneDecisions, type ZoneDecisions } from './zones/zone-decisions';
import { RefusalLog } from '../session/rate-limited-logger';
import { withRelayedKinds } from '../kuma/relayed-kinds';
import { unaryHandlers } from './unary-handlers';
import { SessionReaper } from './session-reaper';
import { HandshakeHandler } from './handshake-handler';
import { InboundCapacity, type InboundMetrics } from '../session/inbound/inbound-capacity';
import { StreamHandler, type IncomingStream, type BytesCall } from './stream-handler';

/** What zones cost a replica now. */
export interface ZoneMetrics extends InboundMetrics {
  /** Bytes that were sent to zones and not answered. */
  readonly unansweredBytes: number;
}

/** The global's side of sync on one replica. */
export interface GlobalSync extends ZoneDecisions {
  /** Listens and resolves with the port; plain text without credentials. */
  bind(host: string, port: number, credentials?: ServerCredentials): Promise<number>;
  /** A handshake that has arrived by another transport than gRPC. Throws Forbidden, Unavailable. */
  handshake(request: HandshakeRequest, headers: ZoneHeaders): Promise<HandshakeResponse>;
  /** A stream that has arrived by another transport than gRPC; serves it until it ends. */
  accept(arrived: IncomingStream): void;
  /** How far each zone with a stream on this replica is, by zone and kind. */
  reports(): ReadonlyMap<string, readonly KindReport[]>;
  /** What zones cost this replica. */
  metrics(): ZoneMetrics;
  /** What is known of a Zone's sessions on any replica, for REST; undefined for other kinds. */
  insightOf(resource: Resource): Promise<JsonObject | undefined>;
  /** Ends all streams and stops listening. */
  close(): Promise<void>;
}

/** Builds the global's side of sync: any replica serves any zone (design.md §5). */
export function createGlobalSync(given: GlobalSyncOptions): GlobalSync {
  const options = { ...given, registry: withRelayedKinds(given.registry) };
  const { index, registry, clock } = options;
  const encoder = new ResourceEncoder({ role: 'global' }, options.kuma);
  const fanOut = new FanOut({
    index,
    registry,
    encoder,
    now: () => clock.now(),
    exportDefault: options.exportDefault ?? 'All',
  });
  const live = new LiveSessions((zone) => void insights.write([zone]));
  const gate = new KumaGate(options);
  const refused = new RefusedStores(options);
  const endings = new StreamEndings();
  const inbound = new InboundCapacity(clock, options.inbound);
  const doubts = new DoubtfulClaims(options);
  const quarantines = new Quarantines(index, registry);
  const insights = new ZoneInsights(options, live, { refused, doubts, ends: endings });
  const limits = new AttemptLimits(clock, options.attempts);
  const doorParts = { refused, doubts, gate, quarantines, limits };
  const handshakes = new HandshakeHandler(options, live, options.features ?? Object.values(Extension), doorParts);
  const reaper = new SessionReaper({ options, live, audience: fanOut, insights, gate });
  const unsubscribe = followIndex(index, { live, quarantines, gate, fanOut });
  const admissions = new StreamAuthMonitor(options.auth, clock, options.logger);
  const refusals = new RefusalLog(clock, options.logger);
  const shared = { gate, options, fanOut, live, handshakes, admissions, quarantines, refusals, inbound, endings };
  const streams = new StreamHandler({ kumaInstances: new KumaInstanceIds(), ...shared });
  const port = zonePort(options, { refusals, streams, door: handshakes });
  reaper.start();
  return {
    bind: (host, number, credentials) => port.bind(host, number, credentials),
    handshake: (request, headers) => handshakes.handshake(request, headers),
    accept: (arrived) => void streams.serve(arrived),
    ...metricsOf(live, inbound),
    insightOf: (resource) => insights.of(resource),
    ...zoneDecisions({ options, live, refused, doubts }),
    close: async () => {
      reaper.stop();
      unsubscribe();
      gate.close();
      admissions.close();
      live.closeAll('the global stops');
      await port.close();
    },
  };
}

function metricsOf(live: LiveSessions, inbound: InboundCapacity): Pick<GlobalSync, 'reports' | 'metrics'> {
  const members = (): readonly LiveStream[] => live.names().flatMap((zone) => live.of(zone));
  return {
    reports: () => new Map(live.names().map((zone) => [zone, live.of(zone).flatMap((member) => member.reports())])),
    metrics: () => ({
      ...inbound.metrics(),
      unansweredBytes: members().reduce((sum, member) => sum + member.unanswered(), 0),
    }),
  };
}

/** What changes in the store means for the streams; until the returned function is called. */
function followIndex(
  index: IndexReader,
  { live, quarantines, gate, fanOut }: Pick<GlobalParts, 'live' | 'quarantines' | 'gate' | 'fanOut'>,
): () => void {
  return index.subscribe((event) => {
    if (event.reloaded) live.closeAll('the global loaded its state anew');
    const zones = event.changes.filter(({ id }) => id.kind === 'Zone');
    for (const change of zones) {
      const reason = endingBy(change, quarantines);
      if (reason !== undefined) live.closeZone(change.id.name, reason);
    }
    if (zones.length > 0) void gate.check();
    fanOut.observe(event);
  });
}

/** Why a change of a Zone ends its streams; undefined where it does not. */
function endingBy({ before, after }: IndexChange, quarantines: Quarantines): string | undefined {
  if (!after) return 'the zone was deleted';
  const now = quarantines.of(after);
  if (now.all) return `the zone is ${QUARANTINED}`;
  return before && releases(quarantines.of(before), now) ? 'what was quarantined is asked for again' : undefined;
}

/** The port by which zones come, once it is bound. */
interface ZonePort {
  bind(host: string, port: number, credentials?: ServerCredentials): Promise<number>;
  close(): Promise<void>;
}

/** What answers at the port. */
interface PortParts {
  readonly refusals: RefusalLog;
  readonly streams: StreamHandler;
  readonly door: HandshakeHandler;
}

function zonePort({ connections = DEFAULT_CONNECTIONS }: GlobalSyncOptions, parts: PortParts): ZonePort {
  const guard = new ConnectionAcceptor(connections, parts.refusals);
  let server: Server | undefined;
  return {
    bind: (host, port, credentials = ServerCredentials.createInsecure()) => {
      server ??= serverFor(parts);
      return guard.listen(server, { host, port }, credentials);
    },
    close: async () => {
      const ended = guard.stop();
      if (server) await shutDown(server);
      guard.end();
      await ended;
    },
  };
}

function serverFor({ refusals, streams, door: handshakes }: PortParts): Server {
  const server = new Server(kdsChannelOptions.server);
  const unary = unaryHandlers(refusals);
  server.addService(SyncServiceService, {
    handshake: unary((request: HandshakeRequest, headers, address) => handshakes.handshake(request, headers, address)),
  });
  server.addService(kdsSyncService, {
    globalToZoneSync: (call: BytesCall) => void streams.down(call),
    zoneToGlobalSync: (call: BytesCall) => void streams.up(call),
  });
  server.addService(
    { healthCheck: GlobalKDSServiceService.healthCheck },
    { healthCheck: unary(() => Promise.resolve({ interval: { seconds: 0, nanos: 0 } })) },
  );
  return server;
}

/** Streams are ended before; what is still open then belongs to peers that do not read. */
function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.tryShutdown(() => resolve());
    server.forceShutdown();
  });
}
