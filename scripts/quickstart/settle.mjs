import { waitFor } from '../lib/wait.mjs';

const SETTLE_TIMEOUT_MS = 30_000;

/**
 * Waits until the zones show the same services, the expected ones among them, each with an address and a hostname,
 * and the global has been told by every zone that all it offered is applied (where it reports that).
 * Gives the services of each zone, and `waitingFor`: what was still missing when time was up.
 */
export async function untilSettled({ globalApi, zoneApis, expected, signal }) {
  let lists = [];
  let missing = [];
  const look = async () => {
    lists = await Promise.all(zoneApis.map(servicesOf));
    missing = [...missingServices(lists, zoneApis, expected), ...(await lagging(globalApi))];
    return missing.length === 0;
  };
  const settled = await waitFor(look, { timeoutMs: SETTLE_TIMEOUT_MS, everyMs: 40, signal });
  return { lists, waitingFor: settled ? [] : missing };
}

/** A service as a zone lists it, with what the tables need. */
async function servicesOf(api) {
  const { items } = await api.get('/meshes/default/meshservices?size=1000');
  return items.map(({ name, labels = {}, status = {} }) => ({
    name,
    zone: labels['kuma.io/zone'] ?? '',
    ip: status.vip?.ip,
    addresses: status.addresses ?? [],
  }));
}

const keyOf = ({ zone, name }) => `${name} of ${zone}`;

function missingServices(lists, zoneApis, expected) {
  const wanted = new Set([...expected, ...lists.flat()].map(keyOf));
  return lists.flatMap((services, index) => {
    const done = new Set(services.filter(({ ip, addresses }) => ip && addresses.length > 0).map(keyOf));
    return [...wanted].filter((key) => !done.has(key)).map((key) => `${key} in ${zoneApis[index].name}`);
  });
}

/** Kinds of which a zone has not applied all that it was offered. A global that reports no such figures has no lag to show. */
async function lagging(globalApi) {
  const zones = await globalApi.find('/zones+insights');
  return (zones?.items ?? []).flatMap(({ name, zoneInsight, insight }) => {
    const kinds = (zoneInsight ?? insight)?.kinds ?? {};
    return Object.entries(kinds)
      .filter(([, { offered, applied }]) => offered !== undefined && offered !== applied)
      .map(([kind]) => `${kind} on its way to ${name}`);
  });
}
