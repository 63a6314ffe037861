import { isDnsLabel, type FieldPath, type Violation } from '@causeway/resources';

/** Violations where `key` of a later item repeats that of an earlier one; items without it do not count. */
export function distinct<T>(
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

/** A port as MeshService and MeshMultiZoneService have it. */
interface NamedPort {
  readonly port: number;
  readonly name?: string | undefined;
}

/** Violations of "no number and no name twice" in a list of ports. */
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

/** One line where a name is legal here but not for Kuma or as one part of a hostname (design.md §1 Names). */
export function nameWarnings(name: string): string[] {
  if (isDnsLabel(name)) return [];
  return [
    `name: "${name}" is not an RFC 1035 label (at most 63 lower-case letters, digits and '-', starting with a letter); Kuma may refuse it and hostnames made of it have other parts`,
  ];
}

/** The labels of a selector, whichever of its two words was used; both at once is a violation (design.md §4). */
export function selectorLabels(selector: {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly matchLabels?: Readonly<Record<string, string>> | undefined;
}): Readonly<Record<string, string>> {
  return selector.labels ?? selector.matchLabels ?? {};
}

/** A violation where a selector uses both words for its labels. */
export function oneWordForLabels(
  selector: { readonly labels?: unknown; readonly matchLabels?: unknown } | undefined,
  at: FieldPath,
): Violation[] {
  if (selector?.labels === undefined || selector.matchLabels === undefined) return [];
  return [at.violation('must have only one of labels, matchLabels: they mean the same')];
}
