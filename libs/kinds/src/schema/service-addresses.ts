import { isLoopbackAddress, isSameAddress } from '@causeway/ipam';
import { isJsonArray, isJsonObject, type FieldPath, type JsonObject, type Violation } from '@causeway/resources';

/** Rule for `serviceAddress` of proxies without an agent, as conditions and violations state it. */
const RULE = 'must be a loopback address or the address of the Dataplane, at which its proxy listens';

/** Whether an inbound's process runs on the host of the proxy that listens at `address`, by addresses only. */
export function isOwnServiceAddress(serviceAddress: string, address: string): boolean {
  return isLoopbackAddress(serviceAddress) || isSameAddress(serviceAddress, address);
}

/** Returns the violation of an inbound that forwards to another host. */
export function serviceAddressViolation(serviceAddress: string, at: FieldPath): Violation {
  return at.field('serviceAddress').violation(`${RULE}; got "${serviceAddress}"`, 'not-allowed');
}

/**
 * Returns a violation for each inbound of a Dataplane that forwards to another host. Only an agent, configured by a
 * local file, may forward to other addresses; other proxies would forward wherever the Dataplane's author chooses.
 */
export function serviceAddressViolations({ networking }: JsonObject, at: FieldPath): readonly Violation[] {
  if (!isJsonObject(networking) || !isJsonArray(networking['inbound'])) return [];
  const { address } = networking;
  return networking['inbound'].flatMap((inbound, i) => {
    if (!isJsonObject(inbound)) return [];
    const { serviceAddress, address: own = address } = inbound;
    if (typeof serviceAddress !== 'string' || typeof own !== 'string') return [];
    if (isOwnServiceAddress(serviceAddress, own)) return [];
    return [serviceAddressViolation(serviceAddress, at.field('networking').field('inbound').index(i))];
  });
}
