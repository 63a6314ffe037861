import { parseKernelAddress, normalizeAddress, type ListeningSocket } from '../health/listening-sockets';
import type { LocalAddress } from './local-address';

/** Service of this machine. */
export interface ExposedService {
  /** Address at which the proxy reaches the process. */
  readonly serviceAddress: string;
  readonly servicePort: number;
  /** A rule in force (`guardInbound`) admits only the proxy. */
  readonly isGuarded: boolean;
  /** Whether its inbound accepts plaintext connections; undefined while that is unknown. */
  readonly takesPlaintext: boolean | undefined;
  /** Whether a proxy of this machine listens at the address, so that the socket is not the process's. */
  readonly isProxy: (at: LocalAddress) => boolean;
  /** The process accepts connections itself, without a proxy (mode `direct`). */
  readonly isDirect: boolean;
}

/** Wildcard addresses: a socket there accepts connections to every address of the machine. */
const WILDCARD_ADDRESSES: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

const REMEDY = 'it must listen on loopback, or have guardInbound';
const DIRECT_REMEDY =
  'the plane direct cannot identify callers: use the plane envoy or builtin, or a mesh that is not Strict';

/**
 * Describes at which addresses other than loopback a service for mesh clients only can be reached without its proxy.
 * Undefined if it cannot be reached, if a rule protects the port, or if its proxy accepts plaintext anyway. Sockets at
 * other addresses count only if the user who listens at the service address opened them. Sockets of other network
 * namespaces are not seen.
 */
export function describePlaintextAccess(
  { serviceAddress, servicePort, isGuarded, takesPlaintext, isProxy, isDirect }: ExposedService,
  sockets: readonly ListeningSocket[],
): string | undefined {
  if (isGuarded || takesPlaintext === true) return undefined;
  const here = sockets
    .filter(({ port }) => port === servicePort)
    .map(({ address, uid }) => ({ address: parseKernelAddress(address), uid }));
  const own = normalizeAddress(serviceAddress);
  const users = new Set(here.filter(({ address }) => address === own).map(({ uid }) => uid));
  const isOfProcess = (address: string, uid: number): boolean =>
    WILDCARD_ADDRESSES.has(address) || users.size === 0 || users.has(uid);
  const open = here
    .filter(({ address, uid }) => !isLoopback(address) && isOfProcess(address, uid))
    .map(({ address }) => address)
    .filter((address) => !isProxy({ address, port: servicePort }));
  if (open.length === 0) return undefined;
  const where = [...new Set(open)].slice(0, 8).map((address) => addressText(address, servicePort));
  const unless = takesPlaintext === undefined ? ' (whether the mesh is Strict is not known yet)' : '';
  const remedy = isDirect ? DIRECT_REMEDY : REMEDY;
  return `PlaintextReachable: the process listens at ${where.join(', ')}: ${remedy}${unless}`;
}

/** Returns whether an IP address is one of loopback. */
export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

function addressText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
