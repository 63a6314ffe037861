import { waitFor } from '../../lib/wait.mjs';
import { MESH } from '../sample.mjs';
import { ask, commands } from './request.mjs';
import { startTraffic } from './traffic.mjs';

const CARRIED_TIMEOUT_MS = 30_000;
const LOOK_EVERY_MS = 50;

/**
 * Starts what carries traffic, and prints how a client in west calls the service in east. Gives the trips: from each zone to the
 * service of the other one, `{ from, to, service, hostname, port, dns, process }`.
 */
export async function showTraffic({ settings, apis, parts, network, signal, say }) {
  await startTraffic({ settings, apis, parts, network, signal });
  const [east, west] = network.machines;
  const wanted = [
    { from: west, to: east },
    { from: east, to: west },
  ];
  const trips = await Promise.all(wanted.map((trip) => carriedTrip({ ...trip, apis, signal })));
  say(`\n${trafficText(trips)}`);
  return trips.filter(({ hostname }) => hostname !== undefined);
}

/** Waits until the service has an address and a name in the other zone and answers there. */
async function carriedTrip({ from, to, apis, signal }) {
  const api = apis.find(({ name }) => name === from.zone);
  const dns = { address: from.address, port: from.dnsPort };
  const process = { address: to.address, port: to.processPort };
  let trip = { from: from.zone, to: to.zone, service: to.service, port: to.port, dns, process };
  let answer = { ok: false, text: `${to.service} has no address in ${from.zone} yet` };
  const look = async () => {
    const services = await api.list(`/meshes/${MESH}/meshservices?size=1000`);
    const found = services.find(({ name, labels = {} }) => name === to.service && labels['kuma.io/zone'] === to.zone);
    const named = found?.status?.addresses?.find(({ status, hostname }) => status === 'Available' && hostname);
    if (!found?.status?.vip || !named) return false;
    trip = { ...trip, hostname: named.hostname };
    answer = await ask(trip);
    return answer.ok;
  };
  await waitFor(look, { timeoutMs: CARRIED_TIMEOUT_MS, everyMs: LOOK_EVERY_MS, signal });
  return { ...trip, answer };
}

function trafficText([trip, back]) {
  const lines = [`Traffic: ${trip.service} runs in ${trip.to}, ${back.service} in ${back.to}, each behind its agent`];
  for (const each of [trip, back]) {
    const { from, to, answer } = each;
    lines.push(`  From ${from} to ${to}, by the name that the agent in ${from} answers, and its virtual IP:`);
    if (answer.ip !== undefined) {
      const { dig, curl } = commands(each, answer.ip);
      lines.push(`    ${dig}`, `      ${answer.ip}`, `    ${curl}`);
    }
    lines.push(answer.ok ? `      ${answer.text}` : `      not yet: ${answer.text}`);
  }
  return [...lines, '  The same with Node alone: npm run -s demo:curl'].join('\n');
}
