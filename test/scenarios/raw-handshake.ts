import { Client, credentials, type Metadata, type ServiceError } from '@grpc/grpc-js';
import { HandshakeRequest, SyncServiceClient, type HandshakeResponse } from '@causeway/proto-gen';
import { encodeZoneHeaders, Extension } from '@causeway/kds/testing';

/** Outcome of a handshake. */
export interface Shaken {
  readonly response: HandshakeResponse | undefined;
  readonly error: ServiceError | undefined;
}

/** Makes a handshake by gRPC with arbitrary content. */
export class RawHandshaker {
  private readonly client: Client;
  private readonly service: SyncServiceClient;

  constructor(port: number) {
    this.client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    const shared = { channelOverride: this.client.getChannel() };
    this.service = new SyncServiceClient(`127.0.0.1:${port}`, credentials.createInsecure(), shared);
  }

  shake(
    request: Partial<HandshakeRequest>,
    headers: { readonly zone?: string; readonly token?: string } = {},
  ): Promise<Shaken> {
    const { zone = '' } = request;
    const whole = HandshakeRequest.create({ features: Object.values(Extension), instance: 'liar', ...request });
    const metadata = encodeZoneHeaders({ zone, version: '0', ...headers });
    return this.send(whole, metadata);
  }

  send(request: HandshakeRequest, metadata: Metadata): Promise<Shaken> {
    return new Promise((resolve) => {
      this.service.handshake(request, metadata, (error, response) => {
        resolve(error ? { response: undefined, error } : { response, error: undefined });
      });
    });
  }

  close(): void {
    this.client.close();
  }
}
