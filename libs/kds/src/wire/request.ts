import { printableText } from '@causeway/resources';
import {
  CountedOrder as CountedOrderMessage,
  DeltaDiscoveryRequest,
  ResourceOutcome,
  ResourceResult,
  type Any,
  type Status,
} from '@causeway/proto-gen';
import { BoundsExceeded, checkBytes, checkFields, readFields, MAX_KIND_LENGTH, REQUEST_BOUNDS } from './bounds';
import { decodeNodeMetadata, encodeNode, type NodeMetadata } from './node';
import type { WireKey } from './wire-resource';

const EVERYTHING = '*';
const Field = { node: 1, typeUrl: 2, errorDetail: 7 } as const;

const ORDER_URL = 'type.googleapis.com/causeway.v1.CountedOrder';
const RESULT_URL = 'type.googleapis.com/causeway.v1.ResourceResult';

const OUTCOMES = {
  applied: ResourceOutcome.RESOURCE_OUTCOME_APPLIED,
  rejected: ResourceOutcome.RESOURCE_OUTCOME_REJECTED,
  superseded: ResourceOutcome.RESOURCE_OUTCOME_SUPERSEDED,
} as const;

/** Result of applying one resource at the receiver (docs/design.md §5 cw-result). All three outcomes acknowledge it. */
export interface DeliveryResult extends WireKey {
  readonly kind: string;
  /** Version of the resource; empty for a removal. */
  readonly version: string;
  readonly outcome: 'applied' | 'rejected' | 'superseded';
  /** Reason for the operator; empty unless rejected. */
  readonly reason: string;
}

/** The creation order that counts for a resource that the peer sent with another one (docs/design.md §5 cw-order). */
export interface CountedOrder {
  readonly mesh: string;
  /** Zone of origin; empty for kinds that no zone owns. */
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
  readonly creationOrder: number;
}

/** First request of a kind on a stream; requests the full state. */
export interface SubscribeRequest {
  readonly type: 'subscribe';
  readonly kind: string;
  /** The zone's name, also in requests of the global. */
  readonly zone: string;
  readonly metadata?: NodeMetadata;
  /** Versions that the peer holds, by `name.mesh`. Kuma sends none; a Causeway peer uses resume points instead. */
  readonly held: Readonly<Record<string, string>>;
}

/** Acknowledges a response; resources that are not applied are listed in `results`. */
interface AckRequest {
  readonly type: 'ack';
  readonly kind: string;
  readonly zone: string;
  readonly nonce: string;
  /** Only with `cw-result`. */
  readonly results: readonly DeliveryResult[];
  /** Only with `cw-order`. */
  readonly orders?: readonly CountedOrder[];
}

/** Rejects resources of a response; the others are applied. */
interface NackRequest {
  readonly type: 'nack';
  readonly kind: string;
  readonly zone: string;
  readonly nonce: string;
  readonly message: string;
  /** Only with `cw-result`. */
  readonly results: readonly DeliveryResult[];
  /** Only with `cw-order`. */
  readonly orders?: readonly CountedOrder[];
}

export type WireRequest = SubscribeRequest | AckRequest | NackRequest;

/** Encodes a DeltaDiscoveryRequest. Each has `node`: a Kuma peer fails without it (docs/reference/kds-wire.md §2.3). */
export function encodeRequest(request: WireRequest): Buffer {
  const { kind, zone } = request;
  const metadata = request.type === 'subscribe' ? request.metadata : undefined;
  const base = { ...DeltaDiscoveryRequest.create({ typeUrl: kind }), node: encodeNode(zone, metadata) };
  return Buffer.from(DeltaDiscoveryRequest.encode({ ...base, ...specifics(request) }).finish());
}

/** Decodes a DeltaDiscoveryRequest. Throws BoundsExceeded, and if the message cannot be decoded. */
export function decodeRequest(bytes: Uint8Array): WireRequest {
  boundRequest(bytes);
  const message = DeltaDiscoveryRequest.decode(bytes);
  const head = { kind: message.typeUrl, zone: message.node?.id ?? '' };
  const nonce = message.responseNonce;
  if (nonce === '') {
    const metadata = decodeNodeMetadata(message.node);
    return {
      type: 'subscribe',
      ...head,
      held: message.initialResourceVersions,
      ...(metadata === undefined ? {} : { metadata }),
    };
  }
  const { errorDetail } = message;
  const results = errorDetail?.details.map(decodeResult).filter((result) => result !== undefined) ?? [];
  const orders = errorDetail?.details.map(decodeOrder).filter((order) => order !== undefined) ?? [];
  const counted = orders.length === 0 ? {} : { orders };
  if (errorDetail === undefined || isAck(errorDetail, results.length + orders.length)) {
    return { type: 'ack', ...head, nonce, results, ...counted };
  }
  return {
    type: 'nack',
    ...head,
    nonce,
    message: printableText(errorDetail.message, MAX_MESSAGE_LENGTH),
    results,
    ...counted,
  };
}

/** Maximum length of an answer's text, characters: it lists rejections and ends with their total (`formatRejections`). */
const MAX_MESSAGE_LENGTH = 17 * 1024;

/** Maximum length of one result's reason, characters. */
const MAX_REASON_LENGTH = 4_096;

/** Checks the bounds before anything is decoded. */
function boundRequest(bytes: Uint8Array): void {
  checkBytes('a request', bytes.length, REQUEST_BOUNDS.bytes);
  for (const { number, content } of readFields('a request', bytes, REQUEST_BOUNDS.fields)) {
    if (number === Field.node) checkBytes('the node of a request', content.length, REQUEST_BOUNDS.node);
    if (number === Field.errorDetail) checkFields('the answer to a response', content, REQUEST_BOUNDS.results);
    if (number === Field.typeUrl && content.length > MAX_KIND_LENGTH) {
      throw new BoundsExceeded(`the name of a kind has ${content.length} bytes; at most ${MAX_KIND_LENGTH}`);
    }
  }
}

function specifics(request: WireRequest): Partial<DeltaDiscoveryRequest> {
  switch (request.type) {
    case 'subscribe':
      return { resourceNamesSubscribe: [EVERYTHING], initialResourceVersions: { ...request.held } };
    case 'ack':
      return {
        responseNonce: request.nonce,
        errorDetail: request.results.length + (request.orders?.length ?? 0) > 0 ? status('', request) : undefined,
      };
    case 'nack':
      return {
        responseNonce: request.nonce,
        resourceNamesSubscribe: [EVERYTHING],
        errorDetail: status(request.message, request),
      };
  }
}

/** With `cw-result` and `cw-order` an ACK has details too, but no message. */
function isAck(detail: Status, details: number): boolean {
  return detail.message === '' && detail.code === 0 && details > 0;
}

function status(message: string, { results, orders = [] }: Pick<AckRequest, 'results' | 'orders'>): Status {
  return { code: 0, message, details: [...results.map(encodeResult), ...orders.map(encodeOrder)] };
}

function encodeOrder(order: CountedOrder): Any {
  return { typeUrl: ORDER_URL, value: Buffer.from(CountedOrderMessage.encode({ ...order }).finish()) };
}

function decodeOrder({ typeUrl, value }: Any): CountedOrder | undefined {
  if (typeUrl !== ORDER_URL) return undefined;
  const { mesh, zone, namespace, name, creationOrder } = CountedOrderMessage.decode(value);
  return { mesh, zone, namespace, name, creationOrder };
}

/** Encodes a result as an entry of `error_detail.details`. */
function encodeResult(result: DeliveryResult): Any {
  const value = ResourceResult.encode({ ...result, outcome: OUTCOMES[result.outcome] }).finish();
  return { typeUrl: RESULT_URL, value: Buffer.from(value) };
}

/** Decodes the result in an entry; undefined for other types of detail and unknown outcomes. */
function decodeResult({ typeUrl, value }: Any): DeliveryResult | undefined {
  if (typeUrl !== RESULT_URL) return undefined;
  const { kind, name, mesh, version, outcome, reason } = ResourceResult.decode(value);
  const read = readOutcome(outcome);
  return read === undefined
    ? undefined
    : { kind, name, mesh, version, outcome: read, reason: printableText(reason, MAX_REASON_LENGTH) };
}

function readOutcome(outcome: ResourceOutcome): DeliveryResult['outcome'] | undefined {
  switch (outcome) {
    case ResourceOutcome.RESOURCE_OUTCOME_APPLIED:
      return 'applied';
    case ResourceOutcome.RESOURCE_OUTCOME_REJECTED:
      return 'rejected';
    case ResourceOutcome.RESOURCE_OUTCOME_SUPERSEDED:
      return 'superseded';
    default:
      return undefined;
  }
}
