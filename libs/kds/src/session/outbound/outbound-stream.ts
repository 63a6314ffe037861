import {
  Outbox,
  type OutboundMessage,
  type MessageLimits,
  type OutboundSource,
  type Rejection,
  type LastSent,
} from '@causeway/sync';
import { parseIdentityKey, type Registry } from '@causeway/resources';
import type { Logger } from '@causeway/runtime';
import type { ResumePoint } from '../peer-state';
import type { KindReport } from '../kind-report';
import type { NodeMetadata } from '../../wire/node';
import { decodeRequest, type WireRequest } from '../../wire/request';
import { encodeResponse, type StatePosition } from '../../wire/response';
import { formatWireKey, parseWireKey } from '../../wire/wire-resource';
import { BoundsExceeded } from '../../wire/bounds';
import type { OutboundItem } from './peer-index-view';
import { SubscribedKinds, MAX_UNKNOWN_KINDS, peerText, rejectionFields } from '../peer-limits';
import type { PeerStream } from '../peer-stream';

/** What a sending stream needs to know. */
export interface OutboundStreamOptions {
  readonly stream: PeerStream;
  readonly source: OutboundSource<OutboundItem>;
  readonly limits: MessageLimits;
  /** `global`, or the zone's name. */
  readonly controlPlane: string;
  /** The zone of the stream; requests of another node are refused. */
  readonly zone: string;
  /** What a Causeway peer is told beside the state. */
  readonly resume?: ResumeSource;
  /** Told what the peer says of itself with what it asks for. */
  readonly onNodeMetadata?: (metadata: NodeMetadata) => void;
  /** Whether a kind that is asked for must wait for now; `resume` afterwards. */
  readonly isWithheld?: (kind: string) => boolean;
  /** Tells which kinds are known here. */
  readonly registry: Registry;
  readonly now: () => number;
  readonly logger: Logger;
}

/** Bytes that a peer may owe answers to, beside one message; a plain peer gets all of a kind in one. */
const MAX_UNANSWERED = { chunked: 1024 * 1024, plain: 16 * 1024 * 1024 } as const;

/** Where our state stands, for a peer that understands it. */
export interface ResumeSource {
  /** The life of our store. */
  incarnation(): string;
  /** Hash of the rules that decide what the peer gets of a kind. */
  view(kind: string): string;
  /** The revision of ours up to which the peer holds a kind by these rules; undefined where it needs the whole state. */
  since(kind: string): number | undefined;
  /** The MAC of a point that the peer reaches. */
  mac(kind: string, point: ResumePoint): string;
}

/**
 * The sending end of a stream: requests come in, responses go out as fast as the peer reads and answers them. It says
 * nothing before `open`.
 */
export class OutboundStream {
  private readonly outbox: Outbox<OutboundItem>;
  private opened = false;
  /** Kinds asked for that must wait. */
  private readonly early = new Set<string>();
  private readonly kinds: SubscribedKinds;
  /** Since when the peer reads nothing of what was written; undefined while it does. */
  private fullSince: number | undefined;
  /** Bytes of the messages that were not answered, by nonce. */
  private readonly flights = new Map<string, number>();
  private unansweredBytes = 0;

  constructor(private readonly options: OutboundStreamOptions) {
    this.kinds = new SubscribedKinds(options.registry);
    this.outbox = new Outbox(options.source, options.limits);
  }

  /** The index is complete: answers may begin. */
  open(): void {
    this.opened = true;
    this.resume();
  }

  /** Something may be withheld no longer. */
  resume(): void {
    const kinds = [...this.early];
    this.early.clear();
    for (const kind of kinds) this.subscribe(kind);
    this.pump();
  }

  message(bytes: Buffer): void {
    const request = this.decode(bytes);
    if (!request) return;
    if (request.type === 'subscribe') {
      if (this.kinds.classify(request.kind) === 'too-many') {
        return this.options.stream.end('exhausted', `more than ${MAX_UNKNOWN_KINDS} kinds that are not known here`);
      }
      if (request.metadata) this.options.onNodeMetadata?.(request.metadata);
      this.subscribe(request.kind);
    } else {
      this.answered(request);
    }
    this.pump();
  }

  drain(): void {
    this.fullSince = undefined;
    this.pump();
  }

  /** Bytes that were sent and not answered. */
  get unanswered(): number {
    return this.unansweredBytes;
  }

  /** Since when the peer reads nothing though its buffers are full, ms since 1970; undefined while it reads. */
  get blockedSince(): number | undefined {
    return this.fullSince;
  }

  /** A resource of a kind may differ from what was told; `pump` afterwards. */
  mark(kind: string, key: string, was: () => LastSent | undefined): void {
    if (this.outbox.isSubscribed(kind)) this.outbox.mark(kind, key, was());
  }

  /** The peer shall hear how far a kind is even when nothing of it changed, so that it can resume from there. */
  touch(kind: string): void {
    if (this.options.resume) this.outbox.requestBookmark(kind);
  }

  /** Sends what may leave now. */
  pump(): void {
    const most = this.options.limits.chunked ? MAX_UNANSWERED.chunked : MAX_UNANSWERED.plain;
    while (this.opened && this.fullSince === undefined && this.unansweredBytes < most) {
      const message = this.outbox.take();
      if (!message) return;
      const bytes = this.encode(message);
      this.flights.set(message.nonce, bytes.length);
      this.unansweredBytes += bytes.length;
      if (!this.options.stream.write(bytes)) this.fullSince = this.options.now();
    }
  }

  reports(): readonly KindReport[] {
    const direction = this.options.controlPlane === 'global' ? 'down' : 'up';
    return [...this.outbox.progress()].map(([kind, progress]) => ({ ...progress, kind, direction, held: 0 }));
  }

  private subscribe(kind: string): void {
    if (!this.opened || this.options.isWithheld?.(kind) === true) this.early.add(kind);
    else this.outbox.subscribe(kind, this.options.resume?.since(kind));
  }

  private decode(bytes: Buffer): WireRequest | undefined {
    try {
      const request = decodeRequest(bytes);
      if (request.zone === this.options.zone) return request;
      this.options.stream.end(
        'refused',
        `node is "${peerText(request.zone, 253)}" on a stream of zone "${this.options.zone}"`,
      );
    } catch (error) {
      if (error instanceof BoundsExceeded) this.options.stream.end('exhausted', error.message);
      else this.options.stream.end('malformed', `request cannot be read: ${String(error)}`);
    }
    return undefined;
  }

  private answered(request: Exclude<WireRequest, { type: 'subscribe' }>): void {
    const { kind, nonce } = request;
    const rejected = rejectionsOf(request);
    // Of what is not in flight nothing is said either: a peer may answer as often as it likes.
    if (!this.outbox.acknowledge(kind, nonce, rejected)) return;
    this.unansweredBytes -= this.flights.get(nonce) ?? 0;
    this.flights.delete(nonce);
    if (request.type === 'nack') {
      const fields = rejectionFields(rejected, (wireKey) => wireKey);
      this.options.logger.warn('the peer rejected resources', { kind, reason: peerText(request.message), ...fields });
    }
  }

  private encode(message: OutboundMessage<OutboundItem>): Buffer {
    return encodeResponse({
      kind: message.kind,
      nonce: message.nonce,
      controlPlane: this.options.controlPlane,
      resources: message.put.map((item) => item.encoded),
      removed: message.removed.map(parseWireKey),
      ...this.position(message),
    });
  }

  private position(message: OutboundMessage<OutboundItem>): { readonly position?: StatePosition } {
    const { resume: standing } = this.options;
    if (!standing) return {};
    const { kind, revision, part, resumed } = message;
    const gone = message.gone.map(parseIdentityKey);
    const point = { incarnation: standing.incarnation(), revision, view: standing.view(kind) };
    const position = {
      ...point,
      ...(revision === 0 ? {} : { mac: standing.mac(kind, point) }),
      more: part === 'chunk',
      resumed,
      gone,
    };
    return { position };
  }
}

/** A peer without cw-result says in one text what it rejected. */
function rejectionsOf(request: Exclude<WireRequest, { type: 'subscribe' }>): readonly Rejection[] {
  const told = request.results.filter((result) => result.outcome === 'rejected');
  if (told.length > 0) return told.map((result) => ({ wireKey: formatWireKey(result), reason: result.reason }));
  return request.type === 'nack' ? [{ wireKey: '', reason: request.message }] : [];
}
