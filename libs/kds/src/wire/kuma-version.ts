import type { SourceForm } from '@causeway/kinds';
import type { NodeMetadata } from './node';
import type { ZoneHeaders } from './headers';

/** The first version of Kuma that writes and reads the typed form. */
const FIRST_TYPED = [2, 14, 6] as const;
/** Kuma 3 neither sends this feature nor asks for it. */
const BEFORE_3 = 'optional-top-level-target-ref';

/** The form in which a zone of plain Kuma reads the sources of certificates: 3 names itself in a header, 2.14 by its version. */
export function sourcesOfZone({ zoneVersion, version }: Pick<ZoneHeaders, 'zoneVersion' | 'version'>): SourceForm {
  return zoneVersion !== undefined || isTypedVersion(version) ? 'typed' : 'untyped';
}

/** The same of a global of plain Kuma, by the node of its first request. */
export function sourcesOfGlobal({ version, features }: Pick<NodeMetadata, 'version' | 'features'>): SourceForm {
  return !features.includes(BEFORE_3) || isTypedVersion(version) ? 'typed' : 'untyped';
}

/** False where the text is no version: builds without one are known by what else they send. */
function isTypedVersion(text: string): boolean {
  const numbers = /^v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})/.exec(text)?.slice(1).map(Number) ?? [];
  if (numbers.length === 0) return false;
  const differing = FIRST_TYPED.findIndex((wanted, i) => numbers[i] !== wanted);
  return differing < 0 || (numbers[differing] ?? 0) > (FIRST_TYPED[differing] ?? 0);
}
