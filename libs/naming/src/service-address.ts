import type { Claim } from './claim';
import { clashReason, type ClaimRank } from './precedence';
import { renderTemplate } from './template';

/** One entry of a service's `status.addresses` (seed 001; T001-16). A type alias, so that it is JSON as it stands. */
export type ServiceAddress = {
  /** Absent where the template gave none. */
  readonly hostname?: string;
  readonly status: 'Available' | 'NotAvailable';
  readonly origin: { readonly kind: 'HostnameGenerator'; readonly name: string };
  /** Only with NotAvailable: what is missing or wrong, who has the name and by which rule, or why it is unreachable. */
  readonly reason?: string;
};

/** A claim as readers see it. */
export interface ClaimView extends ClaimRank {
  readonly hostname: string;
  /** Why the service cannot be reached by the name. */
  readonly unreachable?: string;
}

/** What stands in the status for a claim, `winner` being the strongest claim on its hostname (itself where there is none). */
export function addressOf(claim: Claim, winner: Claim, ownZone: string): ServiceAddress {
  const { hostname, generator } = claim;
  const origin = { kind: 'HostnameGenerator', name: generator.id.name } as const;
  if (hostname === undefined) return { status: 'NotAvailable', origin, reason: missingReason(claim, ownZone) };
  // One service may win one name by two generators, so the service decides and not the claim.
  if (winner.service === claim.service) {
    const { unreachable } = claim.service;
    if (unreachable === undefined) return { hostname, status: 'Available', origin };
    return { hostname, status: 'NotAvailable', origin, reason: unreachable };
  }
  return { hostname, status: 'NotAvailable', origin, reason: clashReason(winner, claim) };
}

function missingReason({ generator, service }: Claim, ownZone: string): string {
  if (!generator.template) return generator.problem;
  const rendered = renderTemplate(generator.template, service, ownZone);
  return rendered.ok ? '' : rendered.reason;
}
