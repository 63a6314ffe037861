import type { SourceForm } from '@causeway/kinds';
import type { NodeMetadata } from './node';
import type { ZoneHeaders } from './headers';

/** The first version of Kuma that writes and reads the typed form. */
const FIRST_TYPED = [2, 14, 6] as const;
/** A feature that Kuma 3 neither sends nor requires. */
const BEFORE_3 = 'optional-top-level-target-ref';

/** Returns the form of certificate sources that a plain Kuma zone reads: Kuma 3 is recognised by a header, 2.14 by its version. */
export function findZoneSourceForm({ zoneVersion, version }: Pick<ZoneHeaders, 'zoneVersion' | 'version'>): SourceForm {
  return zoneVersion !== undefined || isTypedVersion(version) ? 'typed' : 'untyped';
}

/** Returns the same for a plain Kuma global, by the node of its first request. */
export function findGlobalSourceForm({ version, features }: Pick<NodeMetadata, 'version' | 'features'>): SourceForm {
  return !features.includes(BEFORE_3) || isTypedVersion(version) ? 'typed' : 'untyped';
}

/** Returns false if the text is no version: builds without a version are recognised by their other fields. */
function isTypedVersion(text: string): boolean {
  const numbers = /^v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})/.exec(text)?.slice(1).map(Number) ?? [];
  if (numbers.length === 0) return false;
  const differing = FIRST_TYPED.findIndex((wanted, i) => numbers[i] !== wanted);
  return differing < 0 || (numbers[differing] ?? 0) > (FIRST_TYPED[differing] ?? 0);
}
