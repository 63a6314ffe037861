import { shortened, type Registry } from '@causeway/resources';
import type { Rejection } from '@causeway/sync';
import type { AppliedResult } from '../wire/request';

/** Most refusals that a text lists; it says how many there are. */
const LISTED = 100;

/** Refusals in a line of the log. */
const LOGGED = 10;

/** Longest reason that is told of one resource, characters. */
export const MAX_REASON = 512;

const MOST_TEXT = 16 * 1024;

/** Bytes of all results in one answer. */
const MOST_RESULTS = 512 * 1024;

/** What a result costs beside its texts. */
const RESULT_OVERHEAD = 80;

/** At most `most` characters of a text of a peer, without NUL and halves of characters; what is left out shows as `…`. */
export function peerText(text: string, most = MAX_REASON): string {
  return Buffer.from(shortened(text, most, '…').replaceAll('\0', '\ufffd')).toString();
}

/** What an answer says of refused resources as text: the first of them, and how many there are. */
export function rejectionText(refused: readonly Rejection[], nameOf: (wireKey: string) => string): string {
  const lines = ['user error'];
  let size = 0;
  for (const { wireKey, reason } of refused.slice(0, LISTED)) {
    const line = `${peerText(nameOf(wireKey))}: ${peerText(reason)}`;
    size += Buffer.byteLength(line) + 1;
    if (size > MOST_TEXT) break;
    lines.push(line);
  }
  const left = refused.length - (lines.length - 1);
  return [...lines, ...(left > 0 ? [`and ${left} more; ${refused.length} in all`] : [])].join('\n');
}

/** The first refusals, for one line of the log, and how many there are. */
export function rejectionFields(
  refused: readonly Rejection[],
  nameOf: (wireKey: string) => string,
): { readonly rejected: readonly string[]; readonly total: number } {
  const rejected = refused
    .slice(0, LOGGED)
    .map(({ wireKey, reason }) => peerText(`${peerText(nameOf(wireKey), 200)}: ${reason}`, 400));
  return { rejected, total: refused.length };
}

/** As many results as an answer may carry; the text says how many there were. */
export function boundedResults(results: Iterable<AppliedResult>): readonly AppliedResult[] {
  const told: AppliedResult[] = [];
  let size = 0;
  for (const result of results) {
    const reason = peerText(result.reason);
    const texts = [result.name, result.mesh, result.kind, result.version, reason];
    size += texts.reduce((sum, text) => sum + Buffer.byteLength(text), RESULT_OVERHEAD);
    if (size > MOST_RESULTS) break;
    told.push({ ...result, reason });
  }
  return told;
}

/** Most kinds that one stream may name and that are not known here: Kuma has a few dozen that we lack. */
export const MAX_UNKNOWN_KINDS = 64;

/** What naming a kind means. */
export type KindVerdict = 'known' | 'first' | 'again' | 'too-many';

/** The kinds that a peer names on one stream. Those that are not known here are counted, and only so many remembered. */
export class SubscribedKinds {
  private readonly unknown = new Set<string>();

  constructor(private readonly registry: Registry) {}

  /** `first`: it is not known here, and named for the first time. */
  classify(kind: string): KindVerdict {
    if (this.registry.kind(kind)) return 'known';
    if (this.unknown.has(kind)) return 'again';
    if (this.unknown.size >= MAX_UNKNOWN_KINDS) return 'too-many';
    this.unknown.add(kind);
    return 'first';
  }
}
