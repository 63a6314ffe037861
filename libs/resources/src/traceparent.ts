import type { Identity } from './identity';
import type { OriginRevision } from './resource';

/** Version 00 of W3C Trace Context; other versions and all-zero ids are invalid. */
const FORM = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const LENGTH = 55;

/** Time after a change during which its effects still belong to its trace, ms. */
const TRACED_FOR = 60_000;

/** Trace context that programs pass to each other. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Parses a W3C traceparent; undefined if the text is invalid. Constant time for long text. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  if (text?.length !== LENGTH) return undefined;
  const [, traceId, spanId, flags] = FORM.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** Formats a trace context as traceparent. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/**
 * Returns the traceparent of a change made within the last minute; undefined for any other. Later work on a resource,
 * such as a new address, belongs to no trace. The clock of the origin may be ahead.
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
