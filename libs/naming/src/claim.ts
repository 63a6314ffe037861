import type { Identity, Labels, ResourceKey } from '@causeway/resources';
import type { ParsedGenerator } from './parsed-generator';
import { clashReason, type ClaimRank } from './precedence';
import { renderTemplate } from './template';

/** The parts of a stored service that decide its names. */
export interface ServiceSource {
  readonly id: Identity;
  readonly labels: Labels;
  readonly creationOrder: number;
}

/** A service in the claim table. */
export interface Claimant extends ServiceSource {
  readonly key: ResourceKey;
  labels: Labels;
  creationOrder: number;
  /** Reason why its names are NotAvailable; undefined if the service is reachable. */
  unreachable: string | undefined;
  /** Claims in the generators' order of precedence. */
  claims: readonly Claim[];
}

/** The claim of one generator on one hostname for one service; without a hostname if the template gave none. */
export interface Claim {
  readonly service: Claimant;
  readonly generator: ParsedGenerator;
  readonly hostname: string | undefined;
  /** The heap of all claims on the hostname, the winner on top; undefined while there is no other claim. */
  rivals: Claim[] | undefined;
  /** Index in that heap. */
  slot: number;
}

/** One entry of `status.addresses` (T001-16). A type alias and no interface, so that it is assignable to JsonObject. */
export type ServiceAddress = {
  /** Absent if the template gave no hostname. */
  readonly hostname?: string;
  readonly status: 'Available' | 'NotAvailable';
  readonly origin: { readonly kind: 'HostnameGenerator'; readonly name: string };
  /**
   * Only with NotAvailable: the missing or invalid part, the service that won the name and its rule, or the reason why the service is unreachable.
   */
  readonly reason?: string;
};

/** A claim in the form returned to callers. */
export interface ClaimView extends ClaimRank {
  readonly hostname: string;
  /** Reason why the service is unreachable by the name. */
  readonly unreachable?: string;
}

/** Returns the entry of `status.addresses` for a claim; `winner` is the strongest claim on its hostname, or the claim itself. */
export function toServiceAddress(claim: Claim, winner: Claim, ownZone: string): ServiceAddress {
  const { hostname, generator } = claim;
  const origin = { kind: 'HostnameGenerator', name: generator.id.name } as const;
  if (hostname === undefined) return { status: 'NotAvailable', origin, reason: missingReason(claim, ownZone) };
  // Compares services, not claims: one service may win one name by two generators.
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
