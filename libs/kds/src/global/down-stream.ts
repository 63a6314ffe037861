import { crossesZones } from '@causeway/resources';
import type { SyncPeer } from '@causeway/sync';
import type { ResumePoint } from '../session/peer-state';
import type { KindReport } from '../session/kind-report';
import type { ResumePointSigner } from '../session/resume-points';
import { OutboundStream, type ResumeSource } from '../session/outbound/outbound-stream';
import { RateLimitedLogger } from '../session/rate-limited-logger';
import { CHUNK_BYTES, KUMA_MESSAGE_BYTES } from '../wire/kds-service';
import { dialectOf, Extension } from '../wire/dialect';
import type { GlobalParts } from './parts';
import type { Subscriber } from './fan-out';
import type { StreamParts, ZoneStream } from './zone-stream';

/** What GlobalToZoneSync of one session is made of. */
export interface DownParts extends StreamParts {
  readonly signer: ResumePointSigner;
}

/** GlobalToZoneSync of one session: tells a zone what it may know. */
export class DownStream implements ZoneStream {
  private readonly offering: OutboundStream;
  private readonly listener: Subscriber;
  private readonly points: ReadonlyMap<string, ResumePoint>;
  private readonly forget: () => void;
  private floor = Infinity;

  constructor(
    private readonly parts: GlobalParts,
    { accepted: entrance, stream, signer }: DownParts,
  ) {
    const { fanOut: audience, options } = parts;
    const { zone, extensions, causeway } = entrance;
    const peer: SyncPeer = { zone, causeway };
    const dialect = dialectOf(extensions);
    const chunked = extensions.includes(Extension.chunk);
    this.points = extensions.includes(Extension.resume) ? entrance.points : new Map();
    this.offering = new OutboundStream({
      stream,
      source: audience.viewFor(peer, dialect),
      limits: { chunked, bytes: chunked ? CHUNK_BYTES : KUMA_MESSAGE_BYTES },
      controlPlane: 'global',
      zone,
      ...(causeway
        ? { resume: this.standing(signer) }
        : {
            onNodeMetadata: ({ controlPlaneId }) => parts.kumaInstances.learn(zone, controlPlaneId),
            isWithheld: (name) => {
              const kind = options.registry.kind(name);
              return !parts.gate.isOpen && kind !== undefined && crossesZones(kind.sync);
            },
          }),
      registry: options.registry,
      now: () => options.clock.now(),
      logger: RateLimitedLogger.of(options.logger.child({ zone, stream: 'down' }), options.clock),
    });
    this.listener = { peer, dialect, stream: this.offering };
    audience.add(this.listener);
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
    void this.parts.gate.check();
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
    this.parts.fanOut.remove(this.listener);
  }

  private standing(signer: ResumePointSigner): ResumeSource {
    const { fanOut: audience, options } = this.parts;
    const incarnation = (): string => options.index.point?.incarnation ?? '';
    return {
      incarnation,
      view: (kind) => audience.viewHash(kind),
      mac: (kind, point) => signer.mac(kind, point),
      since: (kind) => {
        const point = this.points.get(kind);
        if (!point || point.incarnation !== incarnation()) return undefined;
        if (point.revision < Math.max(this.floor, options.index.floor)) return undefined;
        return point.view === audience.viewHash(kind) ? point.revision : undefined;
      },
    };
  }
}
