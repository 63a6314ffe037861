import { crossesZones } from '@causeway/resources';
import type { Peer } from '@causeway/sync';
import type { Point } from '../peer-book';
import type { KindReport } from '../report';
import type { PointSigner } from '../resume-points';
import { OfferStream, type Standing } from '../stream/offer-stream';
import { LimitedLogger } from '../stream/limited-logger';
import { CHUNK_BYTES, PLAIN_MESSAGE_BYTES } from '../wire/channel-options';
import { dialectOf, Extension } from '../wire/dialect';
import type { GlobalParts } from './parts';
import type { Listener } from './audience';
import type { StreamParts, ZoneStream } from './zone-stream';

/** What GlobalToZoneSync of one session is made of. */
export interface DownParts extends StreamParts {
  readonly signer: PointSigner;
}

/** GlobalToZoneSync of one session: tells a zone what it may know. */
export class DownStream implements ZoneStream {
  private readonly offering: OfferStream;
  private readonly listener: Listener;
  private readonly points: ReadonlyMap<string, Point>;
  private readonly forget: () => void;
  private floor = Infinity;

  constructor(
    private readonly parts: GlobalParts,
    { entrance, stream, signer }: DownParts,
  ) {
    const { audience, options } = parts;
    const { zone, extensions, causeway } = entrance;
    const peer: Peer = { zone, causeway };
    const dialect = dialectOf(extensions);
    const chunked = extensions.includes(Extension.chunk);
    this.points = extensions.includes(Extension.resume) ? entrance.points : new Map();
    this.offering = new OfferStream({
      stream,
      offer: audience.offerFor(peer, dialect),
      limits: { chunked, bytes: chunked ? CHUNK_BYTES : PLAIN_MESSAGE_BYTES },
      controlPlane: 'global',
      zone,
      ...(causeway
        ? { standing: this.standing(signer) }
        : {
            introduced: ({ controlPlaneId }) => parts.plainLives.learn(zone, controlPlaneId),
            withheld: (name) => {
              const kind = options.registry.kind(name);
              return !parts.gate.isOpen && kind !== undefined && crossesZones(kind.sync);
            },
          }),
      registry: options.registry,
      now: () => options.clock.now(),
      logger: LimitedLogger.of(options.logger.child({ zone, stream: 'down' }), options.clock),
    });
    this.listener = { peer, dialect, stream: this.offering };
    audience.join(this.listener);
    this.forget = parts.gate.onOpen(() => this.offering.resume());
  }

  message(bytes: Buffer): void {
    this.offering.message(bytes);
  }

  drain(): void {
    this.offering.drain();
  }

  open(floor: number): void {
    this.floor = floor;
    this.offering.open();
    void this.parts.gate.look();
  }

  reports(): readonly KindReport[] {
    return this.offering.reports();
  }

  unanswered(): number {
    return this.offering.unanswered;
  }

  blockedSince(): number | undefined {
    return this.offering.blockedSince;
  }

  ended(): void {
    this.forget();
    this.parts.audience.leave(this.listener);
  }

  private standing(signer: PointSigner): Standing {
    const { audience, options } = this.parts;
    const incarnation = (): string => options.index.point?.incarnation ?? '';
    return {
      incarnation,
      view: (kind) => audience.viewOf(kind),
      mac: (kind, point) => signer.mac(kind, point),
      since: (kind) => {
        const point = this.points.get(kind);
        if (!point || point.incarnation !== incarnation()) return undefined;
        if (point.revision < Math.max(this.floor, options.index.floor)) return undefined;
        return point.view === audience.viewOf(kind) ? point.revision : undefined;
      },
    };
  }
}
