import { compareIdentities, compareOrders, compareText, describeIdentity, type Identity } from '@causeway/resources';

/** The properties of a generator that decide conflicts of names. */
export interface GeneratorRank {
  readonly id: Identity;
  /** Created in this zone, not synced from the global. */
  readonly madeHere: boolean;
  /** Its template reads the name at App Mesh, which the owner of a service chooses: it ranks after all others. */
  readonly byOwner: boolean;
  /** A creation order of 0 is unknown and ranks last (docs/design.md §4 Creation order). */
  readonly creationOrder: number;
}

/** The properties of a service that decide conflicts of names. */
interface ServiceRank {
  readonly id: Identity;
  /** A creation order of 0 is unknown and ranks last. */
  readonly creationOrder: number;
}

/** The properties of a claim, of one generator for one service, that decide precedence. */
export interface ClaimRank {
  readonly generator: GeneratorRank;
  readonly service: ServiceRank;
}

/** The rule that decides between two claims; the rules are tried in this order. */
export type PrecedenceRule =
  | 'chosen-by-owner'
  | 'generator-made-here'
  | 'generator-creation-order'
  | 'generator-name'
  | 'service-creation-order'
  | 'service-identity';

/**
 * Total order of generators by precedence: names that service owners choose come last, then those created in this zone,
 * then older, then by name (docs/design.md §4 hostname). Two generators of one control plane are equal only if they are
 * the same.
 */
export function compareGenerators(a: GeneratorRank, b: GeneratorRank): number {
  if (a.byOwner !== b.byOwner) return a.byOwner ? 1 : -1;
  if (a.madeHere !== b.madeHere) return a.madeHere ? -1 : 1;
  return compareOrders(a.creationOrder, b.creationOrder) || compareText(a.id.name, b.id.name);
}

/**
 * Total order of the claims on one hostname of one mesh, the winner first, over all kinds of services. It depends only
 * on its arguments, so every zone with the same claims elects the same winner (I3).
 */
export function compareClaims(a: ClaimRank, b: ClaimRank): number {
  return (
    (a.generator === b.generator ? 0 : compareGenerators(a.generator, b.generator)) ||
    compareOrders(a.service.creationOrder, b.service.creationOrder) ||
    compareIdentities(a.service.id, b.service.id) ||
    // Two generators have the same name only if a table holds the generators of several zones.
    compareText(a.generator.id.zone, b.generator.id.zone)
  );
}

/** Returns the first rule by which the two claims differ; `winner` must precede `loser`. */
export function decidingRule(winner: ClaimRank, loser: ClaimRank): PrecedenceRule {
  const [a, b] = [winner.generator, loser.generator];
  if (a.byOwner !== b.byOwner) return 'chosen-by-owner';
  if (a.madeHere !== b.madeHere) return 'generator-made-here';
  if (compareOrders(a.creationOrder, b.creationOrder) !== 0) return 'generator-creation-order';
  if (a.id.name !== b.id.name) return 'generator-name';
  if (compareOrders(winner.service.creationOrder, loser.service.creationOrder) !== 0) return 'service-creation-order';
  return 'service-identity';
}

/** Returns why `winner` precedes `loser`, as a clause about the winner: `its generator was made in this zone`. */
function ruleThatDecided(winner: ClaimRank, loser: ClaimRank): string {
  const [a, b] = [winner.generator, loser.generator];
  switch (decidingRule(winner, loser)) {
    case 'chosen-by-owner':
      return `names by awsName (HostnameGenerator "${b.id.name}") give way to those of every other generator ("${a.id.name}")`;
    case 'generator-made-here':
      return 'its generator was made in this zone';
    case 'generator-creation-order':
      return b.creationOrder === 0
        ? `the age of its generator "${a.id.name}" is known, that of "${b.id.name}" is not`
        : `its generator "${a.id.name}" is older than "${b.id.name}"`;
    case 'generator-name':
      return `its generator "${a.id.name}" comes before "${b.id.name}" by name`;
    case 'service-creation-order':
      return loser.service.creationOrder === 0 ? 'its age is known' : 'it is the older service';
    case 'service-identity':
      return 'it comes first by kind, mesh, zone, namespace and name';
  }
}

/** Like `clashReason`, for a claim on a name at App Mesh that does not exist yet: every other claim wins. */
export function clashOfAwsName({ service, generator }: ClaimRank): string {
  const who = describeIdentity(service.id);
  return `clash with ${who}: names by awsName give way to those of every other generator ("${generator.id.name}")`;
}

/** Returns the reason in the status of a loser: the winner and the rule that decided (T001-18; peers 44). */
export function clashReason(winner: ClaimRank, loser: ClaimRank): string {
  return `clash with ${describeIdentity(winner.service.id)}: ${ruleThatDecided(winner, loser)}`;
}
