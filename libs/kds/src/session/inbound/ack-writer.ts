import { describeIdentity } from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import type { Rejection } from '@causeway/sync';
import { Extension } from '../../wire/dialect';
import { encodeRequest, type DeliveryResult, type CountedOrder } from '../../wire/request';
import type { OpenedResponse } from '../../wire/response';
import { parseWireKey } from '../../wire/wire-resource';
import { limitResults, toRejectionFields, formatRejections } from '../peer-limits';
import type { PeerStream } from '../peer-stream';
import type { Session } from '../session';
import type { ReceivedMessage } from './decode-message';
import type { RaisedOrder } from './inbound-applier';

/** The response to acknowledge. */
export type AnsweredResponse = Pick<OpenedResponse, 'kind' | 'nonce'>;

/** Maximum bytes of creation orders in an answer; the origin gets the rest in its next session. */
const MAX_ORDER_BYTES = 1024 * 1024;
/** Bytes of a creation order in addition to the names. */
const ORDER_BYTES = 80;

/** Rejected resources and changed creation orders of a message. */
export interface Differences {
  readonly rejected: readonly Rejection[];
  readonly raised: readonly RaisedOrder[];
}

/** The stream for the answers, and its logger. */
export interface AckWriterParts {
  readonly session: Pick<Session, 'zone' | 'extensions'>;
  readonly stream: Pick<PeerStream, 'write'>;
  readonly logger: Logger;
}

/** Answers the responses of a peer: ACK, or NACK with the rejected resources. Each answer resolves when the peer can receive another. */
export class AckWriter {
  private closed = false;
  /** Resumes the writer that waits for the peer to read. */
  private readOn: (() => void) | undefined;

  constructor(private readonly parts: AckWriterParts) {}

  ack(response: AnsweredResponse): Promise<void> {
    return this.write(encodeRequest({ type: 'ack', ...this.toHead(response), results: [] }));
  }

  /** Sends a NACK for an unknown kind; an ACK if the response had no resources. */
  answerKind(response: AnsweredResponse, rejected: readonly Rejection[]): Promise<void> {
    if (rejected.length === 0) return this.ack(response);
    const message = formatRejections(rejected, () => response.kind);
    return this.write(encodeRequest({ type: 'nack', ...this.toHead(response), message, results: [] }));
  }

  /** Sends an ACK, or a NACK that lists the rejected resources of a message; both list the creation orders that count. */
  answer(
    response: AnsweredResponse,
    { message, facts }: ReceivedMessage,
    { rejected, raised }: Differences,
  ): Promise<void> {
    const { session, logger } = this.parts;
    const orders = session.extensions.includes(Extension.order) ? boundedOrders(raised) : [];
    if (rejected.length === 0) {
      return this.write(encodeRequest({ type: 'ack', ...this.toHead(response), results: [], orders }));
    }
    const { kind } = response;
    const names = new Map(message.items.map(({ wireKey, id }) => [wireKey, id]));
    const formatName = (wireKey: string): string => {
      const id = names.get(wireKey);
      return id ? describeIdentity(id) : `${kind} ${wireKey}`;
    };
    logger.warn('rejected resources of the peer', { kind, ...toRejectionFields(rejected, formatName) });
    const withResults = session.extensions.includes(Extension.result);
    const results = withResults ? limitResults(toResults(kind, rejected, facts)) : [];
    const text = formatRejections(rejected, formatName);
    return this.write(encodeRequest({ type: 'nack', ...this.toHead(response), message: text, results, orders }));
  }

  /** The peer reads again. */
  drain(): void {
    this.readOn?.();
  }

  /** Stops waiting for the peer. */
  close(): void {
    this.closed = true;
    this.readOn?.();
  }

  private toHead({ kind, nonce }: AnsweredResponse): {
    readonly kind: string;
    readonly zone: string;
    readonly nonce: string;
  } {
    return { kind, zone: this.parts.session.zone, nonce };
  }

  private async write(answer: Buffer): Promise<void> {
    if (this.parts.stream.write(answer) || this.closed) return;
    await new Promise<void>((resolve) => (this.readOn = resolve));
    this.readOn = undefined;
  }
}

function* toResults(
  kind: string,
  rejected: readonly Rejection[],
  facts: ReceivedMessage['facts'],
): Generator<DeliveryResult> {
  for (const { wireKey, reason } of rejected) {
    const version = facts.get(wireKey)?.version ?? '';
    yield { ...parseWireKey(wireKey), kind, version, outcome: 'rejected', reason };
  }
}

function boundedOrders(raised: readonly RaisedOrder[]): readonly CountedOrder[] {
  const orders: CountedOrder[] = [];
  let size = 0;
  for (const { id, creationOrder } of raised) {
    const { mesh, zone, namespace, name } = id;
    size += ORDER_BYTES + mesh.length + zone.length + namespace.length + name.length;
    if (size > MAX_ORDER_BYTES) break;
    orders.push({ mesh, zone, namespace, name, creationOrder });
  }
  return orders;
}
