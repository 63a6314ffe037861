import { isIP, isMemberAddress } from '@causeway/ipam';
import { isDnsLabel, type FieldPath, type LabelSelector, type Violation } from '@causeway/resources';

/** Returns a violation for each item whose `key` an earlier item has; items without a key are ignored. */
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

/** Returns violations if two ports have the same number or name. */
export function checkDistinctPorts(ports: readonly NamedPort[], at: FieldPath): Violation[] {
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

/** Warns of a name that is valid here, but not in Kuma or as one label of a hostname (docs/design.md §1, Names). */
export function nameWarnings(name: string): string[] {
  if (isDnsLabel(name)) return [];
  return [
    `name: "${name}" is not an RFC 1035 label (at most 63 lower-case letters, digits and '-', starting with a letter); Kuma may refuse it and hostnames made of it have other parts`,
  ];
}

/** Returns the labels of a selector from `labels` or `matchLabels`; both together are a violation (docs/design.md §4). */
export function selectorLabels(selector: {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
}): Readonly<Record<string, string>> {
  return selector.labels ?? selector.matchLabels ?? {};
}

/** Returns a violation if a selector has both `labels` and `matchLabels`. */
export function checkLabelFields(
  selector: { readonly labels?: unknown; readonly matchLabels?: unknown } | undefined,
  at: FieldPath,
): Violation[] {
  if (selector?.labels === undefined || selector.matchLabels === undefined) return [];
  return [at.violation('must have only one of labels, matchLabels: they mean the same')];
}

/** Returns violations if an expression lacks the values that its operator needs, or has values that it must not have. */
export function selectorViolations(selector: LabelSelector | undefined, at: FieldPath): Violation[] {
  return (selector?.matchExpressions ?? []).flatMap(({ operator, values = [] }, i) => {
    const field = at.field('matchExpressions').index(i).field('values');
    const needed = operator === 'In' || operator === 'NotIn';
    if (needed && values.length === 0) return [field.violation(`must not be empty with operator ${operator}`)];
    if (!needed && values.length > 0) return [field.violation(`must be empty with operator ${operator}`)];
    return [];
  });
}

/** Returns a violation unless the address is an IP address or host name that other hosts can reach. */
export function checkHostAddress(address: string, at: FieldPath): Violation[] {
  if (address === '0.0.0.0' || address === '::') return [at.violation(`must not be 0.0.0.0 or ::; got "${address}"`)];
  if (isIP(address)) return checkMemberAddress(address, at);
  if (isDomainName(address)) return [];
  return [at.violation(`must be an IP address or a host name; got \"${address}\"`, 'wrong-form')];
}

/** Returns a violation for link-local and cloud metadata addresses: each host has its own service there, not the mesh's. */
export function checkMemberAddress(address: string | undefined, at: FieldPath): Violation[] {
  return address === undefined || isMemberAddress(address)
    ? []
    : [at.violation(`must be no link-local address and none of cloud metadata; got "${address}"`, 'not-allowed')];
}

/** Returns a violation unless the address is absent or an IP address. */
export function checkIpAddress(address: string | undefined, at: FieldPath): Violation[] {
  return address === undefined || isIP(address)
    ? []
    : [at.violation(`must be an IP address; got \"${address}\"`, 'wrong-form')];
}

/**
 * Whether a text is a resolvable host name. Upper case and underscores are allowed because they are in use; a last
 * label of digits only is not, because it is a mistyped IP address (RFC 3696 §2).
 */
export function isDomainName(text: string): boolean {
  return (
    text.length <= 253 &&
    !/(^|\.)[0-9]+$/.test(text) &&
    text.split('.').every((label) => /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/.test(label))
  );
}
