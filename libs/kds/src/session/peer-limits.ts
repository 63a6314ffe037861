import { MAX_DECLARED_KINDS } from '@causeway/kinds';
import { shortened, type Registry } from '@causeway/resources';
import type { Rejection } from '@causeway/sync';
import type { DeliveryResult } from '../wire/request';

/** Maximum number of rejections listed in a text; the text ends with their total. */
const MAX_LISTED = 100;

/** Maximum number of rejections in a log line. */
const MAX_LOGGED = 10;

/** Maximum length of one rejection's reason, characters. */
const MAX_REASON = 512;

const MAX_TEXT_LENGTH = 16 * 1024;

/** Maximum bytes of all results in one answer. */
const MAX_RESULTS_LENGTH = 512 * 1024;

/** Bytes of a result in addition to its texts. */
const RESULT_OVERHEAD = 80;

/** Returns at most `most` characters of a peer's text, without NUL and halves of surrogate pairs; `…` marks a cut. */
export function sanitizePeerText(text: string, most = MAX_REASON): string {
  return Buffer.from(shortened(text, most, '…').replaceAll('\0', '\ufffd')).toString();
}

/** Returns the text of a NACK: the first rejections and their total. */
export function formatRejections(refused: readonly Rejection[], formatName: (wireKey: string) => string): string {
  const lines = ['user error'];
  let size = 0;
  for (const { wireKey, reason } of refused.slice(0, MAX_LISTED)) {
    const line = `${sanitizePeerText(formatName(wireKey))}: ${sanitizePeerText(reason)}`;
    size += Buffer.byteLength(line) + 1;
    if (size > MAX_TEXT_LENGTH) break;
    lines.push(line);
  }
  const left = refused.length - (lines.length - 1);
  return [...lines, ...(left > 0 ? [`and ${left} more; ${refused.length} in all`] : [])].join('\n');
}

/** Returns the first rejections and their total, as fields of one log line. */
export function toRejectionFields(
  refused: readonly Rejection[],
  formatName: (wireKey: string) => string,
): { readonly rejected: readonly string[]; readonly total: number } {
  const rejected = refused
    .slice(0, MAX_LOGGED)
    .map(({ wireKey, reason }) => sanitizePeerText(`${sanitizePeerText(formatName(wireKey), 200)}: ${reason}`, 400));
  return { rejected, total: refused.length };
}

/** Returns as many results as an answer may have; the text of the answer has their total. */
export function limitResults(results: Iterable<DeliveryResult>): readonly DeliveryResult[] {
  const bounded: DeliveryResult[] = [];
  let size = 0;
  for (const result of results) {
    const reason = sanitizePeerText(result.reason);
    const texts = [result.name, result.mesh, result.kind, result.version, reason];
    size += texts.reduce((sum, text) => sum + Buffer.byteLength(text), RESULT_OVERHEAD);
    if (size > MAX_RESULTS_LENGTH) break;
    bounded.push({ ...result, reason });
  }
  return bounded;
}

/** Maximum number of unknown kinds on one stream: Kuma has a few dozen that this registry lacks, and definitions may be on their way. */
export const MAX_UNKNOWN_KINDS = 64 + MAX_DECLARED_KINDS;

/** Whether a kind that a peer names is accepted, and whether it is new. */
export type KindAdmission = 'known' | 'first' | 'again' | 'too-many';

/** The kinds that a peer names on one stream. The number of unknown ones is bounded. */
export class SubscribedKinds {
  private readonly unknown = new Set<string>();

  constructor(private readonly registry: Registry) {}

  /** Returns `first` for an unknown kind that is named for the first time. */
  classify(kind: string): KindAdmission {
    if (this.registry.kind(kind)) return 'known';
    if (this.unknown.has(kind)) return 'again';
    if (this.unknown.size >= MAX_UNKNOWN_KINDS) return 'too-many';
    this.unknown.add(kind);
    return 'first';
  }
}
