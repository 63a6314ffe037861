import { MAX_DECLARED_KINDS } from '@causeway/kinds';
import { shortened, type Registry } from '@causeway/resources';
import type { Rejection } from '@causeway/sync';
import type { DeliveryResult } from '../wire/request';

/** Most rejections that a text lists; the text has their total. */
const LISTED = 100;

/** Most rejections in a line of the log. */
const LOGGED = 10;

/** Longest reason of one rejection, characters. */
const MAX_REASON = 512;

const MAX_TEXT_LENGTH = 16 * 1024;

/** Most bytes of all results in one answer. */
const MAX_RESULTS_LENGTH = 512 * 1024;

/** Bytes of a result beside its texts. */
const RESULT_OVERHEAD = 80;

/** At most `most` characters of a peer's text, without NUL and halves of surrogate pairs; `…` marks what is cut. */
export function peerText(text: string, most = MAX_REASON): string {
  return Buffer.from(shortened(text, most, '…').replaceAll('\0', '\ufffd')).toString();
}

/** The text of an answer that rejects resources: the first rejections and their total. */
export function rejectionText(refused: readonly Rejection[], formatName: (wireKey: string) => string): string {
  const lines = ['user error'];
  let size = 0;
  for (const { wireKey, reason } of refused.slice(0, LISTED)) {
    const line = `${peerText(formatName(wireKey))}: ${peerText(reason)}`;
    size += Buffer.byteLength(line) + 1;
    if (size > MAX_TEXT_LENGTH) break;
    lines.push(line);
  }
  const left = refused.length - (lines.length - 1);
  return [...lines, ...(left > 0 ? [`and ${left} more; ${refused.length} in all`] : [])].join('\n');
}

/** The first rejections and their total, as fields of one log line. */
export function rejectionFields(
  refused: readonly Rejection[],
  formatName: (wireKey: string) => string,
): { readonly rejected: readonly string[]; readonly total: number } {
  const rejected = refused
    .slice(0, LOGGED)
    .map(({ wireKey, reason }) => peerText(`${peerText(formatName(wireKey), 200)}: ${reason}`, 400));
  return { rejected, total: refused.length };
}

/** As many results as an answer may have; the text of the answer has their total. */
export function boundedResults(results: Iterable<DeliveryResult>): readonly DeliveryResult[] {
  const bounded: DeliveryResult[] = [];
  let size = 0;
  for (const result of results) {
    const reason = peerText(result.reason);
    const texts = [result.name, result.mesh, result.kind, result.version, reason];
    size += texts.reduce((sum, text) => sum + Buffer.byteLength(text), RESULT_OVERHEAD);
    if (size > MAX_RESULTS_LENGTH) break;
    bounded.push({ ...result, reason });
  }
  return bounded;
}

/** Most kinds on one stream that are not known here: Kuma has a few dozen that this registry lacks, and definitions may be on their way. */
export const MAX_UNKNOWN_KINDS = 64 + MAX_DECLARED_KINDS;

/** How a kind that a peer names is to be treated. */
export type KindAdmission = 'known' | 'first' | 'again' | 'too-many';

/** The kinds that a peer names on one stream. The number of those that are not known here is bounded. */
export class SubscribedKinds {
  private readonly unknown = new Set<string>();

  constructor(private readonly registry: Registry) {}

  /** `first`: the kind is not known here and named for the first time. */
  classify(kind: string): KindAdmission {
    if (this.registry.kind(kind)) return 'known';
    if (this.unknown.has(kind)) return 'again';
    if (this.unknown.size >= MAX_UNKNOWN_KINDS) return 'too-many';
    this.unknown.add(kind);
    return 'first';
  }
}
