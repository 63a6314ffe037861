import { isDeepStrictEqual } from 'node:util';
import type { RowVersion } from '../../support/row-versions';
import type { Told } from './zone-writer';

/** Every version of every service in each database, by the name of the control plane. */
export type Histories = ReadonlyMap<string, readonly RowVersion[]>;

/** Violations, one line each. */
export interface Verdict {
  /** I4: what a control plane lacks, or holds though its origin does not. */
  readonly unequal: readonly string[];
  /** I5: copies that were deleted before their origin had deleted their source. */
  readonly vanished: readonly string[];
  /** I7: copies that went back, and content that no origin ever had. */
  readonly wentBack: readonly string[];
  /** I9: answered writes that are gone. */
  readonly lost: readonly string[];
}

/** Holds all that was recorded against the origins' own records. */
export function judge(histories: Histories, told: ReadonlyMap<string, ReadonlyMap<string, Told>>): Verdict {
  const origins = new Map([...told.keys()].map((zone) => [zone, byName(histories.get(zone) ?? [], zone)]));
  const copies = [...histories].flatMap(([holder, versions]) =>
    [...origins].flatMap(([zone, services]) =>
      holder === zone
        ? []
        : [...services].map(([name, origin]) => ({ at: `${name} on ${holder}`, origin, ...of(versions, zone, name) })),
    ),
  );
  const strangers = [...histories].flatMap(([holder, versions]) =>
    versions
      .filter(({ zone, name }) => !origins.get(zone)?.has(name))
      .map(({ name }) => `${name} on ${holder}: invented`),
  );
  return {
    unequal: copies.flatMap(({ at, origin, versions }) => inequality(at, origin, versions)),
    vanished: copies.flatMap(({ at, origin, versions }) => vanishings(at, origin, versions)),
    wentBack: [...strangers, ...copies.flatMap(({ at, origin, versions }) => stepsBack(at, origin, versions))],
    lost: [...told].flatMap(([zone, names]) => losses(origins.get(zone), names)),
  };
}

type Versions = readonly RowVersion[];

function of(versions: Versions, zone: string, name: string): { readonly versions: Versions } {
  return { versions: versions.filter((version) => version.zone === zone && version.name === name) };
}

function byName(versions: Versions, zone: string): ReadonlyMap<string, Versions> {
  const services = new Map<string, RowVersion[]>();
  for (const version of versions) {
    if (version.zone === zone) services.set(version.name, [...(services.get(version.name) ?? []), version]);
  }
  return services;
}

function inequality(at: string, origin: Versions, copies: Versions): string[] {
  const [made, copy] = [origin.at(-1), copies.at(-1)];
  if (made?.living !== true) return copy?.living === true ? [`${at}: held, but deleted at its origin`] : [];
  if (copy?.living !== true) return [`${at}: missing`];
  return sameContent(made, copy) ? [] : [`${at}: ${stamp(copy)} instead of ${stamp(made)}`];
}

function vanishings(at: string, origin: Versions, copies: Versions): string[] {
  return copies.flatMap((copy, n) => {
    const before = copies[n - 1];
    if (copy.living || before?.living !== true) return [];
    const deleted = origin.some((made) => !made.living && made.revision > before.originRevision && made.at <= copy.at);
    return deleted ? [] : [`${at}: ${stamp(before)} deleted at revision ${copy.revision}`];
  });
}

function stepsBack(at: string, origin: Versions, copies: Versions): string[] {
  const living = copies.filter((copy) => copy.living);
  return living.flatMap((copy, n) => {
    const before = living[n - 1];
    // After its deletion only what its origin made since then may come.
    const again = copies[copies.indexOf(copy) - 1]?.living === false;
    const back =
      before &&
      (copy.originRevision < before.originRevision || (again && copy.originRevision === before.originRevision));
    const real = origin.some(
      (made) => made.living && made.originRevision === copy.originRevision && sameContent(made, copy),
    );
    return [
      ...(back ? [`${at}: ${stamp(copy)} after ${stamp(before)}`] : []),
      ...(real ? [] : [`${at}: ${stamp(copy)} at ${copy.originRevision} was never so at its origin`]),
    ];
  });
}

function losses(services: ReadonlyMap<string, Versions> | undefined, names: ReadonlyMap<string, Told>): string[] {
  return [...names].flatMap(([name, told]) => {
    const last = services?.get(name)?.at(-1);
    if (told.type === 'stands' && (last?.living !== true || stamp(last) !== told.stamp))
      return [`${name}: ${told.stamp}`];
    return told.type === 'gone' && last?.living === true ? [`${name}: its deletion`] : [];
  });
}

/** The label of the origin is the only one that differs between copies. */
function sameContent(a: RowVersion, b: RowVersion): boolean {
  const { 'kuma.io/origin': _, ...labelsOfA } = a.labels;
  const { 'kuma.io/origin': __, ...labelsOfB } = b.labels;
  return isDeepStrictEqual(labelsOfA, labelsOfB) && isDeepStrictEqual(a.spec, b.spec);
}

function stamp(version: RowVersion | undefined): string {
  return version?.labels['stamp'] ?? 'nothing';
}
