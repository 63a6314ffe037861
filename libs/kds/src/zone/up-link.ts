import { identityKey, type ControlPlane, type Resource } from '@causeway/resources';
import type { IndexEvent } from '@causeway/store';
import { isOfferedUp, mayHaveGoneUp, type Told } from '@causeway/sync';
import { IndexOffer, itemOf, type OfferRules } from '../stream/index-offer';
import { LimitedLogger } from '../stream/limited-logger';
import { OfferStream, type Standing } from '../stream/offer-stream';
import type { Point } from '../peer-book';
import type { KindReport } from '../report';
import { CHUNK_BYTES, PLAIN_MESSAGE_BYTES } from '../wire/channel-options';
import { dialectOf, Extension } from '../wire/dialect';
import { ResourceEncoder } from '../wire/resource-encoder';
import { headersOf, peerOf, receive, type ZoneSession } from './session';

/** The open stream. */
export interface UpLink {
  reports(): readonly KindReport[];
  close(): void;
}

/** ZoneToGlobalSync: answers the global's requests with what was made here. */
export function openUp(session: ZoneSession, finish: (reason: string) => void): UpLink {
  const { options, calls, extensions, greeting } = session;
  const { zone, index, registry } = options;
  const cp: ControlPlane = { role: 'zone', zone, federated: true };
  const encoder = new ResourceEncoder(cp);
  const dialect = dialectOf(extensions);
  const chunked = extensions.includes(Extension.chunk);
  const rules = rulesOf(session, cp);
  const stream = calls.stream('up', headersOf(session));
  const offering = new OfferStream({
    stream,
    offer: new IndexOffer({ index, registry, encoder, now: () => options.clock.now() }, dialect, rules),
    limits: { chunked, bytes: chunked ? CHUNK_BYTES : PLAIN_MESSAGE_BYTES },
    controlPlane: zone,
    zone,
    ...(greeting ? { standing: standingOf(session) } : {}),
    registry,
    now: () => options.clock.now(),
    logger: LimitedLogger.of(options.logger.child({ stream: 'up' }), options.clock),
  });
  const told = (was: Resource | undefined): Told | undefined => {
    const kind = was && registry.kind(was.id.kind);
    return kind && rules.isOffered(kind, was) ? itemOf(encoder, was, dialect) : undefined;
  };
  const unsubscribe = index.subscribe(({ reloaded, changes }: IndexEvent) => {
    if (reloaded) stream.end('unavailable', 'the zone loaded its state anew');
    for (const { id, before } of changes) offering.mark(id.kind, identityKey(id), () => told(before));
    if (changes.length > 0) queueMicrotask(() => offering.pump());
  });
  receive(session, stream, {
    message: (bytes) => offering.message(bytes),
    drain: () => offering.drain(),
    ended: (reason) => {
      unsubscribe();
      finish(`ZoneToGlobalSync: ${reason}`);
    },
  });
  offering.open();
  return {
    reports: () => offering.reports(),
    close: () => {
      unsubscribe();
      stream.end('shutdown', 'the session is over');
    },
  };
}

function rulesOf(session: ZoneSession, cp: ControlPlane): OfferRules {
  const peer = peerOf(session);
  return {
    isOffered: (kind, resource) => isOfferedUp(kind, resource, peer, cp),
    mayHold: (kind, id) => mayHaveGoneUp(kind, id, peer),
  };
}

/** No rules but the kind's own decide what goes up: there is one view. */
function standingOf({ options, extensions, points: shown, signer, floor }: ZoneSession): Standing {
  const points = extensions.includes(Extension.resume) ? shown : new Map<string, Point>();
  const incarnation = (): string => options.index.point?.incarnation ?? '';
  return {
    incarnation,
    view: () => '',
    mac: (kind, point) => signer.mac(kind, point),
    since: (kind) => {
      const point = points.get(kind);
      if (!point || point.incarnation !== incarnation()) return undefined;
      return point.revision >= Math.max(floor, options.index.floor) ? point.revision : undefined;
    },
  };
}
