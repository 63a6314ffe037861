import { AgentServiceService, type AttachRequest, type AttachResponse } from '@causeway/proto-gen';
import { shortened } from '@causeway/resources';
import type { Clock, Timer } from '@causeway/runtime';
import { isOfConnection, type ClientConnection, type ClientConnections, type AdsClientTls } from '@causeway/xds-server';
import { Metadata, status, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';

/** Addresses of the zone's control planes and the credentials of the agent. Read again for each attempt. */
export interface LeaseEndpoint {
  /** `host:port` of the xDS ports of the zone's replicas, the preferred one first. */
  readonly addresses: () => readonly string[];
  /** Plain text where it is undefined. */
  readonly tls: () => AdsClientTls | undefined;
  /** The header `authorization`, where the certificate is not enough. */
  readonly authorization: () => string | undefined;
  /** Those that other streams of the same proxy use; of its own where it is absent. */
  readonly connections?: ClientConnections;
}

export interface AttachmentEvents {
  readonly received: (response: AttachResponse) => void;
  /** Is called once. */
  readonly ended: (failure: string) => void;
}

/** An `Attachment` before its start. */
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
const FIRST_ANSWER = 30_000;
const { path: PATH, requestSerialize, responseDeserialize } = AgentServiceService.attach;

/** One stream to one control plane. */
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
    // The server has taken the stream, so it works: a new stream would only add to what it has to do.
    this.call.once('metadata', () => {
      this.deadline.cancel();
      if (!this.isOver) this.deadline = clock.after(FIRST_ANSWER, () => this.end('it did not answer in time'));
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

  /** Ends the stream; its connection is for others. Idempotent. */
  end(failure: string): void {
    this.over(failure, () => this.options.connection.release());
  }

  /** Ends the stream, and its failed connection unless others use it. Idempotent. */
  abandon(failure: string): void {
    this.over(failure, () => this.options.connection.abandon());
  }

  private over(failure: string, letGo: () => void): void {
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
