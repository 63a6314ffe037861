import { crossesZones } from '@causeway/resources';
import { goesUp, QUARANTINED, type PendingLife } from '@causeway/sync';
import { PeerBook } from '../peer-book';
import type { KindReport } from '../report';
import { IntakeShare } from '../stream/intake-share';
import { IntakeStream } from '../stream/intake-stream';
import { IntakeWriter } from '../stream/intake-writer';
import { LimitedLogger } from '../stream/limited-logger';
import type { PeerStream } from '../stream/peer-stream';
import { CHUNKED_BOUNDS, PLAIN_BOUNDS } from '../wire/bounds';
import { dialectOf, Extension } from '../wire/dialect';
import { NODE_FEATURES } from '../wire/node';
import { encodeRequest } from '../wire/request';
import { DEFAULT_HOLD } from './options';
import type { GlobalParts } from './parts';
import type { Entrance } from './zone-door';
import type { StreamParts, ZoneStream } from './zone-stream';

/** ZoneToGlobalSync of one session: takes in what a zone has. */
export class UpStream implements ZoneStream {
  private readonly entrance: Entrance;
  private readonly stream: PeerStream;
  private readonly intake: IntakeStream;
  private readonly writer: IntakeWriter;
  private readonly forget: () => void;
  private readonly ready: Promise<void>;
  /** Kinds that cross zones and whose whole state has not been stored. */
  private readonly awaited: Set<string>;
  private begin: () => void = () => undefined;

  private constructor(
    private readonly parts: GlobalParts,
    { entrance, stream, inlet }: StreamParts,
    book: PeerBook,
  ) {
    const { store, registry, index, clock, logger, propagated, hold = DEFAULT_HOLD } = parts.options;
    const { zone, session, extensions } = entrance;
    this.entrance = entrance;
    this.stream = stream;
    const { pace, life } = inlet;
    const share = new IntakeShare({ peer: zone, scheduler: parts.intake.scheduler, index, pace, signal: life.signal });
    const crossing = registry.kinds.filter((kind) => crossesZones(kind.sync) && goesUp(kind, entrance));
    this.awaited = new Set(crossing.map(({ name }) => name));
    this.ready = new Promise((resolve) => (this.begin = resolve));
    const log = LimitedLogger.of(logger.child({ zone, stream: 'up' }), clock);
    const receiver = { role: 'global', from: zone } as const;
    this.writer = new IntakeWriter({
      index,
      receiver,
      write: (changes, notes) =>
        share.write(changes, () => store.write({ changes, notes, onRefusal: 'skip', session: { zone, session } })),
      isShared: () => share.isShared,
      book,
      hold,
      clock,
      logger: log,
      ...(entrance.causeway ? {} : { plainLife: () => parts.plainLives.of(zone) }),
    });
    this.forget = parts.plainLives.await(zone, () => void this.writer.lifeKnown());
    this.intake = new IntakeStream({
      stream,
      receiver,
      zone,
      dialect: dialectOf(extensions),
      results: extensions.includes(Extension.result),
      registry,
      index,
      ready: this.ready,
      refusal: (id) => (parts.quarantines.ofZone(zone)?.holds(id) === true ? QUARANTINED : undefined),
      writer: this.writer,
      bounds: extensions.includes(Extension.chunk) ? CHUNKED_BOUNDS : PLAIN_BOUNDS,
      share,
      now: () => clock.now(),
      logger: log,
      applied: (kind) => this.countReport(kind),
      ...(propagated ? { propagated } : {}),
    });
  }

  /** Other zones may be told of this one once all is here that crosses zones. */
  private countReport(kind: string): void {
    if (!this.intake.isComplete(kind) || !this.awaited.delete(kind) || this.awaited.size > 0) return;
    void this.parts.gate.reported(this.entrance.zone);
  }

  static async begin(parts: GlobalParts, stream: StreamParts): Promise<UpStream> {
    const { zone } = stream.entrance;
    const book = await PeerBook.read(parts.options.store, zone, parts.quarantines.cutsOf(zone));
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
      if (!goesUp(kind, { zone, causeway })) continue;
      this.stream.write(encodeRequest({ type: 'subscribe', kind: kind.name, zone, metadata, held: {} }));
    }
  }

  heedOperator(): Promise<void> {
    return this.intake.heedOperator();
  }

  pendingLife(): PendingLife | undefined {
    return this.intake.pendingLife();
  }

  reports(): readonly KindReport[] {
    return this.intake.reports();
  }

  ended(): void {
    this.forget();
    void this.intake.close();
  }
}
