import { clashReason, decidingRule, type ClaimView, type PrecedenceRule } from '@causeway/naming';
import { describeIdentity, type Identity } from '@causeway/resources';

/** An identity as JSON. */
export type ServiceName = Pick<Identity, 'kind' | 'mesh' | 'zone' | 'namespace' | 'name'>;

/** One claim on a hostname, as people and programs read it. */
export type ClaimLine = {
  /** 1 = the strongest; absent where only what a zone reported is known. */
  readonly rank?: number;
  readonly service: ServiceName;
  /** The generator's name and where it was made: empty for the global, absent where that is not known. */
  readonly generator: { readonly name: string; readonly zone?: string };
  readonly status: 'Available' | 'NotAvailable';
  /** Of a loser: the step of the order by which the winner stands before it. */
  readonly rule?: PrecedenceRule;
  /** The reason it shows. */
  readonly reason?: string;
  /** Of a loser: what would have to change for it to get the name. */
  readonly change?: string;
};

/** The lines of the claims on one hostname, which come the winner first. */
export function claimLines(claims: readonly ClaimView[]): readonly ClaimLine[] {
  return claims.map((claim, i) => claimLine(claim, i, claims));
}

function claimLine(claim: ClaimView, i: number, claims: readonly ClaimView[]): ClaimLine {
  const [winner = claim] = claims;
  const { name, zone } = claim.generator.id;
  const line = { rank: i + 1, service: { ...claim.service.id }, generator: { name, zone } };
  if (winner.service === claim.service) return { ...line, ...standingOf(claim) };
  const rule = decidingRule(winner, claim);
  const change = neededChange(claim, claims.slice(0, i));
  return { ...line, status: 'NotAvailable', rule, reason: clashReason(winner, claim), change };
}

/** What is shown of a claim that has the name. */
function standingOf({ unreachable }: ClaimView): Pick<ClaimLine, 'status' | 'reason'> {
  return unreachable === undefined ? { status: 'Available' } : { status: 'NotAvailable', reason: unreachable };
}

function neededChange(claim: ClaimView, stronger: readonly ClaimView[]): string {
  const others = stronger.filter((other) => other.service !== claim.service);
  const steps = others.slice(0, 3).map((other) => {
    return `${describeIdentity(other.service.id)} is deleted or no longer named so by HostnameGenerator "${other.generator.id.name}"`;
  });
  const more = others.length > 3 ? [`${others.length - 3} more claims before it go`] : [];
  const local = others.some((other) => other.generator.madeHere) || claim.generator.madeHere;
  const hint = local ? '' : '; or a HostnameGenerator that is made in this zone names it so';
  return `it gets the name when ${[...steps, ...more].join(', and ')}${hint}`;
}
