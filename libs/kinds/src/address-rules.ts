import { isIP } from '@causeway/ipam';
import type { FieldPath, Violation } from '@causeway/resources';

/** Violations of "an IP address or host name that others can reach". */
export function hostAddress(address: string, at: FieldPath): Violation[] {
  if (address === '0.0.0.0' || address === '::') return [at.violation(`must not be 0.0.0.0 or ::; got "${address}"`)];
  if (isIP(address) || isDomainName(address)) return [];
  return [at.violation(`must be an IP address or a host name; got \"${address}\"`, 'wrong-form')];
}

/** Violations of "an IP address, where one is given". */
export function ipAddress(address: string | undefined, at: FieldPath): Violation[] {
  return address === undefined || isIP(address)
    ? []
    : [at.violation(`must be an IP address; got \"${address}\"`, 'wrong-form')];
}

/** True for a host name a resolver would be asked for; upper case and underscores occur in the wild. */
export function isDomainName(text: string): boolean {
  return (
    text.length <= 253 &&
    text.split('.').every((label) => /^[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/.test(label))
  );
}
