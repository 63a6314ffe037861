import { identityKey, type Labels } from '@causeway/resources';
import type { Claim, Claimant, ServiceSource } from './claim';
import { addressOf, type ClaimView, type ServiceAddress } from './service-address';
import { ClaimsByHostname, winnerOf } from './claims-by-hostname';
import { hasLabels, sameGenerator, type ParsedGenerator, type RequiredLabel } from './parsed-generator';
import { ServiceLabelIndex } from './service-label-index';
import { compareGenerators } from './precedence';
import { renderTemplate } from './template';

interface KindGenerator {
  readonly generator: ParsedGenerator;
  readonly required: readonly RequiredLabel[];
}

interface KindIndex {
  readonly services: ServiceLabelIndex;
  /** The stronger first. */
  generators: readonly KindGenerator[];
}

/**
 * Every claim of a zone: which generator wants which hostname for which service, and who gets it. Incremental: a
 * service costs what the generators of its kind cost, a generator what it matches. The state depends on the present
 * generators, services and meshes only, never on the order in which they came (I3 of design.md §9). Services of a mesh
 * that is not there claim nothing (design.md §5).
 */
export class ClaimTable {
  private readonly kinds = new Map<string, KindIndex>();
  private readonly services = new Map<string, Claimant>();
  private readonly generatorsByKey = new Map<string, ParsedGenerator>();
  private readonly byMesh = new Map<string, ClaimsByHostname>();
  private changed = new Set<string>();
  private readonly changedHeaps = new Set<readonly Claim[]>();

  /** `ownZone` is the zone that decides: `.Zone` of what no zone made. */
  constructor(readonly ownZone: string) {}

  get serviceCount(): number {
    return this.services.size;
  }

  /** The generators of the table, in no order. */
  generators(): Iterable<ParsedGenerator> {
    return this.generatorsByKey.values();
  }

  /** `unreachable`: why the service keeps its names and shows them as NotAvailable; it moves no name to another. */
  upsertService(source: ServiceSource, key = identityKey(source.id), unreachable?: string): void {
    const known = this.services.get(key);
    if (known && known.unreachable !== unreachable) {
      known.unreachable = unreachable;
      this.changed.add(key);
    }
    const { services: selection } = this.kind(source.id.kind);
    if (known && known.creationOrder === source.creationOrder && sameLabels(known.labels, source.labels)) {
      known.labels = source.labels; // lets go of the older row's copy
      return;
    }
    const aged = known !== undefined && known.creationOrder !== source.creationOrder;
    if (known && aged) this.dropClaims(known);
    if (known) selection.remove(known);
    const { id, labels, creationOrder } = source;
    const service: Claimant = known ?? { key, id, labels, creationOrder, unreachable, claims: [] };
    service.labels = labels;
    service.creationOrder = creationOrder;
    this.services.set(key, service);
    selection.add(service);
    this.refreshClaims(service);
  }

  removeService(key: string): void {
    const service = this.services.get(key);
    if (!service) return;
    this.dropClaims(service);
    this.kind(service.id.kind).services.remove(service);
    this.services.delete(key);
    this.changed.add(key);
  }

  upsertGenerator(rule: ParsedGenerator): void {
    const known = this.generatorsByKey.get(rule.key);
    if (known && sameGenerator(known, rule)) return;
    // The new one first: an index that both need is not built twice.
    this.eachKind(rule, (kind, wanted) => kind.services.retain(wanted));
    if (known) this.removeGenerator(known.key);
    this.generatorsByKey.set(rule.key, rule);
    this.eachKind(rule, (kind, wanted) => {
      kind.generators = [...kind.generators, { generator: rule, required: wanted }].sort((a, b) =>
        compareGenerators(a.generator, b.generator),
      );
      for (const service of kind.services.select(wanted)) this.addClaim(service, rule);
    });
  }

  removeGenerator(key: string): void {
    const rule = this.generatorsByKey.get(key);
    if (!rule) return;
    this.generatorsByKey.delete(key);
    this.eachKind(rule, (kind, wanted) => {
      kind.generators = kind.generators.filter((other) => other.generator !== rule);
      for (const service of kind.services.select(wanted)) this.removeClaim(service, rule);
      kind.services.release(wanted);
    });
  }

  /** The mesh is there: its services get their names. */
  addMesh(mesh: string): void {
    if (this.byMesh.has(mesh)) return;
    this.byMesh.set(mesh, new ClaimsByHostname());
    for (const service of this.services.values()) if (service.id.mesh === mesh) this.refreshClaims(service);
  }

  /** The mesh is gone: its services keep no names. */
  removeMesh(mesh: string): void {
    if (!this.byMesh.delete(mesh)) return;
    for (const service of this.services.values()) {
      if (service.id.mesh !== mesh) continue;
      service.claims = [];
      this.changed.add(service.key);
    }
  }

  /** Keys of the services whose addresses may differ from what they were at the last call; a removed one is among them. */
  takeChanged(): Set<string> {
    const keys = this.changed;
    for (const heap of this.changedHeaps) for (const claim of heap) keys.add(claim.service.key);
    this.changedHeaps.clear();
    this.changed = new Set();
    return keys;
  }

  /** As `takeChanged` for who looks at every service anyway: costs nothing. */
  discardChanged(): void {
    this.changedHeaps.clear();
    this.changed = new Set();
  }

  /** What `status.addresses` of a service must be, by the generators' precedence as in the seed; empty when unknown. */
  addressesOf(key: string): readonly ServiceAddress[] {
    const service = this.services.get(key);
    if (!service) return [];
    return service.claims.map((claim) => addressOf(claim, winnerOf(claim), this.ownZone));
  }

  /** Every hostname that somebody claims in a mesh, in no order. */
  hostnames(mesh: string): Iterable<string> {
    return this.byMesh.get(mesh)?.names() ?? [];
  }

  hasMesh(mesh: string): boolean {
    return this.byMesh.has(mesh);
  }

  /** All claims on a hostname of a mesh, the winner first. */
  claimsOn(mesh: string, hostname: string): readonly ClaimView[] {
    const claims = this.byMesh.get(mesh)?.ranked(hostname) ?? [];
    return claims.map(({ service, generator }) => ({
      ...{ hostname, service, generator },
      ...(service.unreachable === undefined ? {} : { unreachable: service.unreachable }),
    }));
  }

  /** Services of present meshes that a rule selects, whether or not it is in the table; for dry runs. */
  *selectedBy(rule: ParsedGenerator): Iterable<Readonly<Claimant>> {
    for (const { kind, required: wanted } of rule.selectors) {
      for (const service of this.kind(kind).services.select(wanted)) if (this.hasMesh(service.id.mesh)) yield service;
    }
  }

  /** Brings a service's claims to what its generators give it now; claims that stay are not touched. */
  private refreshClaims(service: Claimant): void {
    this.changed.add(service.key);
    const contest = this.byMesh.get(service.id.mesh);
    if (!contest) return;
    const before = service.claims;
    const after: Claim[] = [];
    for (const { generator: rule, required: wanted } of this.kind(service.id.kind).generators) {
      if (!hasLabels(wanted, service)) continue;
      const claim = this.makeClaim(service, rule);
      const same = before.find((other) => other.generator === rule && other.hostname === claim.hostname);
      after.push(same ?? claim);
      if (!same) this.enter(claim, contest);
    }
    service.claims = after;
    for (const claim of before) if (!after.includes(claim)) this.withdraw(claim, contest);
  }

  private addClaim(service: Claimant, rule: ParsedGenerator): void {
    const contest = this.byMesh.get(service.id.mesh);
    if (!contest) return;
    const claim = this.makeClaim(service, rule);
    const weaker = service.claims.findIndex((other) => compareGenerators(rule, other.generator) < 0);
    service.claims = service.claims.toSpliced(weaker < 0 ? service.claims.length : weaker, 0, claim);
    this.changed.add(service.key);
    this.enter(claim, contest);
  }

  private removeClaim(service: Claimant, rule: ParsedGenerator): void {
    const contest = this.byMesh.get(service.id.mesh);
    const claim = service.claims.find((other) => other.generator === rule);
    if (!contest || !claim) return;
    service.claims = service.claims.filter((other) => other !== claim);
    this.changed.add(service.key);
    this.withdraw(claim, contest);
  }

  private dropClaims(service: Claimant): void {
    const contest = this.byMesh.get(service.id.mesh);
    if (contest) for (const claim of service.claims) this.withdraw(claim, contest);
    service.claims = [];
  }

  private makeClaim(service: Claimant, rule: ParsedGenerator): Claim {
    const rendered = rule.template && renderTemplate(rule.template, service, this.ownZone);
    return {
      service,
      generator: rule,
      hostname: rendered?.ok ? rendered.hostname : undefined,
      rivals: undefined,
      slot: 0,
    };
  }

  private enter(claim: Claim, contest: ClaimsByHostname): void {
    if (claim.hostname === undefined) return;
    const moved = contest.add(claim);
    if (moved.length > 0) this.changedHeaps.add(moved);
  }

  private withdraw(claim: Claim, contest: ClaimsByHostname): void {
    if (claim.hostname === undefined) return;
    const moved = contest.remove(claim);
    if (moved.length > 0) this.changedHeaps.add(moved);
  }

  private eachKind(rule: ParsedGenerator, act: (kind: KindIndex, wanted: readonly RequiredLabel[]) => void): void {
    for (const { kind, required: wanted } of rule.selectors) act(this.kind(kind), wanted);
  }

  private kind(name: string): KindIndex {
    const known = this.kinds.get(name);
    if (known) return known;
    const made: KindIndex = { services: new ServiceLabelIndex(), generators: [] };
    this.kinds.set(name, made);
    return made;
  }
}

function sameLabels(a: Labels, b: Labels): boolean {
  if (a === b) return true;
  let count = 0;
  for (const key in a) {
    if (a[key] !== b[key]) return false;
    count += 1;
  }
  for (const _ in b) count -= 1;
  return count === 0;
}
