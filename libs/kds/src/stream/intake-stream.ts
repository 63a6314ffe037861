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
import { BeyondBounds, type ResponseBounds } from '../wire/bounds';
import type { Dialect } from '../wire/dialect';
import { wireKeyOf } from '../wire/outgoing';
import { encodeRequest } from '../wire/request';
import { openResponse, readEntry, Unreadable, type IncomingResponse, type OpenedResponse } from '../wire/response';
import type { Received } from '../wire/incoming';
import type { AppliedResult } from '../wire/results';
import { formatWireKey, parseWireKey } from '../wire/wire-resource';
import type { Point } from '../peer-book';
import type { KindReport } from '../report';
import type { IntakeShare } from './intake-share';
import type { IntakeWriter } from './intake-writer';
import { KindsNamed, MOST_UNKNOWN_KINDS } from './kinds-named';
import { parcelOf, type CopyPut, type OpenParcel } from './parcel';
import type { PeerStream } from './peer-stream';
import { boundedResults, refusalFields, refusalText } from './refusals';

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
  /** What one message may hold. */
  readonly bounds: ResponseBounds;
  readonly share: IntakeShare;
  /** Takes messages of a kind that is no state of ours, such as a Kuma global's Config; they are acknowledged. */
  readonly aside?: { readonly kind: string; take(response: IncomingResponse): void };
  readonly now: () => number;
  readonly logger: Logger;
  /** A message of a kind was taken in. */
  readonly applied?: (kind: string) => void;
  /** Told of each change that was written, once it is durable: how long ago its origin committed it, ms. */
  readonly propagated?: (kind: string, age: number) => void;
}

/** What stands for kinds that are not known here. */
const UNKNOWN_KIND = 'unknown';

/** Most resources that a peer may have of one kind. */
export const MOST_IDENTITIES = 200_000;

/** How much of a kind was taken in. */
interface Progress {
  applied: number;
  appliedAt: number;
  readonly rejections: Rejections;
}

/**
 * The receiving end of a stream: responses come in, are written, and are answered once that is durable, one after the other.
 * A peer that reads no answers is not heard.
 */
export class IntakeStream {
  private readonly inbox: Inbox<CopyPut>;
  private readonly kinds: KindsNamed;
  private readonly progress = new Map<string, Progress>();
  private working: Promise<void> = Promise.resolve();
  private closed = false;
  /** Calls what waits for the peer to read. */
  private readOn: (() => void) | undefined;

  constructor(private readonly options: IntakeStreamOptions) {
    this.inbox = new Inbox((kind) => this.held(kind));
    this.kinds = new KindsNamed(options.registry);
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
    this.readOn?.();
    await Promise.all([this.options.writer.close(), this.working]);
  }

  private async take(bytes: Buffer): Promise<void> {
    if (this.closed) return;
    const response = openResponse(bytes, this.options.bounds);
    const { kind } = response;
    if (kind === this.options.aside?.kind) return this.takeAside(response);
    const named = this.kinds.name(kind);
    if (named === 'too-many') throw new BeyondBounds(`more than ${MOST_UNKNOWN_KINDS} kinds that are not known here`);
    if (named !== 'known') return this.refuseKind(response, named === 'first');
    await this.takeState(response);
  }

  private async takeAside(response: OpenedResponse): Promise<void> {
    const { options } = this;
    const resources = await options.share.compute(readAll(response, options));
    if (this.closed) return;
    const { entries: _, ...head } = response;
    options.aside?.take({ ...head, resources });
    await this.write(encodeRequest({ type: 'ack', ...this.headOf(response), results: [] }));
  }

  /** Nothing of it is read, and nothing is remembered but that there was one. */
  private async refuseKind(response: OpenedResponse, first: boolean): Promise<void> {
    const { kind, entries } = response;
    const rejected = entries.length === 0 ? [] : [{ wireKey: '', reason: `kind ${kind} is not known here` }];
    if (first) this.options.logger.warn('the peer sends a kind that is not known here', { kind });
    this.advance(response, [], rejected);
    const message = refusalText(rejected, () => kind);
    const answer = rejected.length === 0 ? { type: 'ack' as const } : { type: 'nack' as const, message };
    await this.write(encodeRequest({ ...answer, ...this.headOf(response), results: [] }));
  }

  private async takeState(response: OpenedResponse): Promise<void> {
    const { share, writer } = this.options;
    const { kind } = response;
    const open = await share.compute(parcelOf(response, this.options));
    if (this.closed) return;
    const { parcel, facts } = open;
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
    this.options.applied?.(kind);
    if (news) this.tellAges(kind, written);
    await answered;
  }

  private checkSize(kind: string): void {
    const size = this.inbox.sizeOf(kind);
    if (size > MOST_IDENTITIES) {
      throw new BeyondBounds(`the peer names ${size} resources of kind ${kind}; at most ${MOST_IDENTITIES} are taken`);
    }
  }

  /** Clocks of the origin's database and of this process differ: what seems to come from the future took no time. */
  private tellAges(kind: string, written: readonly CopyPut[]): void {
    const { now, propagated } = this.options;
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
    progress.rejections.answered(answered, rejected);
  }

  private answer(
    response: OpenedResponse,
    { parcel, facts }: OpenParcel,
    rejected: readonly Rejection[],
  ): Promise<void> {
    const { kind } = response;
    const head = this.headOf(response);
    if (rejected.length === 0) return this.write(encodeRequest({ type: 'ack', ...head, results: [] }));
    const names = new Map(parcel.arrivals.map(({ wireKey, id }) => [wireKey, id]));
    const nameOf = (wireKey: string): string => {
      const id = names.get(wireKey);
      return id ? describeIdentity(id) : `${kind} ${wireKey}`;
    };
    this.options.logger.warn('rejected resources of the peer', { kind, ...refusalFields(rejected, nameOf) });
    const message = refusalText(rejected, nameOf);
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
    if (error instanceof BeyondBounds) return this.options.stream.end('exhausted', error.message);
    if (error instanceof Unreadable) return this.options.stream.end('malformed', error.message);
    const reason = error instanceof Fenced ? 'superseded' : 'unavailable';
    this.options.logger.warn('state of the peer could not be stored', { error: errorText(error) });
    this.options.stream.end(reason, `state could not be stored: ${errorText(error)}`);
  }
}

function pointOf({ position }: OpenedResponse): Point | undefined {
  if (!position) return undefined;
  const { incarnation, revision, view, mac } = position;
  return { incarnation, revision, view, ...(mac === undefined ? {} : { mac }) };
}

function namesIn({ arrivals, removed }: Parcel<CopyPut>): readonly string[] {
  return [...arrivals.map(({ wireKey }) => wireKey), ...removed];
}

function* readAll(
  { kind, entries }: OpenedResponse,
  { dialect, bounds }: IntakeStreamOptions,
): Generator<void, readonly Received[]> {
  const read: Received[] = [];
  for (const entry of entries) {
    read.push(readEntry(kind, entry, dialect, bounds));
    yield;
  }
  return read;
}

function* resultsOf(
  kind: string,
  rejected: readonly Rejection[],
  facts: OpenParcel['facts'],
): Generator<AppliedResult> {
  for (const { wireKey, reason } of rejected) {
    const version = facts.get(wireKey)?.version ?? '';
    yield { ...parseWireKey(wireKey), kind, version, outcome: 'rejected', reason };
  }
}
