import { isLoopbackAddress, isSameAddress } from '@causeway/ipam';
import { isJsonArray, isJsonObject, type FieldPath, type JsonObject, type Violation } from '@causeway/resources';

/** The rule of `serviceAddress` for proxies without an agent, as conditions and refusals say it. */
const RULE = 'must be a loopback address or the address of the Dataplane, at which its proxy listens';

/** Whether the process of an inbound is on the machine of a proxy that listens at `address`, as far as addresses say. */
export function isOwnServiceAddress(serviceAddress: string, address: string): boolean {
  return isLoopbackAddress(serviceAddress) || isSameAddress(serviceAddress, address);
}

/** That an inbound leads elsewhere than to its own machine. */
export function foreignServiceAddress(serviceAddress: string, at: FieldPath): Violation {
  return at.field('serviceAddress').violation(`${RULE}; got "${serviceAddress}"`, 'not-allowed');
}

/**
 * The inbounds of the spec of a Dataplane that lead elsewhere than to its own machine. Only an agent, whose file says where its services are, may
 * forward to other addresses; any other proxy would be led by whoever writes the Dataplane.
 */
export function foreignServiceAddresses({ networking }: JsonObject, at: FieldPath): readonly Violation[] {
  if (!isJsonObject(networking) || !isJsonArray(networking['inbound'])) return [];
  const { address } = networking;
  return networking['inbound'].flatMap((inbound, i) => {
    if (!isJsonObject(inbound)) return [];
    const { serviceAddress, address: own = address } = inbound;
    if (typeof serviceAddress !== 'string' || typeof own !== 'string') return [];
    if (isOwnServiceAddress(serviceAddress, own)) return [];
    return [foreignServiceAddress(serviceAddress, at.field('networking').field('inbound').index(i))];
  });
}
