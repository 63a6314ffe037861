import { waitFor } from '../lib/wait.mjs';
import { MESH } from './sample.mjs';

const SETTLE_TIMEOUT_MS = 30_000;
const LOOK_EVERY_MS = 40;
const STILL_FOR_MS = 200;

/**
 * Waits until all that the control planes offer each other has arrived: every hostname generator of the global in both zones,
 * every service in both zones and on the global (the expected ones among them), each with an address and a hostname in the
 * zones; and until nothing has changed for a moment.
 * Gives the services of each zone, and `waitingFor`: what was still missing when time was up.
 */
export async function untilSettled({ globalApi, zoneApis, expected, signal }) {
  let seen = { lists: [], missing: [] };
  let still = { picture: '', since: 0 };
  const look = async () => {
    seen = await lookRound({ globalApi, zoneApis, expected });
    const picture = JSON.stringify(seen);
    if (picture !== still.picture) still = { picture, since: Date.now() };
    return seen.missing.length === 0 && Date.now() - still.since >= STILL_FOR_MS;
  };
  const settled = await waitFor(look, { timeoutMs: SETTLE_TIMEOUT_MS, everyMs: LOOK_EVERY_MS, signal });
  return { lists: seen.lists, waitingFor: settled ? [] : seen.missing };
}

async function lookRound({ globalApi, zoneApis, expected }) {
  const lists = await Promise.all(zoneApis.map(servicesOf));
  const onGlobal = await servicesOf(globalApi);
  const wanted = new Set([...expected, ...lists.flat(), ...onGlobal].map(keyOf));
  const missing = [
    ...lacking(wanted, onGlobal.map(keyOf), globalApi),
    ...lists.flatMap((services, index) => lacking(wanted, services.filter(isNamed).map(keyOf), zoneApis[index])),
    ...(await missingGenerators(globalApi, zoneApis)),
  ];
  return { lists, missing };
}

/** A service as a control plane lists it, with what the tables need. */
async function servicesOf(api) {
  const items = await api.list(`/meshes/${MESH}/meshservices?size=1000`);
  return items.map(({ name, labels = {}, status = {} }) => ({
    name,
    zone: labels['kuma.io/zone'] ?? '',
    ip: status.vip?.ip,
    addresses: status.addresses ?? [],
  }));
}

async function missingGenerators(globalApi, zoneApis) {
  const namesOn = async (api, query) =>
    (await api.list(`/hostnamegenerators?size=1000${query}`)).map(({ name }) => name);
  const wanted = await namesOn(globalApi, '&zone=');
  const held = await Promise.all(zoneApis.map((api) => namesOn(api, '')));
  return held.flatMap((names, index) => lacking(wanted, names, zoneApis[index]));
}

const keyOf = ({ zone, name }) => `${name} of ${zone}`;

const isNamed = ({ ip, addresses }) => ip && addresses.length > 0;

function lacking(wanted, held, { name }) {
  return [...wanted].filter((key) => !held.includes(key)).map((key) => `${key} in ${name}`);
}
