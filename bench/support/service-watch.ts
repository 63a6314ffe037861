import { get } from 'node:http';
import { performance } from 'node:perf_hooks';
import { isJsonObject, type JsonValue } from '@causeway/resources';
import type { ProcessPlane } from '../../test/support/process-plane';
import { ADMIN_HEADERS, adminFetch } from '../../test/support/admin-credential';

/** A service as a zone's watch delivered it, with virtual IP and an available hostname. */
export interface SeenService {
  readonly name: string;
  /** Its virtual IP. */
  readonly vip: string;
  /** Its first port, which distinguishes versions of a service. */
  readonly port: number;
  /** When, by `performance.now()`. */
  readonly at: number;
}

/**
 * Follows the services of a zone from now on by one REST watch, which costs the zone what a change costs and nothing
 * between changes. Resolves when the watch is open, with the function that ends it; a watch that ends by itself is fatal.
 */
export async function watchServices(
  zone: Pick<ProcessPlane, 'restUrl'>,
  seen: (service: SeenService) => void,
): Promise<() => void> {
  const services = `${zone.restUrl}/meshes/default/meshservices`;
  const since = (await adminFetch(`${services}?size=1`)).headers.get('causeway-revision') ?? '0';
  return new Promise((resolve, reject) => {
    let closing = false;
    const call = get(`${services}?watch=true&since=${since}`, { headers: ADMIN_HEADERS }, (answer) => {
      let rest = '';
      answer.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) hear(line, seen);
      });
      answer.on('close', () => {
        if (!closing) throw new Error('the watch ended by itself');
      });
      resolve(() => {
        closing = true;
        call.destroy();
      });
    });
    call.on('error', (error) => (closing ? undefined : reject(error)));
  });
}

function hear(line: string, seen: (service: SeenService) => void): void {
  if (line.startsWith('event: relist')) throw new Error('the watch lost changes');
  // Most lines are of services on their way; only complete ones are worth parsing.
  if (!line.startsWith('data:') || !line.includes('"Available"') || !line.includes('"vip"')) return;
  const at = performance.now();
  const document: unknown = JSON.parse(line.slice('data:'.length));
  if (!isJsonObject(document) || typeof document['name'] !== 'string' || !isComplete(document['status'])) return;
  seen({ name: document['name'], vip: vipOf(document['status']), port: firstPort(document['spec']), at });
}

function vipOf(status: JsonValue | undefined): string {
  const vip = isJsonObject(status) ? status['vip'] : undefined;
  return isJsonObject(vip) && typeof vip['ip'] === 'string' ? vip['ip'] : '';
}

/** A status with a virtual IP and an available hostname. */
export function isComplete(status: JsonValue | undefined): boolean {
  if (!isJsonObject(status) || !isJsonObject(status['vip']) || !Array.isArray(status['addresses'])) return false;
  return status['addresses'].some((address: JsonValue) => isJsonObject(address) && address['status'] === 'Available');
}

function firstPort(spec: JsonValue | undefined): number {
  const ports: JsonValue | undefined = isJsonObject(spec) ? spec['ports'] : undefined;
  const first: unknown = Array.isArray(ports) ? ports[0] : undefined;
  return isJsonObject(first) ? Number(first['port']) : NaN;
}
