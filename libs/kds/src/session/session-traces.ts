import { identityAttributes, recentTrace } from '@causeway/resources';
import { noTracer, type Clock, type Span, type Tracer } from '@causeway/runtime';
import type { InboundChanges } from '@causeway/sync';
import type { CopyPut } from './inbound/decode-message';
import type { OutboundItem } from './outbound/peer-index-view';
import type { Session } from './session';

/** Maximum number of spans of one message, so that a large message does not push out all others. */
const MAX_SPANS = 50;

/** Records a span for each resource of a sent message whose change is traced. */
export function traceSentResources(
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

/** The copies of a message; traced ones have their own spans. */
export interface TracedCopies {
  /** The copies to write: later work caused by a copy becomes a child of its span. */
  readonly puts: InboundChanges<CopyPut>['puts'];
  /** Ends the spans; `failure` is why nothing was written. */
  end(failure?: string): void;
}

/** Starts the spans of copies that are about to be written. */
export function traceCopies(
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
