import { ClientSockets } from '@causeway/grpc-server';
import { AgentServiceClient, type AttachRequest, type AttachResponse } from '@causeway/proto-gen';
import { shortened } from '@causeway/resources';
import type { Clock, Timer } from '@causeway/runtime';
import { clientCredentials, type ClientTls } from '@causeway/xds';
import { Metadata, status, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';

/** How the control planes of the zone are reached and what the agent shows them. Each is asked for at each try. */
export interface LeaseEndpoint {
  /** `host:port` of the xDS ports of the zone's replicas, the preferred one first. */
  readonly addresses: () => readonly string[];
  /** Plain text where it is undefined. */
  readonly tls: () => ClientTls | undefined;
  /** The header `authorization`, where the certificate is not enough. */
  readonly authorization: () => string | undefined;
}

export interface AttachmentEvents {
  readonly received: (response: AttachResponse) => void;
  /** Is called once. */
  readonly ended: (failure: string) => void;
}

/** How long a server may take to answer, ms: many agents attach at once after a control plane was away. */
const CONNECT = 15_000;
const LONGEST_TEXT = 1_000;
/** A dead server is noticed after both, ms; an agent whose heartbeats are not confirmed leaves earlier. */
const KEEPALIVE = { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 };

/** One stream to one control plane. */
export class Attachment {
  private readonly sockets: ClientSockets;
  private readonly client: AgentServiceClient;
  private readonly call: ClientDuplexStream<AttachRequest, AttachResponse>;
  private readonly deadline: Timer;
  private isOver = false;

  constructor(
    readonly address: string,
    endpoint: LeaseEndpoint,
    clock: Clock,
    private readonly events: AttachmentEvents,
  ) {
    const { credentials, options } = clientCredentials(address, endpoint.tls());
    this.sockets = new ClientSockets(credentials, clock);
    this.client = new AgentServiceClient(address, this.sockets.credentials, {
      ...{ ...KEEPALIVE, ...options },
      'grpc.use_local_subchannel_pool': 1,
      'grpc.enable_retries': 0,
    });
    const metadata = new Metadata();
    const authorization = endpoint.authorization();
    if (authorization !== undefined) metadata.set('authorization', authorization);
    this.call = this.client.attach(metadata);
    this.deadline = clock.after(CONNECT, () => this.end('it did not answer in time'));
    this.call.on('data', (response: AttachResponse) => {
      this.deadline.cancel();
      if (!this.isOver) this.events.received(response);
    });
    this.call.on('error', (error: ServiceError) => this.end(failureOf(error)));
    this.call.on('end', () => this.end('it ended the stream'));
  }

  send(request: Partial<AttachRequest>): void {
    if (this.isOver) return;
    this.call.write({ agent: undefined, registrations: [], withdrawals: [], heartbeat: 0, ...request });
  }

  end(failure: string): void {
    if (this.isOver) return;
    this.isOver = true;
    this.deadline.cancel();
    this.call.cancel();
    this.client.close();
    this.sockets.end();
    this.events.ended(failure);
  }
}

function failureOf({ code, details }: ServiceError): string {
  return `${status[code] ?? code}: ${shortened(details, LONGEST_TEXT, '…')}`;
}
