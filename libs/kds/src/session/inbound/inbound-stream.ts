import { describeIdentity, type Identity, type Registry } from '@causeway/resources';
import { Fenced, type IndexReader } from '@causeway/store';
import { errorText, type Logger } from '@causeway/runtime';
import {
  Inbox,
  isOwnedByStream,
  Rejections,
  type InboundMessage,
  type PendingIncarnation,
  type Receiver,
  type Rejection,
} from '@causeway/sync';
import { BoundsExceeded, type ResponseBounds } from '../../wire/bounds';
import type { Dialect } from '../../wire/dialect';
import { formatWireKey, parseWireKey, wireKeyOf } from '../../wire/wire-resource';
import { type AppliedResult, encodeRequest } from '../../wire/request';
import {
  openResponse,
  decodeEntry,
  MalformedMessage,
  type IncomingResponse,
  type OpenedResponse,
} from '../../wire/response';
import type { DecodedResource } from '../../wire/resource-decoder';
import type { ResumePoint } from '../peer-state';
import type { KindReport } from '../kind-report';
import type { InboundShare } from './inbound-capacity';
import type { InboundApplier } from './inbound-applier';
import { SubscribedKinds, MAX_UNKNOWN_KINDS, boundedResults, rejectionFields, rejectionText } from '../peer-limits';
import { decodeMessage, type CopyPut, type ReceivedMessage } from './decode-message';
import type { PeerStream } from '../peer-stream';

/** What a receiving stream needs to know. */
export interface InboundStreamOptions {
  readonly stream: PeerStream;
  readonly receiver: Receiver;
  /** The zone of the stream. */
  readonly zone: string;
  readonly dialect: Dialect;
  /** Whether the peer takes a result for each resource (cw-result). */
  readonly results: boolean;
  readonly registry: Registry;
  readonly index: IndexReader;
  /** Resolves when the index holds everything that was written before this stream. */
  readonly ready: Promise<void>;
  readonly writer: InboundApplier;
  /** See MessageContext. */
  readonly refusal?: (id: Identity) => string | undefined;
  /** What one message may hold. */
  readonly bounds: ResponseBounds;
  readonly share: InboundShare;
  /** Takes messages of a kind that is no state of ours, such as a Kuma global's Config; they are acknowledged. */
  readonly outOfBand?: { readonly kind: string; take(response: IncomingResponse): void };
  readonly now: () => number;
  readonly logger: Logger;
  /** A message of a kind was taken in. */
  readonly onApplied?: (kind: string) => void;
  /** Told of each change that was written, once it is durable: how long ago its origin committed it, ms. */
  readonly onPropagated?: (kind: string, age: number) => void;
}

/** What stands for kinds that are not known here. */
const UNKNOWN_KIND = 'unknown';

/** Most resources that a peer may have of one kind. */
export const MAX_IDENTITIES = 200_000;

/** How much of a kind was taken in. */
interface ReceivedProgress {
  applied: number;
  appliedAt: number;
  readonly rejections: Rejections;
}

/**
 * The receiving end of a stream: responses come in, are written, and are answered once that is durable, one after the other.
 * A peer that reads no answers is not heard.
 */
export class InboundStream {
  private readonly inbox: Inbox<CopyPut>;
  private readonly kinds: SubscribedKinds;
  private readonly progress = new Map<string, ReceivedProgress>();
  private working: Promise<void> = Promise.resolve();
  private closed = false;
  /** Calls what waits for the peer to read. */
  private readOn: (() => void) | undefined;

  constructor(private readonly options: InboundStreamOptions) {
    this.inbox = new Inbox((kind) => this.held(kind));
    this.kinds = new SubscribedKinds(options.registry);
  }

  /** Resolves when the message was taken in and the peer has room for further answers. Never rejects. */
  message(bytes: Buffer): Promise<void> {
    this.working = this.options.ready.then(() => this.take(bytes)).catch((error: unknown) => this.failed(error));
    return this.working;
  }

  /** The peer has read what it was sent. */
  drain(): void {
    this.readOn?.();
  }

  /** Whether the whole state of a kind has been taken in. */
  isComplete(kind: string): boolean {
    return this.inbox.isComplete(kind);
  }

  /** See InboundApplier. */
  checkConfirmation(): Promise<void> {
    return this.options.writer.checkConfirmation();
  }

  /** See InboundApplier. */
  pendingIncarnation(): PendingIncarnation | undefined {
    return this.options.writer.pendingIncarnation();
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
      rejections: rejections.current(),
    }));
  }

  /** Takes in nothing more; resolves when no write is under way. */
  async close(): Promise<void> {
    this.closed = true;
    this.readOn?.();
    await Promise.all([this.options.writer.close(), this.working]);
  }

  private async take(bytes: Buffer): Promise<void> {
    if (this.closed) return;
    const response = openResponse(bytes, this.options.bounds);
    const { kind } = response;
    if (kind === this.options.outOfBand?.kind) return this.takeOutOfBand(response);
    const named = this.kinds.classify(kind);
    if (named === 'too-many') throw new BoundsExceeded(`more than ${MAX_UNKNOWN_KINDS} kinds that are not known here`);
    if (named !== 'known') return this.refuseKind(response, named === 'first');
    await this.takeState(response);
  }

  private async takeOutOfBand(response: OpenedResponse): Promise<void> {
    const { options } = this;
    const resources = await options.share.compute(readAll(response, options));
    if (this.closed) return;
    const { entries: _, ...head } = response;
    options.outOfBand?.take({ ...head, resources });
    await this.write(encodeRequest({ type: 'ack', ...this.headOf(response), results: [] }));
  }

  /** Nothing of it is read, and nothing is remembered but that there was one. */
  private async refuseKind(response: OpenedResponse, first: boolean): Promise<void> {
    const { kind, entries } = response;
    const rejected = entries.length === 0 ? [] : [{ wireKey: '', reason: `kind ${kind} is not known here` }];
    if (first) this.options.logger.warn('the peer sends a kind that is not known here', { kind });
    this.advance(response, [], rejected);
    const message = rejectionText(rejected, () => kind);
    const answer = rejected.length === 0 ? { type: 'ack' as const } : { type: 'nack' as const, message };
    await this.write(encodeRequest({ ...answer, ...this.headOf(response), results: [] }));
  }

  private async takeState(response: OpenedResponse): Promise<void> {
    const { share, writer } = this.options;
    const { kind } = response;
    const open = await share.compute(decodeMessage(response, this.options));
    if (this.closed) return;
    const { message: parcel, facts } = open;
    // What a whole first state brings may be of any age.
    const news = parcel.resumed || this.inbox.isComplete(kind);
    const intake = await share.compute(this.inbox.steps(parcel));
    this.checkSize(kind);
    if (this.closed) return;
    const bytesOf = (wireKey: string): number => facts.get(wireKey)?.bytes ?? 0;
    const { refused, written } = await writer.apply(kind, intake, pointOf(response), bytesOf);
    const rejected = [...intake.rejected, ...refused];
    this.advance(response, namesIn(parcel), rejected);
    const answered = this.answer(response, open, rejected);
    this.options.onApplied?.(kind);
    if (news) this.reportAges(kind, written);
    await answered;
  }

  private checkSize(kind: string): void {
    const size = this.inbox.sizeOf(kind);
    if (size > MAX_IDENTITIES) {
      throw new BoundsExceeded(`the peer names ${size} resources of kind ${kind}; at most ${MAX_IDENTITIES} are taken`);
    }
  }

  /** Clocks of the origin's database and of this process differ: what seems to come from the future took no time. */
  private reportAges(kind: string, written: readonly CopyPut[]): void {
    const { now, onPropagated: propagated } = this.options;
    for (const { copy } of written) {
      // Plain Kuma peers do not say when.
      if (copy.origin.committedAt > 0) propagated?.(kind, Math.max(0, now() - copy.origin.committedAt));
    }
  }

  private advance(
    { kind, position }: OpenedResponse,
    answered: Iterable<string>,
    rejected: readonly Rejection[],
  ): void {
    // However many kinds a peer invents, they are told of as one.
    const known = this.options.registry.kind(kind) ? kind : UNKNOWN_KIND;
    const progress = this.progress.get(known) ?? { applied: 0, appliedAt: 0, rejections: new Rejections() };
    this.progress.set(known, progress);
    progress.applied = position?.revision || progress.applied;
    progress.appliedAt = this.options.now();
    progress.rejections.recordAnswer(answered, rejected);
  }

  private answer(
    response: OpenedResponse,
    { message: parcel, facts }: ReceivedMessage,
    rejected: readonly Rejection[],
  ): Promise<void> {
    const { kind } = response;
    const head = this.headOf(response);
    if (rejected.length === 0) return this.write(encodeRequest({ type: 'ack', ...head, results: [] }));
    const names = new Map(parcel.items.map(({ wireKey, id }) => [wireKey, id]));
    const nameOf = (wireKey: string): string => {
      const id = names.get(wireKey);
      return id ? describeIdentity(id) : `${kind} ${wireKey}`;
    };
    this.options.logger.warn('rejected resources of the peer', { kind, ...rejectionFields(rejected, nameOf) });
    const message = rejectionText(rejected, nameOf);
    const results = this.options.results ? boundedResults(resultsOf(kind, rejected, facts)) : [];
    return this.write(encodeRequest({ type: 'nack', ...head, message, results }));
  }

  private headOf({ kind, nonce }: OpenedResponse): {
    readonly kind: string;
    readonly zone: string;
    readonly nonce: string;
  } {
    return { kind, zone: this.options.zone, nonce };
  }

  /** Resolves when the peer has room for more. */
  private async write(answer: Buffer): Promise<void> {
    if (this.options.stream.write(answer) || this.closed) return;
    await new Promise<void>((resolve) => (this.readOn = resolve));
    this.readOn = undefined;
  }

  private *held(kindName: string): Iterable<{ readonly wireKey: string; readonly id: Identity }> {
    for (const resource of this.options.index.ofKind(kindName)) {
      if (!isOwnedByStream(resource, this.options.receiver)) continue;
      // A copy carries the labels it was named by, whoever holds it.
      yield { wireKey: formatWireKey(wireKeyOf(resource)), id: resource.id };
    }
  }

  private failed(error: unknown): void {
    if (this.closed) return;
    // What comes after would leave a hole: the next stream begins with the whole state.
    this.closed = true;
    if (error instanceof BoundsExceeded) return this.options.stream.end('exhausted', error.message);
    if (error instanceof MalformedMessage) return this.options.stream.end('malformed', error.message);
    const reason = error instanceof Fenced ? 'superseded' : 'unavailable';
    this.options.logger.warn('state of the peer could not be stored', { error: errorText(error) });
    this.options.stream.end(reason, `state could not be stored: ${errorText(error)}`);
  }
}

function pointOf({ position }: OpenedResponse): ResumePoint | undefined {
  if (!position) return undefined;
  const { incarnation, revision, view, mac } = position;
  return { incarnation, revision, view, ...(mac === undefined ? {} : { mac }) };
}

function namesIn({ items: arrivals, removed }: InboundMessage<CopyPut>): readonly string[] {
  return [...arrivals.map(({ wireKey }) => wireKey), ...removed];
}

function* readAll(
  { kind, entries }: OpenedResponse,
  { dialect, bounds }: InboundStreamOptions,
): Generator<void, readonly DecodedResource[]> {
  const read: DecodedResource[] = [];
  for (const entry of entries) {
    read.push(decodeEntry(kind, entry, dialect, bounds));
    yield;
  }
  return read;
}

function* resultsOf(
  kind: string,
  rejected: readonly Rejection[],
  facts: ReceivedMessage['facts'],
): Generator<AppliedResult> {
  for (const { wireKey, reason } of rejected) {
    const version = facts.get(wireKey)?.version ?? '';
    yield { ...parseWireKey(wireKey), kind, version, outcome: 'rejected', reason };
  }
}
