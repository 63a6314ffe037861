import type { Identity } from './identity';
import type { OriginRevision } from './resource';

/** Version 00 of W3C Trace Context; other versions, and ids of zeros, are none. */
const FORM = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const LENGTH = 55;

/** Time after a change during which its consequences still belong to its trace, ms. */
const TRACED_FOR = 60_000;

/** The place of a span in its trace, as programs tell it each other. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Parses a W3C traceparent; undefined for text that is none. Costs nothing for long text. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  if (text?.length !== LENGTH) return undefined;
  const [, traceId, spanId, flags] = FORM.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** The traceparent of a context. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/**
 * The traceparent of a change that was made within the last minute; undefined for any other. What is done later to a resource, such as
 * a new address, belongs to no trace. The clock of the origin may be ahead.
 */
export function recentTrace({ traceparent, committedAt }: OriginRevision, now: number): string | undefined {
  return traceparent !== undefined && Math.abs(now - committedAt) < TRACED_FOR ? traceparent : undefined;
}

/** Returns the attributes of a span about a resource; empty parts are left out. */
export function identityAttributes({ kind, mesh, zone, namespace, name }: Identity): Readonly<Record<string, string>> {
  const parts = { kind, mesh, zone, namespace, name };
  return Object.fromEntries(
    Object.entries(parts).flatMap(([part, value]) => (value === '' ? [] : [[`causeway.${part}`, value]])),
  );
}
