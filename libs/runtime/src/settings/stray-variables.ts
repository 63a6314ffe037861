import { nearest } from '@causeway/resources';

/**
 * What Kubernetes injects for each Service of a namespace: `X_SERVICE_HOST`, `X_SERVICE_PORT_REST`, `X_PORT_80_TCP_ADDR`,
 * and `X_PORT` with an address as its value. Nobody wrote these, so none of them is a setting.
 */
export function isKubernetesVariable(name: string, value: string): boolean {
  return (
    /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (/_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value))
  );
}

/**
 * The known name of which `name` is a likely slip of the pen: the same words otherwise joined or ordered, the first
 * words of it, or all words but one that is nearly the same. Names that are merely alike are none: a variable of another
 * program must not stop this one.
 */
export function suggestedName(name: string, known: readonly string[]): string | undefined {
  const given = name.split('_');
  return known.find((candidate) => isSlip(given, candidate.split('_')));
}

function isSlip(given: readonly string[], known: readonly string[]): boolean {
  if (given.join('') === known.join('')) return true;
  if ([...given].sort().join('_') === [...known].sort().join('_')) return true;
  // The product's prefix and two words.
  if (given.length >= 3 && given.length < known.length) return given.every((word, i) => word === known[i]);
  if (given.length !== known.length) return false;
  const [[word = '', wanted = ''] = [], ...others] = given.flatMap((each, i) =>
    each === known[i] ? [] : [[each, known[i] ?? '']],
  );
  return others.length === 0 && isAlike(word, wanted);
}

function isAlike(word: string, wanted: string): boolean {
  if (word.length >= 3 && (wanted.startsWith(word) || word.startsWith(wanted))) return true;
  return Math.abs(word.length - wanted.length) <= 2 && nearest(word, [wanted]) !== undefined;
}
