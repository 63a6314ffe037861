import { identityKey, type Labels, type ResourceKey } from '@causeway/resources';
import {
  toServiceAddress,
  type Claim,
  type Claimant,
  type ClaimView,
  type ServiceAddress,
  type ServiceSource,
} from './claim';
import { ClaimsByHostname, findWinner } from './claims-by-hostname';
import { hasLabels, sameGenerator, type ParsedGenerator, type RequiredLabel } from './parsed-generator';
import { ServiceLabelIndex } from './service-label-index';
import { compareGenerators } from './precedence';
import { renderTemplate } from './template';

/** A generator with the labels that it requires of services of one kind. */
interface KindGenerator {
  readonly generator: ParsedGenerator;
  readonly required: readonly RequiredLabel[];
}

interface KindIndex {
  readonly services: ServiceLabelIndex;
  /** Generators in order of precedence. */
  generators: readonly KindGenerator[];
}

/**
 * All claims of a zone: which generator claims which hostname for which service, and which claim wins. Incremental: a
 * service costs the number of generators of its kind, a generator the number of services that it selects. The state
 * depends only on the current generators, services and meshes, never on their order of arrival (I3 of docs/design.md
 * §9). Services of a missing mesh claim nothing (docs/design.md §5).
 */
export class ClaimTable {
  private readonly kinds = new Map<string, KindIndex>();
  private readonly services = new Map<string, Claimant>();
  private readonly generatorsByKey = new Map<string, ParsedGenerator>();
  private readonly byMesh = new Map<string, ClaimsByHostname>();
  private changed = new Set<ResourceKey>();
  private readonly changedHeaps = new Set<readonly Claim[]>();

  /** `ownZone`: the zone of the claims, and the value of `.Zone` for a service without a zone of origin. */
  constructor(readonly ownZone: string) {}

  get serviceCount(): number {
    return this.services.size;
  }

  /** The generators of the table, in no order. */
  generators(): Iterable<ParsedGenerator> {
    return this.generatorsByKey.values();
  }

  /** Adds or replaces a service. `unreachable` is the reason why its names are NotAvailable; it keeps its claims. */
  upsertService(source: ServiceSource, key = identityKey(source.id), unreachable?: string): void {
    const known = this.services.get(key);
    if (known && known.unreachable !== unreachable) {
      known.unreachable = unreachable;
      this.changed.add(key);
    }
    const { services: index } = this.kind(source.id.kind);
    if (known && known.creationOrder === source.creationOrder && sameLabels(known.labels, source.labels)) {
      known.labels = source.labels; // so that the older row can be collected
      return;
    }
    const aged = known !== undefined && known.creationOrder !== source.creationOrder;
    if (known && aged) this.dropClaims(known);
    if (known) index.remove(known);
    const { id, labels, creationOrder } = source;
    const service: Claimant = known ?? { key, id, labels, creationOrder, unreachable, claims: [] };
    service.labels = labels;
    service.creationOrder = creationOrder;
    this.services.set(key, service);
    index.add(service);
    this.refreshClaims(service);
  }

  removeService(key: string): void {
    const service = this.services.get(key);
    if (!service) return;
    this.dropClaims(service);
    this.kind(service.id.kind).services.remove(service);
    this.services.delete(key);
    this.changed.add(service.key);
  }

  upsertGenerator(generator: ParsedGenerator): void {
    const known = this.generatorsByKey.get(generator.key);
    if (known && sameGenerator(known, generator)) return;
    // Retains the labels of the new generator first, so that an index that both need is not built twice.
    this.eachKind(generator, (kind, required) => kind.services.retain(required));
    if (known) this.removeGenerator(known.key);
    this.generatorsByKey.set(generator.key, generator);
    this.eachKind(generator, (kind, required) => {
      kind.generators = [...kind.generators, { generator, required }].sort((a, b) =>
        compareGenerators(a.generator, b.generator),
      );
      for (const service of kind.services.select(required)) this.addClaim(service, generator);
    });
  }

  removeGenerator(key: string): void {
    const generator = this.generatorsByKey.get(key);
    if (!generator) return;
    this.generatorsByKey.delete(key);
    this.eachKind(generator, (kind, required) => {
      kind.generators = kind.generators.filter((other) => other.generator !== generator);
      for (const service of kind.services.select(required)) this.removeClaim(service, generator);
      kind.services.release(required);
    });
  }

  /** Adds a mesh: its services get their names. */
  addMesh(mesh: string): void {
    if (this.byMesh.has(mesh)) return;
    this.byMesh.set(mesh, new ClaimsByHostname());
    for (const service of this.services.values()) if (service.id.mesh === mesh) this.refreshClaims(service);
  }

  /** Removes a mesh: its services lose their names. */
  removeMesh(mesh: string): void {
    if (!this.byMesh.delete(mesh)) return;
    for (const service of this.services.values()) {
      if (service.id.mesh !== mesh) continue;
      service.claims = [];
      this.changed.add(service.key);
    }
  }

  /** Returns and clears the keys of services whose addresses may have changed since the last call, removed ones included. */
  takeChanged(): Set<ResourceKey> {
    const keys = this.changed;
    for (const heap of this.changedHeaps) for (const claim of heap) keys.add(claim.service.key);
    this.changedHeaps.clear();
    this.changed = new Set();
    return keys;
  }

  /** Clears the same keys, for a caller that reconciles every service; takes constant time. */
  discardChanged(): void {
    this.changedHeaps.clear();
    this.changed = new Set();
  }

  /** Returns the wanted `status.addresses` of a service, in the generators' order of precedence; empty for an unknown service. */
  listAddresses(key: string): readonly ServiceAddress[] {
    const service = this.services.get(key);
    if (!service) return [];
    return service.claims.map((claim) => toServiceAddress(claim, findWinner(claim), this.ownZone));
  }

  /** Returns every claimed hostname of a mesh, in no order. */
  hostnames(mesh: string): Iterable<string> {
    return this.byMesh.get(mesh)?.names() ?? [];
  }

  hasMesh(mesh: string): boolean {
    return this.byMesh.has(mesh);
  }

  /** Returns all claims on a hostname of a mesh, the winner first. */
  claimsOn(mesh: string, hostname: string): readonly ClaimView[] {
    const claims = this.byMesh.get(mesh)?.ranked(hostname) ?? [];
    return claims.map(({ service, generator }) => ({
      hostname,
      service,
      generator,
      ...(service.unreachable === undefined ? {} : { unreachable: service.unreachable }),
    }));
  }

  /** Returns the services of existing meshes that a generator selects, even if the generator is not in the table; for dry runs. */
  *selectedBy(generator: ParsedGenerator): Iterable<Readonly<Claimant>> {
    for (const { kind, required } of generator.selectors) {
      for (const service of this.kind(kind).services.select(required)) if (this.hasMesh(service.id.mesh)) yield service;
    }
  }

  /** Updates the claims of a service to those of its current generators; unchanged claims are kept. */
  private refreshClaims(service: Claimant): void {
    this.changed.add(service.key);
    const contest = this.byMesh.get(service.id.mesh);
    if (!contest) return;
    const before = service.claims;
    const after: Claim[] = [];
    for (const { generator, required } of this.kind(service.id.kind).generators) {
      if (!hasLabels(required, service)) continue;
      const claim = this.makeClaim(service, generator);
      const same = before.find((other) => other.generator === generator && other.hostname === claim.hostname);
      after.push(same ?? claim);
      if (!same) this.enter(claim, contest);
    }
    service.claims = after;
    for (const claim of before) if (!after.includes(claim)) this.withdraw(claim, contest);
  }

  private addClaim(service: Claimant, generator: ParsedGenerator): void {
    const contest = this.byMesh.get(service.id.mesh);
    if (!contest) return;
    const claim = this.makeClaim(service, generator);
    const weaker = service.claims.findIndex((other) => compareGenerators(generator, other.generator) < 0);
    service.claims = service.claims.toSpliced(weaker < 0 ? service.claims.length : weaker, 0, claim);
    this.changed.add(service.key);
    this.enter(claim, contest);
  }

  private removeClaim(service: Claimant, generator: ParsedGenerator): void {
    const contest = this.byMesh.get(service.id.mesh);
    const claim = service.claims.find((other) => other.generator === generator);
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

  private makeClaim(service: Claimant, generator: ParsedGenerator): Claim {
    const rendered = generator.template && renderTemplate(generator.template, service, this.ownZone);
    return {
      service,
      generator,
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

  private eachKind(
    generator: ParsedGenerator,
    act: (kind: KindIndex, required: readonly RequiredLabel[]) => void,
  ): void {
    for (const { kind, required } of generator.selectors) act(this.kind(kind), required);
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
