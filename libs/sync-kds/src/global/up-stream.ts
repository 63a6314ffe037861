import { crossesZones } from '@causeway/resources';
import { goesUp, QUARANTINED, type PendingLife } from '@causeway/sync';
import { PeerBook } from '../peer-book';
import type { KindReport } from '../report';
import { IntakeStream } from '../stream/intake-stream';
import { IntakeWriter } from '../stream/intake-writer';
import type { PeerStream } from '../stream/peer-stream';
import { dialectOf, Extension } from '../wire/dialect';
import { NODE_FEATURES } from '../wire/node';
import { encodeRequest } from '../wire/request';
import { DEFAULT_HOLD } from './options';
import type { GlobalParts } from './parts';
import type { Entrance } from './zone-door';
import type { ZoneStream } from './zone-stream';

/** ZoneToGlobalSync of one session: takes in what a zone has. */
export class UpStream implements ZoneStream {
  private readonly intake: IntakeStream;
  private readonly writer: IntakeWriter;
  private readonly forget: () => void;
  private readonly ready: Promise<void>;
  /** Kinds that cross zones and whose whole state has not been stored. */
  private readonly awaited: Set<string>;
  private begin: () => void = () => undefined;

  private constructor(
    private readonly parts: GlobalParts,
    private readonly entrance: Entrance,
    private readonly stream: PeerStream,
    book: PeerBook,
  ) {
    const { store, registry, index, clock, logger, propagated, hold = DEFAULT_HOLD } = parts.options;
    const { zone, session, extensions } = entrance;
    const crossing = registry.kinds.filter((kind) => crossesZones(kind.sync) && goesUp(kind, entrance));
    this.awaited = new Set(crossing.map(({ name }) => name));
    this.ready = new Promise((resolve) => (this.begin = resolve));
    const log = logger.child({ zone, stream: 'up' });
    const receiver = { role: 'global', from: zone } as const;
    this.writer = new IntakeWriter({
      index,
      receiver,
      write: (changes, notes) => store.write({ changes, notes, onRefusal: 'skip', session: { zone, session } }),
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

  static async begin(parts: GlobalParts, entrance: Entrance, stream: PeerStream): Promise<UpStream> {
    const { zone } = entrance;
    const book = await PeerBook.read(parts.options.store, zone, parts.quarantines.cutsOf(zone));
    return new UpStream(parts, entrance, stream, book);
  }

  message(bytes: Buffer): void {
    this.intake.message(bytes);
  }

  drain(): void {
    // Answers are few and small.
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
