import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonArray, isJsonObject, type JsonValue } from '@causeway/resources';
import { QuickstartRun } from '../../test/e2e/quickstart-run';
import { adminFetch } from '../../test/support/admin-credential';
import { until } from '../../test/support/until';
import { RestWriter, WRITES } from './rest-writer';

/** Form of `npm start`. */
export interface DemoForm {
  /** Whether agents, ingresses and services run; else the control planes only. */
  readonly hasTraffic: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

const WRITERS = 8;
const PATIENCE = 600_000;

/** Runs `npm start` with a state of its own until `work` has ended. */
export async function withDemo<T>({ hasTraffic, env }: DemoForm, work: (run: QuickstartRun) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'causeway-demo-'));
  chmodSync(dataDir, 0o755); // Postgres may run under another account
  const command = [process.execPath, 'scripts/start.mjs', ...(hasTraffic ? [] : ['--no-traffic'])] as const;
  const run = new QuickstartRun(command, { CAUSEWAY_DATA_DIR: dataDir, CAUSEWAY_ENVOY: '', ...env });
  try {
    await run.untilRunning();
    return await work(run);
  } finally {
    run.signal('SIGTERM');
    await run.untilGone();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Puts services in east, and resolves when west has an address and a name for each. */
export async function putServices(run: QuickstartRun, services: number): Promise<void> {
  const writer = new RestWriter({ restUrl: run.restUrl('east') });
  const west = run.restUrl('west');
  const write = WRITES['dataplane'];
  const wanted = (await countNamed(west)) + services;
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next++; write && n < services; n = next++) await writer.put(write('first', n));
  };
  await Promise.all(Array.from({ length: WRITERS }, work));
  writer.close();
  await until('west knows all services', async () => (await countNamed(west)) >= wanted, PATIENCE);
}

/** Returns how many services have an address and a name. */
async function countNamed(url: string): Promise<number> {
  let count = 0;
  for (let page: unknown = `${url}/meshes/default/meshservices?size=1000`; typeof page === 'string';) {
    const list: unknown = JSON.parse(await (await adminFetch(page)).text());
    if (!isJsonObject(list) || !isJsonArray(list['items'])) throw new Error(`${page}: no list`);
    count += list['items'].filter(isNamed).length;
    page = list['next'];
  }
  return count;
}

function isNamed(service: JsonValue): boolean {
  const status = isJsonObject(service) ? service['status'] : undefined;
  if (!isJsonObject(status) || status['vip'] === undefined) return false;
  return isJsonArray(status['addresses']) && status['addresses'].length > 0;
}
