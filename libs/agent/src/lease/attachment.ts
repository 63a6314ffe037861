import { AgentServiceService, type AttachRequest, type AttachResponse } from '@causeway/proto-gen';
import { shortened } from '@causeway/resources';
import type { Clock, Timer } from '@causeway/runtime';
import { isOfConnection, type ClientConnection, type ClientConnections, type AdsClientTls } from '@causeway/xds-server';
import { Metadata, status, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';

/** Addresses of the zone's control planes and the credentials of the agent, read again for each attempt. */
export interface LeaseEndpoint {
  /** `host:port` of the xDS ports of the zone's replicas, the preferred one first. */
  readonly addresses: () => readonly string[];
  /** Undefined: plaintext. */
  readonly tls: () => AdsClientTls | undefined;
  /** Header `authorization`; undefined if the certificate is enough. */
  readonly authorization: () => string | undefined;
  /** Connections shared with other streams of the proxy; absent: its own. */
  readonly connections?: ClientConnections;
}

export interface AttachmentEvents {
  readonly received: (response: AttachResponse) => void;
  /** Called once. */
  readonly ended: (failure: string) => void;
}

/** Options of an `Attachment`. */
export interface AttachmentOptions extends Pick<LeaseEndpoint, 'authorization'> {
  readonly connection: ClientConnection;
  /** Timeout for the server to accept the stream, ms. */
  readonly deadline: number;
  readonly clock: Clock;
}

const MAX_TEXT_LENGTH = 1_000;
/**
 * Timeout for the first response of a server that has accepted the stream, ms. A server that cannot reach its store
 * ends the stream itself.
 */
const FIRST_RESPONSE_TIMEOUT = 30_000;
const { path: PATH, requestSerialize, responseDeserialize } = AgentServiceService.attach;

/** Stream to one control plane. */
export class Attachment {
  private readonly call: ClientDuplexStream<AttachRequest, AttachResponse>;
  private deadline: Timer;
  private isOver = false;

  constructor(
    readonly address: string,
    private readonly options: AttachmentOptions,
    private readonly events: AttachmentEvents,
  ) {
    const { connection, authorization: authorize, deadline, clock } = options;
    const metadata = new Metadata();
    const authorization = authorize();
    if (authorization !== undefined) metadata.set('authorization', authorization);
    this.call = connection.client.makeBidiStreamRequest(PATH, requestSerialize, responseDeserialize, metadata);
    this.deadline = clock.after(deadline, () => this.abandon('it did not answer in time'));
    // The server has accepted the stream, so it works: another stream would only add to its load.
    this.call.once('metadata', () => {
      this.deadline.cancel();
      if (!this.isOver)
        this.deadline = clock.after(FIRST_RESPONSE_TIMEOUT, () => this.end('it did not answer in time'));
    });
    this.call.on('data', (response: AttachResponse) => {
      this.deadline.cancel();
      if (!this.isOver) this.events.received(response);
    });
    this.call.on('error', (error: ServiceError) =>
      isOfConnection(error.code) ? this.abandon(formatFailure(error)) : this.end(formatFailure(error)),
    );
    this.call.on('end', () => this.abandon('it ended the stream'));
  }

  send(request: Partial<AttachRequest>): void {
    if (this.isOver) return;
    this.call.write({ agent: undefined, registrations: [], withdrawals: [], heartbeat: 0, ...request });
  }

  /** Ends the stream and releases its connection. Idempotent. */
  end(failure: string): void {
    this.finish(failure, () => this.options.connection.release());
  }

  /** Ends the stream, and its failed connection unless others use it. Idempotent. */
  abandon(failure: string): void {
    this.finish(failure, () => this.options.connection.abandon());
  }

  private finish(failure: string, letGo: () => void): void {
    if (this.isOver) return;
    this.isOver = true;
    this.deadline.cancel();
    this.call.cancel();
    letGo();
    this.events.ended(failure);
  }
}

function formatFailure({ code, details }: ServiceError): string {
  return `${status[code] ?? code}: ${shortened(details, MAX_TEXT_LENGTH, '…')}`;
}
