import { isJsonArray, isJsonObject, type Resource } from '@causeway/resources';

/** Kinds whose status holds hostnames. */
export const KINDS_WITH_HOSTNAMES: readonly string[] = ['MeshService', 'MeshMultiZoneService', 'MeshExternalService'];

/** The hostnames that the status of a service shows as Available, each once. */
export function availableHostnames({ status }: Resource): ReadonlySet<string> {
  const addresses = status?.['addresses'];
  if (!isJsonArray(addresses)) return new Set();
  return new Set(
    addresses.flatMap((address) => {
      if (!isJsonObject(address) || address['status'] !== 'Available') return [];
      return typeof address['hostname'] === 'string' ? [address['hostname']] : [];
    }),
  );
}
