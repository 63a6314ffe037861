import type { HostnameClaim } from '@causeway/api';
import { clashReason, decidingRule, type ClaimView } from '@causeway/naming';
import { describeIdentity } from '@causeway/resources';

/** Explains the claims on one hostname, given in order of precedence. */
export function explainClaims(claims: readonly ClaimView[]): readonly HostnameClaim[] {
  const stronger = new StrongerClaims();
  return claims.map((claim, i) => {
    const line = explainClaim(claim, i, claims[0] ?? claim, stronger);
    stronger.add(claim);
    return line;
  });
}

/** The claims that precede the one being explained. */
class StrongerClaims {
  private readonly first: ClaimView[] = [];
  private readonly byService = new Map<ClaimView['service'], { all: number; madeHere: number }>();
  private readonly total = { all: 0, madeHere: 0 };

  add(claim: ClaimView): void {
    const own = this.byService.get(claim.service) ?? { all: 0, madeHere: 0 };
    this.byService.set(claim.service, own);
    for (const count of [own, this.total]) {
      count.all += 1;
      if (claim.generator.madeHere) count.madeHere += 1;
    }
    // Enough to find three claims of other services, unless one service has very many claims.
    if (this.first.length < 100) this.first.push(claim);
  }

  /** Returns the claims of services other than `claim`'s: the first three, their number, and whether a generator made here is among their sources. */
  of(claim: ClaimView): { readonly named: readonly ClaimView[]; readonly count: number; readonly local: boolean } {
    const own = this.byService.get(claim.service) ?? { all: 0, madeHere: 0 };
    const named = this.first.filter((other) => other.service !== claim.service).slice(0, 3);
    return { named, count: this.total.all - own.all, local: this.total.madeHere > own.madeHere };
  }
}

function explainClaim(claim: ClaimView, i: number, winner: ClaimView, stronger: StrongerClaims): HostnameClaim {
  const { name, zone } = claim.generator.id;
  const line = { rank: i + 1, service: { ...claim.service.id }, generator: { name, zone } };
  if (winner.service === claim.service) return { ...line, ...toStanding(claim) };
  const rule = decidingRule(winner, claim);
  const change = neededChange(claim, stronger);
  return { ...line, status: 'NotAvailable', rule, reason: clashReason(winner, claim), change };
}

/** Returns status and reason of a claim that has the name. */
function toStanding({ unreachable }: ClaimView): Pick<HostnameClaim, 'status' | 'reason'> {
  return unreachable === undefined ? { status: 'Available' } : { status: 'NotAvailable', reason: unreachable };
}

function neededChange(claim: ClaimView, stronger: StrongerClaims): string {
  const { named, count, local } = stronger.of(claim);
  const steps = named.map((other) => {
    return `${describeIdentity(other.service.id)} is deleted or no longer named so by HostnameGenerator "${other.generator.id.name}"`;
  });
  const more = count > named.length ? [`${count - named.length} more claims before it go`] : [];
  const hint =
    local || claim.generator.madeHere ? '' : '; or a HostnameGenerator that is made in this zone names it so';
  return `it gets the name when ${[...steps, ...more].join(', and ')}${hint}`;
}
