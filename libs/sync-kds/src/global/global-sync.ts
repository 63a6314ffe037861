import { Server, ServerCredentials } from '@grpc/grpc-js';
import {
  GlobalKDSServiceService,
  SyncServiceService,
  type HandshakeRequest,
  type HandshakeResponse,
} from '@causeway/proto-gen';
import type { JsonObject, Resource } from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import { LiveAdmissions } from '../auth/live-admissions';
import type { KindReport } from '../report';
import { kdsChannelOptions } from '../wire/channel-options';
import { Extension } from '../wire/dialect';
import { ResourceEncoder } from '../wire/resource-encoder';
import type { ZoneHeaders } from '../wire/headers';
import { kdsSyncService } from '../wire/services';
import { Audience } from './audience';
import { ZoneInsights } from './insights';
import { KumaGate } from './kuma-gate';
import { LiveSessions, type SessionMember } from './live-sessions';
import type { GlobalSyncOptions } from './options';
import { RefusedStores } from './refused-stores';
import { StreamEnds } from './stream-ends';
import { PlainLives } from './plain-lives';
import { withRelayedKinds } from './relayed-kinds';
import { unaryFor } from './unary';
import { Upkeep } from './upkeep';
import { zoneDecisions, type ZoneDecisions } from './zone-decisions';
import { ZoneDoor } from './zone-door';
import { ZoneIntake, type IntakeFigures } from './zone-intake';
import { ZoneStreams, type ArrivedStream, type BytesCall } from './zone-streams';

/** What zones cost a replica now. */
export interface ZoneCosts extends IntakeFigures {
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
  accept(arrived: ArrivedStream): void;
  /** How far each zone with a stream on this replica is, by zone and kind. */
  figures(): ReadonlyMap<string, readonly KindReport[]>;
  /** What zones cost this replica. */
  costs(): ZoneCosts;
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
  const audience = new Audience({
    index,
    registry,
    encoder,
    now: () => clock.now(),
    exportDefault: options.exportDefault ?? 'All',
  });
  const live = new LiveSessions((zone) => void insights.write([zone]));
  const gate = new KumaGate(options);
  const refused = new RefusedStores(options);
  const ends = new StreamEnds();
  const intake = new ZoneIntake(clock, options.intake);
  const insights = new ZoneInsights(options, live, refused, ends);
  const door = new ZoneDoor(options, live, options.features ?? Object.values(Extension), { refused, gate });
  const upkeep = new Upkeep({ options, live, audience, insights, gate });
  const unsubscribe = index.subscribe((event) => {
    if (event.reloaded) live.closeAll('the global loaded its state anew');
    for (const { id, after } of event.changes) {
      if (id.kind === 'Zone' && !after) live.closeZone(id.name, 'the zone was deleted');
    }
    if (event.changes.some(({ id }) => id.kind === 'Zone')) void gate.look();
    audience.observe(event);
  });
  const admissions = new LiveAdmissions(options.auth, clock, options.logger);
  const shared = { options, audience, live, door, gate, admissions, intake, ends };
  const streams = new ZoneStreams({ ...shared, plainLives: new PlainLives() });
  let server: Server | undefined;
  upkeep.start();
  return {
    bind: (host, port, credentials = ServerCredentials.createInsecure()) => {
      server ??= serverFor(options, streams, door);
      return listen(server, `${host}:${port}`, credentials);
    },
    handshake: (request, headers) => door.handshake(request, headers),
    accept: (arrived) => void streams.serve(arrived),
    ...figuresOf(live, intake),
    insightOf: (resource) => insights.of(resource),
    ...zoneDecisions({ options, live, refused }),
    close: async () => {
      upkeep.stop();
      unsubscribe();
      gate.close();
      admissions.close();
      live.closeAll('the global stops');
      if (server) await shutDown(server);
    },
  };
}

function figuresOf(live: LiveSessions, intake: ZoneIntake): Pick<GlobalSync, 'figures' | 'costs'> {
  const members = (): readonly SessionMember[] => live.names().flatMap((zone) => live.of(zone));
  return {
    figures: () => new Map(live.names().map((zone) => [zone, live.of(zone).flatMap((member) => member.reports())])),
    costs: () => ({
      ...intake.figures(),
      unansweredBytes: members().reduce((sum, member) => sum + member.unanswered(), 0),
    }),
  };
}

function serverFor({ logger }: GlobalSyncOptions, streams: ZoneStreams, door: ZoneDoor): Server {
  const server = new Server(kdsChannelOptions.server);
  const unary = unaryFor(logger);
  server.addService(SyncServiceService, {
    handshake: unary((request: HandshakeRequest, headers) => door.handshake(request, headers)),
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

function listen(server: Server, address: string, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error) reject(new Error(`cannot listen on ${address}: ${errorText(error)}`, { cause: error }));
      else resolve(port);
    });
  });
}

/** Streams are ended before; what is still open then belongs to peers that do not read. */
function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.tryShutdown(() => resolve());
    server.forceShutdown();
  });
}
