import type { ServerCredentials } from '@grpc/grpc-js';
import type { HandshakeRequest, HandshakeResponse } from '@causeway/proto-gen';
import type { JsonObject, Resource } from '@causeway/resources';
import { followIndex, type IndexChange } from '@causeway/store';
import { QUARANTINED, releases } from '@causeway/sync';
import { StreamAuthMonitor } from '../auth/stream-auth-monitor';
import { KumaIncarnations } from '../session/kuma-incarnation';
import { CompressedStates } from '../session/outbound/compressed-states';
import { withRelayedKinds } from '../session/relayed-kinds';
import { DEFAULT_RATES, InboundCapacity, type InboundMetrics } from '../session/inbound/inbound-capacity';
import type { KindReport } from '../session/kind-report';
import { CallerLog } from '@causeway/runtime';
import { Extension } from '../wire/dialect';
import type { ZoneHeaders } from '../wire/headers';
import { ResourceEncoder } from '../wire/resource-encoder';
import { DEFAULT_CONNECTIONS } from '@causeway/grpc-server';
import { AttemptLimits } from './attempt-limits';
import { FanOut } from './fan-out';
import type { GlobalSyncOptions } from './global-sync-options';
import { createZoneListener } from './grpc-server';
import { HandshakeHandler } from './handshake-handler';
import { KumaGate } from './kuma-gate';
import { LiveSessions } from './live-sessions';
import { SessionReaper } from './session-reaper';
import { StreamHandler, type IncomingStream, type StreamHandlerParts } from './stream-handler';
import { Quarantines, createZoneDecisions, type ZoneDecisions } from './zones/zone-decisions';
import { DoubtfulClaims, RefusedStores, StreamEndings } from './zones/zone-incidents';
import { WholeStates } from './zones/whole-states';
import { ZoneInsights } from './zones/zone-insights';

/** Current resource use of zones on a replica. */
export interface ZoneMetrics extends InboundMetrics {
  /** Bytes that were sent to zones and are not acknowledged yet. */
  readonly unansweredBytes: number;
}

/** The global's side of sync on one replica. */
export interface GlobalSync extends ZoneDecisions {
  /** Listens and resolves with the port; plain text without credentials. Rejects if it cannot listen. */
  bind(host: string, port: number, credentials?: ServerCredentials): Promise<number>;
  /** Answers a handshake from a transport other than gRPC. Throws Invalid, Forbidden, Unavailable. */
  handshake(request: HandshakeRequest, headers: ZoneHeaders): Promise<HandshakeResponse>;
  /** Serves a stream from a transport other than gRPC, until it ends. */
  accept(incoming: IncomingStream): void;
  /** Returns the progress of each kind, by zone, for zones with a stream on this replica. */
  reports(): ReadonlyMap<string, readonly KindReport[]>;
  /** Returns the current resource use of zones on this replica. */
  metrics(): ZoneMetrics;
  /** Returns the insight of a Zone from whichever replica has its session; undefined for other kinds. Throws Unavailable. */
  findInsight(resource: Resource): Promise<JsonObject | undefined>;
  /** Ends all streams and stops listening. */
  close(): Promise<void>;
}

/** Builds the global's side of sync; any replica serves any zone (docs/design.md §5). */
export function createGlobalSync(given: GlobalSyncOptions): GlobalSync {
  const options = { ...given, registry: withRelayedKinds(given.registry) };
  const { index, registry, clock, logger } = options;
  const live = new LiveSessions((zone) => void insights.write([zone]));
  const incidents = createIncidents(options);
  const insights = new ZoneInsights(options, live, incidents);
  const wholeStates = new WholeStates(options, live);
  const gate = new KumaGate(options);
  const quarantines = new Quarantines(index, registry, options.rights);
  const fanOut = createFanOut(options);
  const inbound = createInbound(options);
  const limits = new AttemptLimits(clock, options.attempts);
  const features = options.features ?? Object.values(Extension);
  const shared = { ...incidents, gate, quarantines, live, wholeStates };
  const handshakes = new HandshakeHandler(options, { ...shared, limits, features });
  const authMonitor = new StreamAuthMonitor(options.auth, clock, logger);
  const callerLog = new CallerLog(logger, clock);
  const kumaIncarnations = new KumaIncarnations();
  const halves = { ...shared, options, fanOut, kumaIncarnations, compressed: new CompressedStates() };
  const streams = new StreamHandler({ ...halves, handshakes, authMonitor, inbound, callerLog });
  const connections = options.connections ?? DEFAULT_CONNECTIONS;
  const server = createZoneListener(connections, { handshakes, streams, log: callerLog, clock });
  const reaper = new SessionReaper({ options, live, fanOut, insights, gate, wholeStates });
  const unsubscribe = endAndMarkStreams(options, { live, quarantines, gate, fanOut });
  reaper.start();
  return {
    bind: (host, port, credentials) => server.bind(host, port, credentials),
    handshake: (request, headers) => handshakes.handshake(request, headers),
    accept: (incoming) => void streams.serve(incoming),
    ...createMetrics(live, inbound),
    findInsight: (resource) => insights.of(resource),
    ...createZoneDecisions({ options, live, ...incidents }),
    close: async () => {
      reaper.stop();
      unsubscribe();
      gate.close();
      authMonitor.close();
      live.closeAll('the global stops');
      await server.close();
      await wholeStates.settled();
    },
  };
}

function createIncidents(options: GlobalSyncOptions): ConstructorParameters<typeof ZoneInsights>[2] {
  return {
    refused: new RefusedStores(options),
    doubts: new DoubtfulClaims(options),
    endings: new StreamEndings(),
  };
}

function createFanOut({ index, meshes, registry, clock, kuma, exportDefault = 'All' }: GlobalSyncOptions): FanOut {
  const encoder = new ResourceEncoder({ role: 'global' }, kuma);
  return new FanOut({ index, meshes, registry, encoder, now: () => clock.now(), exportDefault });
}

function createInbound({ clock, inbound = {} }: GlobalSyncOptions): InboundCapacity {
  return new InboundCapacity(clock, inbound.bounds, { ...DEFAULT_RATES, ...inbound.rates });
}

function createMetrics(live: LiveSessions, inbound: InboundCapacity): Pick<GlobalSync, 'reports' | 'metrics'> {
  return {
    reports: () =>
      new Map(live.names().map((zone) => [zone, live.of(zone).flatMap(({ half }) => [...half.reports()])])),
    metrics: () => {
      const halves = live.names().flatMap((zone) => live.of(zone).map(({ half }) => half));
      return { ...inbound.metrics(), unansweredBytes: halves.reduce((sum, { unanswered }) => sum + unanswered, 0) };
    },
  };
}

/** Applies changes of the index to the streams, until the returned function is called. */
function endAndMarkStreams(
  { index, rights }: Pick<GlobalSyncOptions, 'index' | 'rights'>,
  { live, quarantines, gate, fanOut }: Pick<StreamHandlerParts, 'live' | 'quarantines' | 'gate' | 'fanOut'>,
): () => void {
  const forgetRights = rights?.onZonesChanged((zones) => {
    // The next stream begins with the full state, and each resource is validated again.
    for (const zone of zones) live.closeZone(zone, 'the rights of the zone to send have changed');
  });
  const unsubscribe = followIndex(index, {
    reload: () => {
      live.closeAll('the global loaded its state anew');
      fanOut.reload();
    },
    apply: (changes) => {
      const zones = changes.filter(({ id }) => id.kind === 'Zone');
      for (const change of zones) {
        const reason = findEndReason(change, quarantines);
        if (reason !== undefined) live.closeZone(change.id.name, reason);
      }
      if (zones.length > 0) void gate.check();
      fanOut.apply(changes);
    },
  });
  return () => {
    unsubscribe();
    forgetRights?.();
  };
}

/** Returns why a change of a Zone ends the zone's streams; undefined if it does not. */
function findEndReason({ before, after }: IndexChange, quarantines: Quarantines): string | undefined {
  if (!after) return 'the zone was deleted';
  const now = quarantines.of(after);
  if (now.all) return `the zone is ${QUARANTINED}`;
  return before && releases(quarantines.of(before), now)
    ? 'quarantined resources are released and requested again'
    : undefined;
}
