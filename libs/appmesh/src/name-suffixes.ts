import { dnsNameProblem } from '@causeway/resources';

/** Reason why a name at App Mesh becomes no hostname. */
export type Unnamed = 'OutsideSuffixes' | 'NotADnsName';

/**
 * Second labels below a country's domain under which registries sell names (`co.uk`): such a suffix contains the
 * domains of others. Decided by the form of the name, without a list that becomes outdated.
 */
const SOLD_BELOW = new Set([
  'ac',
  'co',
  'com',
  'edu',
  'go',
  'gob',
  'gov',
  'ltd',
  'mil',
  'ne',
  'net',
  'nom',
  'or',
  'org',
]);

function isSold(labels: readonly string[]): boolean {
  const [second = '', top = ''] = labels;
  return labels.length === 2 && top.length === 2 && SOLD_BELOW.has(second);
}

/** Returns why `suffix` is refused as a suffix of names; undefined if it is accepted. */
export function suffixProblem(suffix: string): string | undefined {
  const problem = dnsNameProblem(suffix);
  if (problem !== undefined) return `is no DNS name: ${problem}`;
  return isSold(suffix.split('.')) ? 'is a public suffix: the names below it belong to others' : undefined;
}

/**
 * Reports whether a VirtualService of `namespace` may have this hostname under the mesh's suffixes: the name is a suffix, or ends with a dot and a
 * suffix. A suffix of one label is the suffix of the namespace with that name, and covers names of its services only.
 */
export function isCovered(suffixes: ReadonlySet<string>, awsName: string, namespace: string): boolean {
  if (suffixes.has(awsName)) return true;
  for (let dot = awsName.indexOf('.'); dot >= 0; dot = awsName.indexOf('.', dot + 1)) {
    const tail = awsName.slice(dot + 1);
    if (suffixes.has(tail) && (tail.includes('.') || tail === namespace)) return true;
  }
  return false;
}

/**
 * Returns the narrowest suffix that covers the name and its siblings: the name without its first label, or the name
 * itself if that would contain domains of others. Undefined if it is not a DNS name.
 */
export function suffixFor(awsName: string, namespace: string): string | undefined {
  if (dnsNameProblem(awsName) !== undefined) return undefined;
  const [, ...rest] = awsName.split('.');
  const parent = rest.join('.');
  if (rest.length >= 2 ? !isSold(rest) : parent !== '' && parent === namespace) return parent;
  return suffixProblem(awsName) === undefined ? awsName : undefined;
}
