import { errorText, type Clock } from '@causeway/runtime';
import type { Metadata } from '@grpc/grpc-js';
import type { ZoneTransport } from './zone-transport';

/** Where the global names no interval, ms (kds.md §6). */
const USUAL = 300_000;

/** What pinging a plain Kuma global needs. */
export interface HealthPings {
  readonly calls: ZoneTransport;
  readonly headers: () => Metadata;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Tells a Kuma global that the zone lives, until the signal aborts; rejects when the global cannot be told. */
export async function pingHealth({ calls, headers, clock, signal }: HealthPings): Promise<void> {
  while (!signal.aborted) {
    const interval = await calls.healthCheck?.(headers());
    if (interval === undefined) return;
    await clock.sleep(interval > 0 ? interval : USUAL, signal);
  }
}

/** Why pings failed, for the log. */
export function pingFailure(error: unknown): string {
  return `HealthCheck: ${errorText(error)}`;
}
