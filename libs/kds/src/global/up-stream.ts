import { crossesZones } from '@causeway/resources';
import { isKindSentUp, QUARANTINED, type PendingIncarnation } from '@causeway/sync';
import { PeerState } from '../session/peer-state';
import type { KindReport } from '../session/kind-report';
import { InboundShare } from '../session/inbound/inbound-capacity';
import { InboundStream } from '../session/inbound/inbound-stream';
import { InboundApplier } from '../session/inbound/inbound-applier';
import { RateLimitedLogger } from '../session/rate-limited-logger';
import type { PeerStream } from '../session/peer-stream';
import { CHUNKED_BOUNDS, KUMA_BOUNDS } from '../wire/bounds';
import { dialectOf, Extension } from '../wire/dialect';
import { NODE_FEATURES } from '../wire/node';
import { encodeRequest } from '../wire/request';
import { DEFAULT_ABSENCE_HOLD } from './global-sync-options';
import type { GlobalParts } from './parts';
import type { AcceptedStream } from './handshake-handler';
import type { StreamParts, ZoneStream } from './zone-stream';

/** ZoneToGlobalSync of one session: takes in what a zone has. */
export class UpStream implements ZoneStream {
  private readonly entrance: AcceptedStream;
  private readonly stream: PeerStream;
  private readonly intake: InboundStream;
  private readonly writer: InboundApplier;
  private readonly forget: () => void;
  private readonly ready: Promise<void>;
  /** Kinds that cross zones and whose whole state has not been stored. */
  private readonly awaited: Set<string>;
  private begin: () => void = () => undefined;

  private constructor(
    private readonly parts: GlobalParts,
    { accepted: entrance, stream, channel: inlet }: StreamParts,
    book: PeerState,
  ) {
    const {
      store,
      registry,
      index,
      clock,
      logger,
      onPropagated: propagated,
      hold = DEFAULT_ABSENCE_HOLD,
    } = parts.options;
    const { zone, session, extensions } = entrance;
    this.entrance = entrance;
    this.stream = stream;
    const { limiter: pace, lifetime: life } = inlet;
    const share = new InboundShare({
      peer: zone,
      scheduler: parts.inbound.scheduler,
      index,
      pace,
      signal: life.signal,
    });
    const crossing = registry.kinds.filter((kind) => crossesZones(kind.sync) && isKindSentUp(kind, entrance));
    this.awaited = new Set(crossing.map(({ name }) => name));
    this.ready = new Promise((resolve) => (this.begin = resolve));
    const log = RateLimitedLogger.of(logger.child({ zone, stream: 'up' }), clock);
    const receiver = { role: 'global', from: zone } as const;
    this.writer = new InboundApplier({
      index,
      receiver,
      write: (changes, notes) =>
        share.write(changes, () => store.write({ changes, notes, onRefusal: 'skip', session: { zone, session } })),
      isShared: () => share.isShared,
      peerState: book,
      hold,
      clock,
      logger: log,
      ...(entrance.causeway ? {} : { kumaIncarnation: () => parts.kumaInstances.of(zone) }),
    });
    this.forget = parts.kumaInstances.onLearnt(zone, () => void this.writer.kumaIncarnationKnown());
    this.intake = new InboundStream({
      stream,
      receiver,
      zone,
      dialect: dialectOf(extensions),
      results: extensions.includes(Extension.result),
      registry,
      index,
      ready: this.ready,
      refusal: (id) => (parts.quarantines.ofZone(zone)?.includes(id) === true ? QUARANTINED : undefined),
      writer: this.writer,
      bounds: extensions.includes(Extension.chunk) ? CHUNKED_BOUNDS : KUMA_BOUNDS,
      share,
      now: () => clock.now(),
      logger: log,
      onApplied: (kind) => this.countReport(kind),
      ...(propagated ? { onPropagated: propagated } : {}),
    });
  }

  /** Other zones may be told of this one once all is here that crosses zones. */
  private countReport(kind: string): void {
    if (!this.intake.isComplete(kind) || !this.awaited.delete(kind) || this.awaited.size > 0) return;
    void this.parts.gate.reported(this.entrance.zone);
  }

  static async begin(parts: GlobalParts, stream: StreamParts): Promise<UpStream> {
    const { zone } = stream.accepted;
    const book = await PeerState.read(parts.options.store, zone, parts.quarantines.cutsOf(zone));
    return new UpStream(parts, stream, book);
  }

  message(bytes: Buffer): Promise<void> {
    return this.intake.message(bytes);
  }

  drain(): void {
    this.intake.drain();
  }

  open(): void {
    this.begin();
    const { zone, causeway } = this.entrance;
    const { version, instance, registry } = this.parts.options;
    const metadata = { version, config: '', controlPlaneId: instance, features: NODE_FEATURES };
    for (const kind of registry.kinds) {
      if (!isKindSentUp(kind, { zone, causeway })) continue;
      this.stream.write(encodeRequest({ type: 'subscribe', kind: kind.name, zone, metadata, held: {} }));
    }
  }

  checkConfirmation(): Promise<void> {
    return this.intake.checkConfirmation();
  }

  pendingIncarnation(): PendingIncarnation | undefined {
    return this.intake.pendingIncarnation();
  }

  reports(): readonly KindReport[] {
    return this.intake.reports();
  }

  ended(): void {
    this.forget();
    void this.intake.close();
  }
}
