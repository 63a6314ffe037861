import { shortened } from '@causeway/resources';
import type { AckCount, ApplyProgress, WaitingProxy } from './apply-progress';
import { proxyModeLabels } from './dataplane-modes';
import type { UnsupportedProxies, UnsupportedProxy } from './unsupported-proxies';

const MAX_SHOWN = 3;
const MAX_NAME_LENGTH = 100;
const NO_EGRESS = 'MeshExternalServices (no zone egress is connected)';

/** Formats the first names, and the number of further ones out of `total`. */
export function formatNames(names: readonly string[], total: number): string {
  const shown = names.slice(0, MAX_SHOWN).map((name) => shortened(name, MAX_NAME_LENGTH, '…'));
  if (shown.length === 0) return `${total} of them`;
  return total > shown.length ? `${shown.join(', ')} and ${total - shown.length} more` : shown.join(', ');
}

/** `default/web-1`; `east: default/web-1` on the global. */
export function formatWaiting({ zone, proxy }: WaitingProxy): string {
  return inZone(zone, proxy);
}

/** `default/web-1 (Envoy, before 1.40, capture redirect)`: the name, the mode, and the reason of a TCP passthrough. */
export function formatUnsupported(unsupported: UnsupportedProxy): string {
  const { zone } = unsupported;
  if (unsupported.type === 'reported') return inZone(zone, unsupported.text);
  if (unsupported.type === 'noEgress') return inZone(zone, NO_EGRESS);
  const { proxy, mode, tcpPassthroughReason: reason } = unsupported;
  const label = proxyModeLabels[mode];
  return inZone(zone, reason === undefined ? `${proxy} (${label})` : `${proxy} (${label}, ${reason})`);
}

/** Formats the names of the proxies that do not support a resource. */
export function formatAllUnsupported({ first, total }: UnsupportedProxies): string {
  return formatNames(first.map(formatUnsupported), total);
}

/** `applied by 3 of 4 proxies, 1 of 2 zones; waiting for west: default/web-1; waiting for west`. */
export function formatApplied({ proxies, zones, isPartial = false }: ApplyProgress): string {
  const counts = [
    ...(isPartial ? [] : [`${proxies.acked} of ${proxies.total} proxies`]),
    ...(zones ? [`${zones.acked} of ${zones.total} zones`] : []),
  ].join(', ');
  const waiting = [...waitingNames(proxies, formatWaiting), ...(zones ? waitingNames(zones, (zone) => zone) : [])].map(
    (names) => `waiting for ${names}`,
  );
  return [`applied by ${counts}`, ...waiting].join('; ');
}

function waitingNames<Waiting>(
  { acked, total, waiting }: AckCount<Waiting>,
  format: (one: Waiting) => string,
): readonly string[] {
  return acked < total ? [formatNames(waiting.map(format), total - acked)] : [];
}

function inZone(zone: string | undefined, name: string): string {
  return zone === undefined ? name : `${zone}: ${name}`;
}
