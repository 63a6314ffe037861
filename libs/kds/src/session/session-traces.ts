import { identityAttributes, recentTrace } from '@causeway/resources';
import { noTracer, type Clock, type Span, type Tracer } from '@causeway/runtime';
import type { InboundChanges } from '@causeway/sync';
import type { CopyPut } from './inbound/decode-message';
import type { OutboundItem } from './outbound/peer-index-view';
import type { Session } from './session';

/** Most spans of one message, so that a large one does not push out all others. */
const MAX_SPANS = 50;

/** A span for each resource of a message that was written to the stream of a peer because of a traced change. */
export function traceSent(
  { tracer = noTracer, clock, role, zone }: Session,
  { kind, put }: { readonly kind: string; readonly put: readonly OutboundItem[] },
): void {
  const traced = put.filter(({ encoded }) => encoded.traced !== undefined).slice(0, MAX_SPANS);
  for (const { encoded } of traced) {
    const { name, mesh, traced: origin } = encoded;
    const attributes = { 'causeway.kind': kind, 'causeway.name': name, 'causeway.mesh': mesh };
    const parent = origin && recentTrace(origin, clock.now());
    tracer.step(`sync send to ${role === 'global' ? zone : 'global'}`, parent, { attributes })?.end();
  }
}

/** The copies of a message, each in a span of its own where its change is traced. */
export interface TracedCopies {
  /** The copies as they are to be written: what is done because of one hangs on its span. */
  readonly puts: InboundChanges<CopyPut>['puts'];
  /** Ends the spans; `failure` says why nothing was written. */
  end(failure?: string): void;
}

/** Begins the spans of copies that are written now. */
export function tracedCopies(
  puts: InboundChanges<CopyPut>['puts'],
  { tracer = noTracer, clock }: { readonly tracer?: Tracer | undefined; readonly clock: Clock },
): TracedCopies {
  if (!tracer.isOn) return { puts, end: () => undefined };
  const spans: Span[] = [];
  const traced = puts.map((put) => {
    const { id, copy } = put.content;
    const parent = spans.length < MAX_SPANS ? recentTrace(copy.origin, clock.now()) : undefined;
    const span = tracer.step('sync apply', parent, { attributes: identityAttributes(id) });
    if (!span) return put;
    spans.push(span);
    const origin = { ...copy.origin, traceparent: span.traceparent };
    return { ...put, content: { ...put.content, copy: { ...copy, origin } } };
  });
  return { puts: traced, end: (failure) => spans.forEach((span) => span.end(failure)) };
}
