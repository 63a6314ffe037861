import {
  claimRule,
  clashReason,
  compareClaims,
  renderTemplate,
  type ClaimRule,
  type ClaimTable,
  type ClaimView,
  type GeneratorSource,
} from '@causeway/naming';
import { compareIdentities, compareText, identityKey, type Identity } from '@causeway/resources';
import type { ServiceName } from './claim-line';

/** A name that a generator would make for one service. */
export type DryRunName = {
  readonly mesh: string;
  readonly hostname: string;
  readonly service: ServiceName;
  readonly status: 'Available' | 'NotAvailable';
  /** A collision it would win: who would lose the name that it has now, and the reason it would then show. */
  readonly takesFrom?: { readonly service: ServiceName; readonly reason: string };
  /** A collision it would lose: the winner and the rule that decides. */
  readonly reason?: string;
};

/** What a generator would do if it were written now; nothing is. */
export type GeneratorDryRun = {
  readonly names: readonly DryRunName[];
  /** Services it selects and can give no name. */
  readonly unnamed: readonly { readonly service: ServiceName; readonly reason: string }[];
  /** Names that the stored generator of this identity makes and the new one would not. */
  readonly dropped: readonly { readonly mesh: string; readonly hostname: string; readonly service: ServiceName }[];
};

/** What is asked: the generator's identity and spec; it need not exist. */
export type DryRunSource = Omit<GeneratorSource, 'creationOrder'>;

/**
 * The names a generator would make in the zone of `table`, the collisions it would win and lose (design.md §4; peers.md A5
 * 42). An existing generator keeps its creation order, a new one is the youngest. Names by mesh, hostname, service.
 */
export function dryRunGenerator(table: ClaimTable, source: DryRunSource): GeneratorDryRun {
  const known = storedRule(table, source.id);
  const creationOrder = known?.creationOrder ?? Number.MAX_SAFE_INTEGER;
  const rule = claimRule({ ...source, creationOrder }, known?.madeHere ?? source.id.zone === table.ownZone);
  const own = new Map<string, ClaimView[]>();
  const unnamed: { service: ServiceName; reason: string }[] = [];
  for (const service of table.selectedBy(rule)) {
    const rendered = rule.template
      ? renderTemplate(rule.template, service, table.ownZone)
      : { ok: false as const, reason: rule.problem };
    if (!rendered.ok) unnamed.push({ service: { ...service.id }, reason: rendered.reason });
    else {
      const place = `${service.id.mesh}/${rendered.hostname}`;
      const claim = { hostname: rendered.hostname, service, generator: rule };
      const others = own.get(place);
      if (others) others.push(claim);
      else own.set(place, [claim]);
    }
  }
  const names = [...own.values()].flatMap((claims) => contested(table, rule, claims));
  return { names: names.sort(compareNames), unnamed, dropped: known ? droppedNames(table, known, own) : [] };
}

function storedRule(table: ClaimTable, id: Identity): ClaimRule | undefined {
  for (const rule of table.generators()) if (rule.key === identityKey(id)) return rule;
  return undefined;
}

/** What becomes of the claims that the rule makes on one hostname. */
function contested(table: ClaimTable, rule: ClaimRule, own: readonly ClaimView[]): DryRunName[] {
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

function droppedNames(
  table: ClaimTable,
  known: ClaimRule,
  own: ReadonlyMap<string, readonly ClaimView[]>,
): GeneratorDryRun['dropped'] {
  const dropped: { mesh: string; hostname: string; service: ServiceName }[] = [];
  const kept = new Map(
    [...own].map(([place, claims]) => [place, new Set(claims.map((claim) => identityKey(claim.service.id)))]),
  );
  for (const { id, claims } of table.selectedBy(known)) {
    for (const { generator, hostname } of claims) {
      if (generator !== known || hostname === undefined) continue;
      const stays = kept.get(`${id.mesh}/${hostname}`)?.has(identityKey(id));
      if (stays !== true) dropped.push({ mesh: id.mesh, hostname, service: { ...id } });
    }
  }
  return dropped;
}

function sameService(a: ClaimView, b: ClaimView): boolean {
  return compareIdentities(a.service.id, b.service.id) === 0;
}

function compareNames(a: DryRunName, b: DryRunName): number {
  return compareText(a.mesh, b.mesh) || compareText(a.hostname, b.hostname) || compareIdentities(a.service, b.service);
}
