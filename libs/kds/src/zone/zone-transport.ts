import {
  Client,
  compressionAlgorithms,
  Metadata,
  status,
  type ChannelCredentials,
  type ChannelOptions,
  type ClientUnaryCall,
  type ServiceError,
} from '@grpc/grpc-js';
import {
  GlobalKDSServiceClient,
  SyncServiceClient,
  type HandshakeRequest,
  type HandshakeResponse,
  type RenewTokenRequest,
  type RenewTokenResponse,
} from '@causeway/proto-gen';
import { ClientSockets } from '@causeway/grpc-server';
import { type Clock, errorText } from '@causeway/runtime';
import { ClientStream } from '../session/grpc-streams';
import type { ListenedStream } from '../session/peer-stream';
import { kdsChannelOptions, kdsSyncService } from '../wire/kds-service';

/** Timeout of a handshake including the connect, ms. */
const HANDSHAKE_DEADLINE = 10_000;

const OPTIONS: ChannelOptions = {
  ...kdsChannelOptions.client,
  // Compression costs more than it saves on small messages with changes; peers accept both.
  'grpc.default_compression_algorithm': compressionAlgorithms.identity,
  // Each session has its own connection.
  'grpc.use_local_subchannel_pool': 1,
  // No retries: a restarted stream needs a new session; and when grpc-js 1.14.7 would retry a call, cancelling it while
  // its connection closes never returns.
  'grpc.enable_retries': 0,
};

/** Maximum pause that a global can request, ms. */
const MAX_RETRY_DELAY = 60_000;

/** Returns the pause that a global requested when it refused a call, ms; 0 if it requested none. */
export function toRetryDelay(error: unknown): number {
  if (!(error instanceof Error) || !('metadata' in error) || !(error.metadata instanceof Metadata)) return 0;
  const hint = Number(error.metadata.get('grpc-retry-pushback-ms')[0] ?? 0);
  return hint > 0 ? Math.min(hint, MAX_RETRY_DELAY) : 0;
}

/** Returns whether a global refused a call because of its token. */
export function isUnauthenticated(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === status.UNAUTHENTICATED;
}

/** One connection to the global, over gRPC or in memory. */
export interface ZoneTransport {
  /** Does the handshake. Undefined if the global does not implement the call: it is plain Kuma. `now` is ms since 1970, for a deadline. */
  handshake(request: HandshakeRequest, metadata: Metadata, now: number): Promise<HandshakeResponse | undefined>;
  /**
   * Requests the successor of the zone's token. Undefined if the global does not implement the call: it is of an older version. Absent in
   * transports in memory.
   */
  renewToken?(request: RenewTokenRequest, metadata: Metadata): Promise<RenewTokenResponse | undefined>;
  /**
   * Reports to a Kuma global that the zone is alive. Resolves with the time until the next call in ms, 0 if the zone
   * decides; undefined if the global does not implement the call (docs/reference/kds-wire.md §6). Rejects with gRPC's
   * error. Absent in transports that do not reach Kuma.
   */
  healthCheck?(metadata: Metadata): Promise<number | undefined>;
  stream(direction: 'down' | 'up', metadata: Metadata): ListenedStream;
  /** Closes the connection and its streams. */
  close(): void;
}

/** A gRPC connection. */
export class GrpcZoneTransport implements ZoneTransport {
  private readonly sockets: ClientSockets;
  private readonly client: Client;
  private readonly handshakes: SyncServiceClient;
  private readonly health: GlobalKDSServiceClient;

  constructor(
    address: string,
    credentials: ChannelCredentials,
    private readonly clock: Clock,
  ) {
    this.sockets = new ClientSockets(credentials, clock);
    this.client = new Client(address, this.sockets.credentials, OPTIONS);
    const shared = { channelOverride: this.client.getChannel() };
    this.handshakes = new SyncServiceClient(address, credentials, shared);
    this.health = new GlobalKDSServiceClient(address, credentials, shared);
  }

  /** Undefined if the global does not implement the call: it is plain Kuma. Rejects with gRPC's error. */
  handshake(request: HandshakeRequest, metadata: Metadata): Promise<HandshakeResponse | undefined> {
    return this.answer((answered) => this.handshakes.handshake(request, metadata, answered));
  }

  renewToken(request: RenewTokenRequest, metadata: Metadata): Promise<RenewTokenResponse | undefined> {
    return this.answer((answered) => this.handshakes.renewToken(request, metadata, answered));
  }

  /** Resolves with the answer to a call; undefined if the global does not implement it. Rejects with gRPC's error. */
  private answer<A>(
    begin: (answered: (error: ServiceError | null, answer: A) => void) => ClientUnaryCall,
  ): Promise<A | undefined> {
    return new Promise((resolve, reject) => {
      const answered = (error: ServiceError | null, answer: A): void => {
        late.cancel();
        if (!error) resolve(answer);
        else if (error.code === status.UNIMPLEMENTED) resolve(undefined);
        else reject(error);
      };
      const call = begin(answered);
      const late = this.clock.after(HANDSHAKE_DEADLINE, () => call.cancel());
    });
  }

  healthCheck(metadata: Metadata): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      this.health.healthCheck({}, metadata, (error, response) => {
        const { seconds = 0, nanos = 0 } = response?.interval ?? {};
        if (!error) resolve(seconds * 1_000 + nanos / 1_000_000);
        else if (error.code === status.UNIMPLEMENTED) resolve(undefined);
        else reject(error);
      });
    });
  }

  stream(direction: 'down' | 'up', metadata: Metadata): ClientStream {
    const method = direction === 'down' ? kdsSyncService.globalToZoneSync : kdsSyncService.zoneToGlobalSync;
    const { path, requestSerialize, responseDeserialize } = method;
    return new ClientStream(this.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata));
  }

  close(): void {
    this.client.close();
    this.sockets.end();
  }
}

/** Interval if the global requests none, ms (docs/reference/kds-wire.md §6). */
const DEFAULT_INTERVAL = 300_000;

/** Dependencies of pinging a plain Kuma global. */
export interface HealthPings {
  readonly transport: ZoneTransport;
  readonly headers: () => Metadata;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Reports to a Kuma global that the zone is alive until the signal aborts. Rejects when a call fails. */
export async function pingHealth({ transport, headers, clock, signal }: HealthPings): Promise<void> {
  while (!signal.aborted) {
    const interval = await transport.healthCheck?.(headers());
    if (interval === undefined) return;
    await clock.sleep(interval > 0 ? interval : DEFAULT_INTERVAL, signal);
  }
}

/** Returns why pings failed, for the log. */
export function pingFailure(error: unknown): string {
  return `HealthCheck: ${errorText(error)}`;
}
