import { identityKey, type ControlPlane, type Resource } from '@causeway/resources';
import type { IndexEvent } from '@causeway/store';
import { isSentUp, mayHaveBeenSentUp, type LastSent } from '@causeway/sync';
import { PeerIndexView, outboundItem, type VisibilityRules } from '../session/outbound/peer-index-view';
import { RateLimitedLogger } from '../session/rate-limited-logger';
import { OutboundStream, type ResumeSource } from '../session/outbound/outbound-stream';
import type { ResumePoint } from '../session/peer-state';
import type { KindReport } from '../session/kind-report';
import { CHUNK_BYTES, KUMA_MESSAGE_BYTES } from '../wire/kds-service';
import { dialectOf, Extension } from '../wire/dialect';
import { ResourceEncoder } from '../wire/resource-encoder';
import { headersOf, peerOf, receive, type SessionContext } from './session-context';

/** The open stream. */
export interface UpLink {
  reports(): readonly KindReport[];
  close(): void;
}

/** ZoneToGlobalSync: answers the global's requests with what was made here. */
export function openUp(session: SessionContext, finish: (reason: string) => void): UpLink {
  const { options, transport: calls, extensions, greeting } = session;
  const { zone, index, registry } = options;
  const cp: ControlPlane = { role: 'zone', zone, federated: true };
  const encoder = new ResourceEncoder(cp);
  const dialect = dialectOf(extensions);
  const chunked = extensions.includes(Extension.chunk);
  const rules = rulesOf(session, cp);
  const stream = calls.stream('up', headersOf(session));
  const offering = new OutboundStream({
    stream,
    source: new PeerIndexView({ index, registry, encoder, now: () => options.clock.now() }, dialect, rules),
    limits: { chunked, bytes: chunked ? CHUNK_BYTES : KUMA_MESSAGE_BYTES },
    controlPlane: zone,
    zone,
    ...(greeting ? { resume: standingOf(session) } : {}),
    registry,
    now: () => options.clock.now(),
    logger: RateLimitedLogger.of(options.logger.child({ stream: 'up' }), options.clock),
  });
  const told = (was: Resource | undefined): LastSent | undefined => {
    const kind = was && registry.kind(was.id.kind);
    return kind && rules.isVisible(kind, was) ? outboundItem(encoder, was, dialect) : undefined;
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

function rulesOf(session: SessionContext, cp: ControlPlane): VisibilityRules {
  const peer = peerOf(session);
  return {
    isVisible: (kind, resource) => isSentUp(kind, resource, peer, cp),
    mayHold: (kind, id) => mayHaveBeenSentUp(kind, id, peer),
  };
}

/** No rules but the kind's own decide what goes up: there is one view. */
function standingOf({ options, extensions, resumePoints: shown, signer, floor }: SessionContext): ResumeSource {
  const points = extensions.includes(Extension.resume) ? shown : new Map<string, ResumePoint>();
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
