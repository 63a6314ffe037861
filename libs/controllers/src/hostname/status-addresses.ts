import { isJsonArray, isJsonObject, type JsonValue, type Resource } from '@causeway/resources';

/** What a row shows now: the list as it is stored, empty when there is none. */
export function statusAddresses(row: Resource): readonly JsonValue[] {
  const addresses = row.status?.['addresses'];
  return isJsonArray(addresses) ? addresses : [];
}

/** The hostnames that a list of addresses shows as Available. */
export function availableNames(addresses: readonly JsonValue[]): Set<string> {
  const names = new Set<string>();
  for (const address of addresses) {
    if (!isJsonObject(address) || address['status'] !== 'Available') continue;
    if (typeof address['hostname'] === 'string') names.add(address['hostname']);
  }
  return names;
}
