import { Forbidden, type StorePoint } from '@causeway/resources';
import type { HandshakeRequest, HandshakeResponse } from '@causeway/proto-gen';
import type { SessionOpening, SessionRequest } from '@causeway/store';
import { PeerBook, type Point } from '../peer-book';
import { sharedExtensions } from '../wire/dialect';
import type { ZoneHeaders } from '../wire/headers';
import { callerOf } from './auth';
import type { KumaGate } from './kuma-gate';
import type { LiveSessions } from './live-sessions';
import type { GlobalSyncOptions } from './options';
import type { RefusedStores } from './refused-stores';
import { ensureZone } from './zone-rows';

/** A zone that was let in, for one stream. */
export interface Entrance {
  readonly zone: string;
  readonly session: number;
  readonly extensions: readonly string[];
  /** Whether it shook hands; else it is plain Kuma. */
  readonly causeway: boolean;
  /** Version of the zone's control plane. */
  readonly version: string;
  /** The zone's replica; empty where it is plain Kuma. */
  readonly instance: string;
  /** What the zone said in its handshake with this replica that it holds. */
  readonly points: ReadonlyMap<string, Point>;
}

const NO_POINTS: ReadonlyMap<string, Point> = new Map();

/** What a handshake left for the streams of its session. */
interface Greeted {
  readonly session: number;
  readonly points: ReadonlyMap<string, Point>;
}

/** What a door works with besides the store. */
export interface DoorParts {
  readonly refused: RefusedStores;
  readonly gate: KumaGate;
}

/** Lets zones in: authenticates them, gives them a session, makes them known. */
export class ZoneDoor {
  private readonly greeted = new Map<string, Greeted>();

  constructor(
    private readonly options: GlobalSyncOptions,
    private readonly live: LiveSessions,
    private readonly features: readonly string[],
    private readonly parts: DoorParts,
  ) {}

  /** Throws Forbidden, Unavailable. */
  async handshake(request: HandshakeRequest, headers: ZoneHeaders): Promise<HandshakeResponse> {
    if (headers.zone !== request.zone) {
      throw new Forbidden(`client-id is "${headers.zone}" in a handshake of zone "${request.zone}"`);
    }
    await this.admit(headers);
    const { zone, storeId, incarnation, leaderEpoch: epoch, instance } = request;
    const opening = await this.options.sessions.open({ zone, storeId, incarnation, epoch, instance });
    if (opening.type === 'other-store') await this.parts.refused.note(zone, storeId, instance);
    const session = opened(request, opening);
    await ensureZone(this.options.store, this.options.registry, zone);
    this.live.closeOlder(zone, session, 'both');
    const points = new Map(request.resumePoints.map(({ kind, ...point }) => [kind, point]));
    this.greeted.set(zone, { session, points });
    const head = await this.headFor(points);
    const book = await PeerBook.read(this.options.store, zone);
    const resumePoints = [...book.all()].map(([kind, point]) => ({ kind, ...point }));
    const { instance: ours, version } = this.options;
    this.options.logger.info('zone opened a session', { zone, session, instance });
    const features = [...sharedExtensions(this.features, request.features)];
    return {
      session,
      features,
      incarnation: head.incarnation,
      revision: head.revision,
      instance: ours,
      version,
      resumePoints,
    };
  }

  /** The caller of one stream; a plain Kuma zone gets a session for it. Throws Forbidden, Unavailable. */
  async enter(headers: ZoneHeaders, direction: 'up' | 'down'): Promise<Entrance> {
    const { zone } = headers;
    if (zone === '') throw new Forbidden('"client-id" is not present in metadata');
    await this.admit(headers);
    if (headers.session === undefined) return this.enterKuma(headers, direction);
    const standing = await this.options.sessions.session(zone);
    if (standing?.[direction] !== headers.session) {
      throw new Forbidden(
        `session ${headers.session} of zone ${zone} was replaced by ${standing?.[direction] ?? 'none'}`,
      );
    }
    const extensions = sharedExtensions(this.features, headers.features);
    const greeted = this.greeted.get(zone);
    // Another replica shook hands: the zone gets whole states here.
    const points = greeted?.session === headers.session ? greeted.points : NO_POINTS;
    const { session, version } = headers;
    return { zone, session, extensions, causeway: true, version, instance: standing.instance, points };
  }

  /** A zone that holds more of this life than this store has shows that something was lost: a new life begins. */
  private async headFor(points: ReadonlyMap<string, Point>): Promise<StorePoint> {
    const head = await this.options.store.head();
    const ahead = [...points.values()].some(
      (point) => point.incarnation === head.incarnation && point.revision > head.revision,
    );
    if (!ahead || !this.options.upkeep) return head;
    this.options.logger.error('a zone holds newer state than this store: it was set back, and begins a new life');
    return this.options.upkeep.newIncarnation();
  }

  private async enterKuma({ zone, version }: ZoneHeaders, direction: 'up' | 'down'): Promise<Entrance> {
    const request = { zone, storeId: '', incarnation: '', epoch: 0, instance: '', direction };
    const session = opened(request, await this.options.sessions.open(request));
    await ensureZone(this.options.store, this.options.registry, zone);
    this.options.logger.info('a zone of plain Kuma opened a stream', { zone, session, direction, version });
    return { zone, session, extensions: [], causeway: false, version, instance: '', points: NO_POINTS };
  }

  private async admit(headers: ZoneHeaders): Promise<void> {
    await this.options.auth.admit(callerOf(headers));
    await this.parts.gate.look();
  }
}

function opened({ zone, storeId }: Pick<SessionRequest, 'zone' | 'storeId'>, opening: SessionOpening): number {
  switch (opening.type) {
    case 'opened':
      return opening.session;
    case 'older':
      throw new Forbidden(`zone ${zone} has a leader of the later epoch ${opening.epoch}`);
    case 'other-store':
      throw new Forbidden(
        `the name ${zone} belongs to the store ${opening.boundTo}, not to ${storeId}; where the zone was installed anew: causeway zones adopt ${zone} ${storeId}`,
      );
  }
}
