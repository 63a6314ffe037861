import { isDeepStrictEqual } from 'node:util';
import { ClientSockets } from '@causeway/grpc-server';
import type { Clock } from '@causeway/runtime';
import { Client, status } from '@grpc/grpc-js';
import { clientCredentials, type AdsClientTls } from './client-credentials';

/** A connection as one of its users sees it. */
export interface ClientConnection {
  /** The gRPC client for calls. Its user must not close it. */
  readonly client: Client;
  /** Ends this use; the connection is closed with its last use. Idempotent. */
  release(): void;
  /** Ends this use after a failure of the connection itself: the next user gets a new connection. Idempotent. */
  abandon(): void;
}

/** Maximum size of a message, bytes: a response with many resources of one type. */
const MESSAGE_BYTES = 16 * 1024 * 1024;
/** A dead server is detected after the sum of both, ms. */
const KEEPALIVE = { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 };

/**
 * The connections of one proxy to control planes. Its streams (discovery, registration) to one address share one connection: a TLS handshake is the
 * most expensive part of a reconnect for the control plane. A user with another certificate gets a new connection; the old one is closed with its
 * last use. No stream blocks another, because each has a window of 64 KiB.
 */
export class ClientConnections {
  /** The connection that the next user of an address shares. */
  private readonly newest = new Map<string, SharedConnection>();

  constructor(private readonly clock: Clock) {}

  /**
   * Returns a connection to `address` (`host:port`) with the credentials of `tls`; plaintext if undefined. The connection may still be in progress.
   */
  use(address: string, tls: AdsClientTls | undefined): ClientConnection {
    const known = this.newest.get(address);
    const shared = known && isDeepStrictEqual(known.tls, tls) ? known : new SharedConnection(address, tls, this.clock);
    this.newest.set(address, shared);
    shared.users += 1;
    let isUsed = true;
    const end = (isBroken: boolean): void => {
      if (!isUsed) return;
      isUsed = false;
      shared.users -= 1;
      if ((isBroken || shared.users === 0) && this.newest.get(address) === shared) this.newest.delete(address);
      if (shared.users === 0) shared.close();
    };
    return { client: shared.client, release: () => end(false), abandon: () => end(true) };
  }
}

/** Reports whether this status of a call means that its connection, or the server behind it, has failed. */
export function isOfConnection(code: status): boolean {
  return code === status.UNAVAILABLE;
}

class SharedConnection {
  readonly client: Client;
  users = 0;
  private readonly sockets: ClientSockets;

  constructor(
    address: string,
    readonly tls: AdsClientTls | undefined,
    clock: Clock,
  ) {
    const { credentials, options } = clientCredentials(address, tls);
    this.sockets = new ClientSockets(credentials, clock);
    this.client = new Client(address, this.sockets.credentials, {
      ...KEEPALIVE,
      ...options,
      'grpc.max_receive_message_length': MESSAGE_BYTES,
      'grpc.max_send_message_length': -1,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
    });
  }

  close(): void {
    this.client.close();
    this.sockets.end();
  }
}
