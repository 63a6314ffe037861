import { isIP, isMemberAddress } from '@causeway/ipam';
import { isDnsLabel, type FieldPath, type LabelSelector, type Violation } from '@causeway/resources';

/** Violations where two items have the same `key`; items without a key are ignored. */
function distinct<T>(
  items: readonly T[],
  key: (item: T) => string | number | undefined,
  at: (i: number) => FieldPath,
): Violation[] {
  const first = new Map<string | number, number>();
  return items.flatMap((item, i) => {
    const value = key(item);
    if (value === undefined) return [];
    const earlier = first.get(value);
    if (earlier === undefined) {
      first.set(value, i);
      return [];
    }
    return [at(i).violation(`must be unique; ${JSON.stringify(value)} is already at index ${earlier}`, 'not-unique')];
  });
}

/** A port of a MeshService or MeshMultiZoneService. */
interface NamedPort {
  readonly port: number;
  readonly name?: string | undefined;
}

/** Violations where two ports have the same number or name. */
export function distinctPorts(ports: readonly NamedPort[], at: FieldPath): Violation[] {
  return [
    ...distinct(
      ports,
      (port) => port.port,
      (i) => at.index(i).field('port'),
    ),
    ...distinct(
      ports,
      (port) => port.name,
      (i) => at.index(i).field('name'),
    ),
  ];
}

/** A warning for a name that is legal here, and not for Kuma or as one label of a hostname (docs/design.md §1, Names). */
export function nameWarnings(name: string): string[] {
  if (isDnsLabel(name)) return [];
  return [
    `name: "${name}" is not an RFC 1035 label (at most 63 lower-case letters, digits and '-', starting with a letter); Kuma may refuse it and hostnames made of it have other parts`,
  ];
}

/** The labels of a selector, from `labels` or `matchLabels`; both at once are a violation (docs/design.md §4). */
export function selectorLabels(selector: {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
}): Readonly<Record<string, string>> {
  return selector.labels ?? selector.matchLabels ?? {};
}

/** A violation if a selector has both `labels` and `matchLabels`. */
export function oneWordForLabels(
  selector: { readonly labels?: unknown; readonly matchLabels?: unknown } | undefined,
  at: FieldPath,
): Violation[] {
  if (selector?.labels === undefined || selector.matchLabels === undefined) return [];
  return [at.violation('must have only one of labels, matchLabels: they mean the same')];
}

/** Violations where an expression lacks the values that its operator needs, or has values that it does not take. */
export function selectorViolations(selector: LabelSelector | undefined, at: FieldPath): Violation[] {
  return (selector?.matchExpressions ?? []).flatMap(({ operator, values = [] }, i) => {
    const field = at.field('matchExpressions').index(i).field('values');
    const needed = operator === 'In' || operator === 'NotIn';
    if (needed && values.length === 0) return [field.violation(`must not be empty with operator ${operator}`)];
    if (!needed && values.length > 0) return [field.violation(`must be empty with operator ${operator}`)];
    return [];
  });
}

/** Violations unless the address is an IP address or host name that other machines can reach. */
export function hostAddress(address: string, at: FieldPath): Violation[] {
  if (address === '0.0.0.0' || address === '::') return [at.violation(`must not be 0.0.0.0 or ::; got "${address}"`)];
  if (isIP(address)) return memberAddress(address, at);
  if (isDomainName(address)) return [];
  return [at.violation(`must be an IP address or a host name; got \"${address}\"`, 'wrong-form')];
}

/** Violations where nothing of a mesh may be at an address: whoever is led there reaches what its own machine has. */
export function memberAddress(address: string | undefined, at: FieldPath): Violation[] {
  return address === undefined || isMemberAddress(address)
    ? []
    : [at.violation(`must be no link-local address and none of cloud metadata; got "${address}"`, 'not-allowed')];
}

/** Violations unless the address is absent or an IP address. */
export function ipAddress(address: string | undefined, at: FieldPath): Violation[] {
  return address === undefined || isIP(address)
    ? []
    : [at.violation(`must be an IP address; got \"${address}\"`, 'wrong-form')];
}

/**
 * True for a host name that can be resolved. Upper case and underscores are allowed because they are in use; digits
 * alone at the end are not, because what ends so is a mistyped address (RFC 3696 §2).
 */
export function isDomainName(text: string): boolean {
  return (
    text.length <= 253 &&
    !/(^|\.)[0-9]+$/.test(text) &&
    text.split('.').every((label) => /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/.test(label))
  );
}
