import { DeltaDiscoveryRequest, DeltaDiscoveryResponse, DiscoveryRequest } from '@causeway/proto-gen';
import { AggregatedDiscoveryServiceClient, DiscoveryResponse } from '@causeway/proto-gen/testing';
import { credentials, Metadata, type ClientDuplexStream, type ServiceError } from '@grpc/grpc-js';
import { until } from './until';

interface Form<Q, A> {
  readonly request: { fromPartial(partial: object): Q; encode(message: Q): { finish(): Uint8Array } };
  readonly path: string;
  readonly decode: (bytes: Buffer) => A;
}

/** Credentials of a proxy, and the authority by which it verifies the server: without one it speaks plain text. */
interface AdsCredentials {
  readonly authorization?: string;
  readonly ca?: string;
}

/** A stream of a proxy in a test, to a port of loopback or to a target of gRPC: raw requests, and the responses in order. */
class AdsClient<Q, A extends { readonly typeUrl: string; readonly nonce: string }> {
  readonly responses: A[] = [];
  /** Bytes of each response. */
  readonly sizes: number[] = [];
  ended: ServiceError | undefined;
  readonly stream: ClientDuplexStream<Buffer, Buffer>;
  private readonly client: AggregatedDiscoveryServiceClient;

  constructor(
    port: number | string,
    private readonly form: Form<Q, A>,
    readonly node = 'web-1',
    { authorization = '', ca }: AdsCredentials = {},
  ) {
    this.client = new AggregatedDiscoveryServiceClient(
      typeof port === 'string' ? port : `127.0.0.1:${port}`,
      ca === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(ca)),
      {
        'grpc.max_receive_message_length': -1,
        'grpc.use_local_subchannel_pool': 1,
      },
    );
    const metadata = new Metadata();
    if (authorization !== '') metadata.set('authorization', authorization);
    const asIs = (bytes: Buffer): Buffer => bytes;
    this.stream = this.client.makeBidiStreamRequest(form.path, asIs, asIs, metadata);
    this.stream.on('data', (bytes: Buffer) => {
      this.sizes.push(bytes.length);
      this.responses.push(this.form.decode(bytes));
    });
    this.stream.on('error', (error: ServiceError) => (this.ended = error));
    this.stream.on('end', () => (this.ended ??= Object.assign(new Error('ended'), { code: 0 }) as ServiceError));
  }

  /** The node is in every request: a server reads that of the first. */
  send(request: object): void {
    const message = this.form.request.fromPartial({ node: { id: this.node }, ...request });
    this.stream.write(Buffer.from(this.form.request.encode(message).finish()));
  }

  sendBytes(bytes: Buffer): void {
    this.stream.write(bytes);
  }

  /** The response with this number, from 0. */
  async response(number: number): Promise<A> {
    await until(`response ${number}`, () => this.responses.length > number || this.ended !== undefined);
    const response = this.responses[number];
    if (!response) throw new Error(`no response ${number}: ${this.ended?.message}`);
    return response;
  }

  ack(response: A, more: object = {}): void {
    this.send({ typeUrl: response.typeUrl, responseNonce: response.nonce, ...more });
  }

  nack(response: A, message: string, more: object = {}): void {
    this.ack(response, { errorDetail: { code: 3, message }, ...more });
  }

  /** Resolves with how the server ended the stream. */
  async end(): Promise<ServiceError> {
    await until('the end of the stream', () => this.ended !== undefined);
    if (!this.ended) throw new Error('not ended');
    return this.ended;
  }

  async close(): Promise<void> {
    if (!this.ended) this.stream.cancel();
    await this.end();
    this.client.close();
  }
}

const SERVICE = '/envoy.service.discovery.v3.AggregatedDiscoveryService';

export type DeltaClient = AdsClient<DeltaDiscoveryRequest, DeltaDiscoveryResponse>;
export type SotwClient = AdsClient<DiscoveryRequest, DiscoveryResponse>;

export function deltaClient(port: number | string, node?: string, authorization = '', ca?: string): DeltaClient {
  const decode = (bytes: Buffer): DeltaDiscoveryResponse => DeltaDiscoveryResponse.decode(bytes);
  const form = { request: DeltaDiscoveryRequest, path: `${SERVICE}/DeltaAggregatedResources`, decode };
  return new AdsClient(port, form, node, { authorization, ...(ca !== undefined && { ca }) });
}

export function sotwClient(port: number, node?: string, authorization = ''): SotwClient {
  const decode = (bytes: Buffer): DiscoveryResponse => DiscoveryResponse.decode(bytes);
  const form = { request: DiscoveryRequest, path: `${SERVICE}/StreamAggregatedResources`, decode };
  return new AdsClient(port, form, node, { authorization });
}
