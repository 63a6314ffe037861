import { describeIdentity, type Identity, type Registry } from '@causeway/resources';
import { Fenced, type ResourceIndex } from '@causeway/store';
import { errorText, type Logger } from '@causeway/runtime';
import {
  Inbox,
  isOwnedByStream,
  Rejections,
  type Parcel,
  type PendingLife,
  type Receiver,
  type Rejection,
} from '@causeway/sync';
import type { Dialect } from '../wire/dialect';
import { wireKeyOf } from '../wire/outgoing';
import { encodeRequest } from '../wire/request';
import { decodeResponse, type IncomingResponse } from '../wire/response';
import type { AppliedResult } from '../wire/results';
import { formatWireKey, parseWireKey } from '../wire/wire-resource';
import type { Point } from '../peer-book';
import type { KindReport } from '../report';
import type { IntakeWriter } from './intake-writer';
import { parcelOf, type CopyPut } from './parcel';
import type { PeerStream } from './peer-stream';

/** What a receiving stream needs to know. */
export interface IntakeStreamOptions {
  readonly stream: PeerStream;
  readonly receiver: Receiver;
  /** The zone of the stream. */
  readonly zone: string;
  readonly dialect: Dialect;
  /** Whether the peer takes a result for each resource (cw-result). */
  readonly results: boolean;
  readonly registry: Registry;
  readonly index: ResourceIndex;
  /** Resolves when the index holds everything that was written before this stream. */
  readonly ready: Promise<void>;
  readonly writer: IntakeWriter;
  /** See ParcelContext. */
  readonly refusal?: (id: Identity) => string | undefined;
  /** Takes messages that are no state of ours, such as a Kuma global's Config; they are acknowledged. */
  readonly aside?: (response: IncomingResponse) => boolean;
  readonly now: () => number;
  readonly logger: Logger;
  /** A message of a kind was taken in. */
  readonly applied?: (kind: string) => void;
  /** Told of each change that was written, once it is durable: how long ago its origin committed it, ms. */
  readonly propagated?: (kind: string, age: number) => void;
}

/** What stands for kinds that are not known here. */
const UNKNOWN_KIND = 'unknown';

/** How much of a kind was taken in. */
interface Progress {
  applied: number;
  appliedAt: number;
  readonly rejections: Rejections;
}

/**
 * The receiving end of a stream: responses come in, are written, and are answered once that is durable. Messages of a
 * kind are taken in one after the other; kinds do not wait for each other.
 */
export class IntakeStream {
  private readonly inbox: Inbox<CopyPut>;
  private readonly queues = new Map<string, Promise<void>>();
  private readonly progress = new Map<string, Progress>();
  private closed = false;

  constructor(private readonly options: IntakeStreamOptions) {
    this.inbox = new Inbox((kind) => this.held(kind));
  }

  message(bytes: Buffer): void {
    let response: IncomingResponse;
    try {
      response = decodeResponse(bytes, this.options.dialect);
    } catch (error) {
      this.options.stream.end('malformed', `response cannot be read: ${errorText(error)}`);
      return;
    }
    if (this.options.aside?.(response)) {
      const { kind, nonce } = response;
      this.options.stream.write(encodeRequest({ type: 'ack', kind, zone: this.options.zone, nonce, results: [] }));
      return;
    }
    const queue = (this.queues.get(response.kind) ?? this.options.ready).then(() => this.take(response));
    const guarded = queue.catch((error: unknown) => this.failed(response.kind, error));
    this.queues.set(response.kind, guarded);
  }

  /** Whether the whole state of a kind has been taken in. */
  isComplete(kind: string): boolean {
    return this.inbox.isComplete(kind);
  }

  /** See IntakeWriter. */
  heedOperator(): Promise<void> {
    return this.options.writer.heedOperator();
  }

  /** See IntakeWriter. */
  pendingLife(): PendingLife | undefined {
    return this.options.writer.pendingLife();
  }

  reports(): readonly KindReport[] {
    return [...this.progress].map(([kind, { applied, appliedAt, rejections }]) => ({
      kind,
      direction: this.options.receiver.role === 'global' ? 'up' : 'down',
      applied,
      appliedAt,
      waiting: 0,
      held: this.options.writer.heldOf(kind),
      rejected: rejections.total,
      rejections: rejections.standing(),
    }));
  }

  /** Takes in nothing more; resolves when no write is under way. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([this.options.writer.close(), ...this.queues.values()]);
  }

  private async take(response: IncomingResponse): Promise<void> {
    if (this.closed) return;
    const parcel = parcelOf(response, this.options);
    // What a whole first state brings may be of any age.
    const news = parcel.resumed || this.inbox.isComplete(response.kind);
    const intake = this.inbox.receive(parcel);
    const { refused, written } = await this.options.writer.apply(response.kind, intake, pointOf(response));
    const rejected = [...intake.rejected, ...refused];
    this.advance(response, parcel, rejected);
    this.answer(response, parcel, rejected);
    this.options.applied?.(response.kind);
    if (news) this.tellAges(response.kind, written);
  }

  /** Clocks of the origin's database and of this process differ: what seems to come from the future took no time. */
  private tellAges(kind: string, written: readonly CopyPut[]): void {
    const { now, propagated } = this.options;
    for (const { copy } of written) {
      // Plain Kuma peers do not say when.
      if (copy.origin.committedAt > 0) propagated?.(kind, Math.max(0, now() - copy.origin.committedAt));
    }
  }

  private advance({ kind, position }: IncomingResponse, parcel: Parcel<CopyPut>, rejected: readonly Rejection[]): void {
    // However many kinds a peer invents, they are told of as one.
    const known = this.options.registry.kind(kind) ? kind : UNKNOWN_KIND;
    const progress = this.progress.get(known) ?? { applied: 0, appliedAt: 0, rejections: new Rejections() };
    this.progress.set(known, progress);
    progress.applied = position?.revision || progress.applied;
    progress.appliedAt = this.options.now();
    progress.rejections.answered([...parcel.arrivals.map(({ wireKey }) => wireKey), ...parcel.removed], rejected);
  }

  private answer(response: IncomingResponse, parcel: Parcel<CopyPut>, rejected: readonly Rejection[]): void {
    const { kind, nonce } = response;
    const head = { kind, zone: this.options.zone, nonce };
    if (rejected.length === 0) {
      this.options.stream.write(encodeRequest({ type: 'ack', ...head, results: [] }));
      return;
    }
    const names = new Map(parcel.arrivals.map(({ wireKey, id }) => [wireKey, describeIdentity(id)]));
    const lines = rejected.map(({ wireKey, reason }) => `${names.get(wireKey) ?? `${kind} ${wireKey}`}: ${reason}`);
    this.options.logger.warn('rejected resources of the peer', { kind, rejected: lines });
    const message = ['user error', ...lines].join('\n');
    this.options.stream.write(
      encodeRequest({ type: 'nack', ...head, message, results: this.results(response, rejected) }),
    );
  }

  private results({ kind, resources }: IncomingResponse, rejected: readonly Rejection[]): readonly AppliedResult[] {
    if (!this.options.results) return [];
    const versions = new Map(
      resources.map((received) => [formatWireKey(received.ok ? received.resource : received.fault), received.version]),
    );
    return rejected.map(({ wireKey, reason }) => ({
      ...parseWireKey(wireKey),
      kind,
      version: versions.get(wireKey) ?? '',
      outcome: 'rejected',
      reason,
    }));
  }

  private *held(kindName: string): Iterable<{ readonly wireKey: string; readonly id: Identity }> {
    for (const resource of this.options.index.ofKind(kindName)) {
      if (!isOwnedByStream(resource, this.options.receiver)) continue;
      // A copy carries the labels it was named by, whoever holds it.
      yield { wireKey: formatWireKey(wireKeyOf(resource)), id: resource.id };
    }
  }

  private failed(kind: string, error: unknown): void {
    if (this.closed) return;
    // What comes after would leave a hole: the next stream begins with the whole state.
    this.closed = true;
    const reason = error instanceof Fenced ? 'superseded' : 'unavailable';
    this.options.logger.warn('state of the peer could not be stored', { kind, error: errorText(error) });
    this.options.stream.end(reason, `${kind} could not be stored: ${errorText(error)}`);
  }
}

function pointOf({ position }: IncomingResponse): Point | undefined {
  if (!position) return undefined;
  const { incarnation, revision, view, mac } = position;
  return { incarnation, revision, view, ...(mac === undefined ? {} : { mac }) };
}
