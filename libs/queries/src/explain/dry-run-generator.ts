import type { GeneratorDryRun, ServiceName } from '@causeway/api';
import {
  parseGenerator,
  clashReason,
  compareClaims,
  renderTemplate,
  type ParsedGenerator,
  type ClaimTable,
  type ClaimView,
  type GeneratorSource,
} from '@causeway/naming';
import { compareIdentities, compareText, identityKey, type Identity } from '@causeway/resources';
import { inSlices, SortedRuns } from '@causeway/runtime';

type DryRunName = GeneratorDryRun['names'][number];
type DroppedName = GeneratorDryRun['dropped'][number];

/** The generator to try: identity and spec; it need not exist. */
export type DryRunSource = Omit<GeneratorSource, 'creationOrder'>;

/**
 * Computes the names that a generator would assign in the zone of `table`, and the collisions that it would win and
 * lose (docs/design.md §4; peers 42). A stored generator keeps its creation order, a new one is the youngest. Sorted by
 * mesh, hostname and service. Blocks the event loop for at most a slice; rejects with the reason of the signal if that
 * aborts first.
 */
export async function dryRunGenerator(
  table: ClaimTable,
  source: DryRunSource,
  signal: AbortSignal,
): Promise<GeneratorDryRun> {
  const known = storedRule(table, source.id);
  const creationOrder = known?.creationOrder ?? Number.MAX_SAFE_INTEGER;
  const rule = parseGenerator({ ...source, creationOrder }, known?.madeHere ?? source.id.zone === table.ownZone);
  const own = new Map<string, ClaimView[]>();
  const unnamed: { service: ServiceName; reason: string }[] = [];
  const names: DryRunName[] = [];
  const dropped: DroppedName[] = [];
  const steps = function* (): Generator<unknown> {
    for (const service of table.selectedBy(rule)) {
      const named = toClaim(service, rule, table.ownZone);
      if ('reason' in named) unnamed.push(named);
      else claimsAt(own, service.id.mesh, named.hostname).push(named);
      yield;
    }
    const sorted = new SortedRuns(compareNames);
    for (const claims of own.values()) {
      for (const name of findOutcome(table, rule, claims)) sorted.add(name);
      yield;
    }
    for (const name of sorted) yield names.push(name);
    if (known) for (const lost of droppedNames(table, known, own)) yield dropped.push(...lost);
  };
  await inSlices(steps(), signal);
  return { names, unnamed, dropped };
}

/** A service that a rule selects, in the form that templates use. */
type RenderedService = ClaimView['service'] & Parameters<typeof renderTemplate>[1];

/** Returns the rule's claim for a service, or why there is none. */
function toClaim(
  service: RenderedService,
  rule: ParsedGenerator,
  zone: string,
): ClaimView | GeneratorDryRun['unnamed'][number] {
  const rendered = rule.template
    ? renderTemplate(rule.template, service, zone)
    : { ok: false as const, reason: rule.problem };
  if (!rendered.ok) return { service: { ...service.id }, reason: rendered.reason };
  return { hostname: rendered.hostname, service, generator: rule };
}

function claimsAt(own: Map<string, ClaimView[]>, mesh: string, hostname: string): ClaimView[] {
  const place = `${mesh}/${hostname}`;
  const claims = own.get(place) ?? [];
  own.set(place, claims);
  return claims;
}

function storedRule(table: ClaimTable, id: Identity): ParsedGenerator | undefined {
  for (const rule of table.generators()) if (rule.key === identityKey(id)) return rule;
  return undefined;
}

/** Returns the outcome of the rule's claims on one hostname. */
function findOutcome(table: ClaimTable, rule: ParsedGenerator, own: readonly ClaimView[]): DryRunName[] {
  const { mesh } = own[0]?.service.id ?? { mesh: '' };
  const hostname = own[0]?.hostname ?? '';
  const others = table
    .claimsOn(mesh, hostname)
    .filter(({ generator }) => compareIdentities(generator.id, rule.id) !== 0);
  const [winner] = [...own, ...others].sort(compareClaims);
  const [holder] = others;
  return own.map((claim): DryRunName => {
    const name = { mesh, hostname, service: { ...claim.service.id } };
    if (!winner || !sameService(winner, claim))
      return { ...name, status: 'NotAvailable', reason: winner ? clashReason(winner, claim) : '' };
    if (!holder || sameService(holder, claim)) return { ...name, status: 'Available' };
    return {
      ...name,
      status: 'Available',
      takesFrom: { service: { ...holder.service.id }, reason: clashReason(winner, holder) },
    };
  });
}

/** Yields the names that each service would lose; usually none. */
function* droppedNames(
  table: ClaimTable,
  known: ParsedGenerator,
  own: ReadonlyMap<string, readonly ClaimView[]>,
): Generator<DroppedName[]> {
  const kept = new Map<string, Set<string>>();
  for (const [place, claims] of own) {
    kept.set(place, new Set(claims.map((claim) => identityKey(claim.service.id))));
    yield [];
  }
  for (const { id, claims } of table.selectedBy(known)) {
    yield claims.flatMap(({ generator, hostname }) => {
      if (generator !== known || hostname === undefined) return [];
      const stays = kept.get(`${id.mesh}/${hostname}`)?.has(identityKey(id)) === true;
      return stays ? [] : { mesh: id.mesh, hostname, service: { ...id } };
    });
  }
}

function sameService(a: ClaimView, b: ClaimView): boolean {
  return compareIdentities(a.service.id, b.service.id) === 0;
}

function compareNames(a: DryRunName, b: DryRunName): number {
  return compareText(a.mesh, b.mesh) || compareText(a.hostname, b.hostname) || compareIdentities(a.service, b.service);
}
