import { readableAddress, shortestAddress, type ListeningSocket } from '../health/listening-sockets';
import type { LocalAddress } from './ruleset';

/** A service of this machine. */
export interface ExposedService {
  /** Address at which the proxy reaches the process. */
  readonly serviceAddress: string;
  readonly servicePort: number;
  /** A rule keeps others away (`guardInbound`, and the rule stands). */
  readonly isGuarded: boolean;
  /** Whether its inbound takes connections without TLS; undefined while that is not known. */
  readonly takesPlaintext: boolean | undefined;
  /** Whether a proxy of this machine listens there: that socket is none of the process. */
  readonly isProxy: (at: LocalAddress) => boolean;
  /** Its process takes the connections itself, without a proxy (the plane `direct`). */
  readonly isDirect: boolean;
}

/** Wildcard addresses: a socket there accepts connections to every address of the machine. */
const EVERYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

const OUT_OF_IT = 'it must listen on loopback, or have guardInbound';
const OUT_OF_DIRECT =
  'the plane direct knows no caller: it takes a mesh that is not Strict, or the plane envoy or builtin';

/**
 * Describes why a service that accepts only clients of the mesh can be reached without its proxy: the addresses other
 * than loopback at which its process listens. Undefined if it cannot be reached, if a rule protects the port, or if its
 * proxy admits everybody anyway. A socket with its port at another address belongs to another process if another user
 * opened it. Sockets of other network namespaces are not seen.
 */
export function plaintextReachable(
  { serviceAddress, servicePort, isGuarded, takesPlaintext, isProxy, isDirect }: ExposedService,
  sockets: readonly ListeningSocket[],
): string | undefined {
  if (isGuarded || takesPlaintext === true) return undefined;
  const here = sockets
    .filter(({ port }) => port === servicePort)
    .map(({ address, uid }) => ({ address: readableAddress(address), uid }));
  const own = shortestAddress(serviceAddress);
  const users = new Set(here.filter(({ address }) => address === own).map(({ uid }) => uid));
  const isOfProcess = (address: string, uid: number): boolean =>
    EVERYWHERE.has(address) || users.size === 0 || users.has(uid);
  const open = here
    .filter(({ address, uid }) => !isLoopback(address) && isOfProcess(address, uid))
    .map(({ address }) => address)
    .filter((address) => !isProxy({ address, port: servicePort }));
  if (open.length === 0) return undefined;
  const where = [...new Set(open)].slice(0, 8).map((address) => addressText(address, servicePort));
  const unless = takesPlaintext === undefined ? ' (whether the mesh is Strict is not known yet)' : '';
  const wayOut = isDirect ? OUT_OF_DIRECT : OUT_OF_IT;
  return `PlaintextReachable: the process listens at ${where.join(', ')}: ${wayOut}${unless}`;
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

function addressText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
