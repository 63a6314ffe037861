import { Server, ServerCredentials } from '@grpc/grpc-js';
import { GlobalKDSServiceService, SyncServiceService, type HandshakeRequest } from '@causeway/proto-gen';
import { errorText } from '@causeway/runtime';
import { kdsChannelOptions } from '../wire/channel-options';
import { Extension } from '../wire/dialect';
import { ResourceEncoder } from '../wire/resource-encoder';
import { kdsSyncService } from '../wire/services';
import { Audience } from './audience';
import { LiveSessions } from './live-sessions';
import type { GlobalSyncOptions } from './options';
import { ZoneDoor } from './zone-door';
import { unaryFor } from './unary';
import { ZoneStreams, type BytesCall } from './zone-streams';

/** What this version can; the handshake picks what the zone can as well. */
const FEATURES: readonly string[] = Object.values(Extension);

/** The global's side of sync on one replica. */
export interface GlobalSync {
  /** Listens and resolves with the port; plain text without credentials. */
  bind(host: string, port: number, credentials?: ServerCredentials): Promise<number>;
  /** Ends all streams and stops listening. */
  close(): Promise<void>;
}

/** Builds the global's side of sync: any replica serves any zone (design.md §5). */
export function createGlobalSync(options: GlobalSyncOptions): GlobalSync {
  const { index, registry } = options;
  const encoder = new ResourceEncoder({ role: 'global' }, options.kuma);
  const audience = new Audience({ index, registry, encoder });
  const live = new LiveSessions();
  const door = new ZoneDoor(options, live, options.features ?? FEATURES);
  const streams = new ZoneStreams({ options, audience, live, door });
  const unsubscribe = index.subscribe((event) => {
    if (event.reloaded) live.closeAll('the global loaded its state anew');
    audience.observe(event);
  });
  const server = new Server(kdsChannelOptions.server);
  const unary = unaryFor(options.logger);
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
  return {
    bind: (host, port, credentials = ServerCredentials.createInsecure()) =>
      listen(server, `${host}:${port}`, credentials),
    close: async () => {
      unsubscribe();
      live.closeAll('the global stops');
      await shutDown(server);
    },
  };
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
