import { Resolver } from 'node:dns/promises';
import { request } from 'node:http';

const ANSWER_MS = 3_000;

/** Time for which the DNS of an agent waits for its zone, and a little, ms. */
const NAME_MS = 3_000;

/**
 * Asks a service as a program on a machine does: its name of the DNS of the machine's agent, its virtual IP over HTTP.
 * Gives `{ ok, text, ip }`: what the service answered, or why it did not, and the virtual IP.
 */
export async function ask({ hostname, port, dns }) {
  const resolver = new Resolver({ timeout: NAME_MS, tries: 1 });
  resolver.setServers([`${dns.address}:${dns.port}`]);
  const [ip] = await resolver.resolve4(hostname).catch(() => []);
  if (ip === undefined) return { ok: false, text: `${dns.address} knows no address of ${hostname}` };
  return { ip, ...(await get({ address: ip, port, host: `${hostname}:${port}` })) };
}

/** Asks whoever listens at an address. */
export function get({ address, port, host = `${address}:${port}` }) {
  return new Promise((resolve) => {
    const asked = request({ host: address, port, headers: { host }, agent: false, timeout: ANSWER_MS }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (piece) => (text += piece));
      answer.on('end', () => resolve({ ok: answer.statusCode === 200, text: text.trim() }));
      answer.on('error', ({ message }) => resolve({ ok: false, text: message }));
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer in time')));
    asked.on('error', ({ message, code }) => resolve({ ok: false, text: message || code }));
    asked.end();
  });
}

/** The same with the commands that people know. Without root nothing tells curl which DNS it is to ask. */
export function commands({ hostname, port, dns }, ip) {
  return {
    dig: `dig +short @${dns.address} -p ${dns.port} ${hostname}`,
    curl: `curl --resolve ${hostname}:${port}:${ip} http://${hostname}:${port}/`,
  };
}
