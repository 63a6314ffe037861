import { isDeepStrictEqual } from 'node:util';
import type { Client } from 'pg';
import { isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import { ask } from '../../test/dns/ask';
import { until } from '../../test/support/until';
import type { Expected } from './churn';
import { OWNERS, ZONES, type Owner, type SoakMesh } from './soak-mesh';

/** A living resource as a database has it. */
interface Row {
  readonly kind: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
  readonly labels: JsonObject;
  readonly spec: JsonObject;
  readonly status: JsonObject | null;
  readonly vip: string | null;
}

const LIVING = `SELECT kind, zone, namespace, name, labels, spec, status, host(vip) AS vip FROM resources WHERE deleted_at IS NULL`;
const STILL = 5_000;

/** Waits until no database has had a commit for five seconds. */
export async function untilStill(clients: ReadonlyMap<Owner, Client>): Promise<void> {
  let [before, since] = ['', Date.now()];
  await until(
    'all control planes are at rest',
    async () => {
      const heads = [...clients.values()].map((client) =>
        client.query<{ revision: string }>('SELECT revision FROM store_head'),
      );
      const now = JSON.stringify((await Promise.all(heads)).map(({ rows: [head] }) => head?.revision));
      if (now !== before) [before, since] = [now, Date.now()];
      return Date.now() - since > STILL;
    },
    600_000,
  );
}

/** Returns each violated invariant as a line: copies that differ (I4), addresses twice (I1), names (I3), answers of DNS, lost writes (I9). */
export async function violations(
  mesh: SoakMesh,
  clients: ReadonlyMap<Owner, Client>,
  expected: readonly Expected[],
): Promise<string[]> {
  const rows = new Map<Owner, Row[]>();
  for (const [owner, client] of clients) rows.set(owner, (await client.query<Row>(LIVING)).rows);
  return [
    ...unequalCopies(rows),
    ...ZONES.flatMap((zone) => addressFaults(zone, services(rows, zone))),
    ...nameFaults(services(rows, 'east'), services(rows, 'west')),
    ...(await answerFaults(mesh, rows)),
    ...lostWrites(rows, expected),
  ];
}

function services(rows: ReadonlyMap<Owner, Row[]>, owner: Owner): Row[] {
  return (rows.get(owner) ?? []).filter(({ kind }) => kind === 'MeshService');
}

function key({ kind, zone, namespace, name }: Row): string {
  return `${kind} ${zone}/${namespace}/${name}`;
}

/** Services of a zone are the same on the global and in the other zone. */
function unequalCopies(rows: ReadonlyMap<Owner, Row[]>): string[] {
  return ZONES.flatMap((origin) => {
    const own = new Map(services(rows, origin).flatMap((row) => (row.zone === origin ? [[key(row), row]] : [])));
    return OWNERS.filter((owner) => owner !== origin).flatMap((owner) => {
      const copies = new Map(services(rows, owner).flatMap((row) => (row.zone === origin ? [[key(row), row]] : [])));
      const missing = [...own.keys()].filter((each) => !copies.has(each)).map((each) => `I4: ${owner} lacks ${each}`);
      const more = [...copies.keys()].filter((each) => !own.has(each)).map((each) => `I4: ${owner} still has ${each}`);
      const other = [...own].flatMap(([each, row]) => {
        const copy = copies.get(each);
        return copy && !isDeepStrictEqual(copy.spec, row.spec) ? [`I4: ${each} differs on ${owner}`] : [];
      });
      return [...missing, ...more, ...other];
    });
  });
}

function addressFaults(zone: Owner, rows: readonly Row[]): string[] {
  const holders = new Map<string, string>();
  return rows.flatMap((row) => {
    const shown = isJsonObject(row.status?.['vip']) ? textOf(row.status['vip']['ip']) : '';
    if (row.vip === null || shown !== row.vip)
      return [`I1: ${key(row)} in ${zone} holds ${row.vip ?? 'none'}, shows ${shown}`];
    const before = holders.get(row.vip);
    holders.set(row.vip, key(row));
    return before === undefined ? [] : [`I1: ${row.vip} in ${zone}: ${before} and ${key(row)}`];
  });
}

/** The names of a generated service without available instances are NotAvailable (docs/design.md §4 hostname). */
function isServed({ labels, spec }: Row): boolean {
  return labels['kuma.io/managed-by'] !== 'meshservice-generator' || spec['state'] === 'Available';
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Hostname and generator of each name that a service has. */
function namesOf(row: Row): { readonly hostname: string; readonly generator: string }[] {
  const addresses: JsonValue | undefined = row.status?.['addresses'];
  if (!Array.isArray(addresses)) return [];
  return addresses.flatMap((address: JsonValue) => {
    if (!isJsonObject(address) || address['status'] !== 'Available') return [];
    const origin = isJsonObject(address['origin']) ? textOf(address['origin']['name']) : '';
    return [{ hostname: textOf(address['hostname']), generator: origin }];
  });
}

/** Names of the operator's generators: in both zones the same services have them; each service that is served has one name at least. */
function nameFaults(east: readonly Row[], west: readonly Row[]): string[] {
  const nameless = [...east, ...west]
    .filter((row) => isServed(row) && namesOf(row).length === 0)
    .map((row) => `${key(row)} has no name: ${JSON.stringify(row.status)}`);
  const [inEast, inWest] = [east, west].map(
    (rows) =>
      new Map(
        rows.flatMap((row) =>
          namesOf(row)
            .filter(({ generator }) => generator.startsWith('global-'))
            .map(({ hostname }) => [hostname, key(row)] as const),
        ),
      ),
  );
  const all = new Set([...(inEast?.keys() ?? []), ...(inWest?.keys() ?? [])]);
  const differ = [...all].filter((hostname) => inEast?.get(hostname) !== inWest?.get(hostname));
  return [
    ...nameless,
    ...differ.map(
      (name) => `I3: ${name} is ${inEast?.get(name) ?? 'nobody'} in east and ${inWest?.get(name) ?? 'nobody'} in west`,
    ),
  ];
}

/** Every replica of each zone answers every name with the address that its zone has given. */
async function answerFaults(mesh: SoakMesh, rows: ReadonlyMap<Owner, Row[]>): Promise<string[]> {
  const faults: string[] = [];
  for (const zone of ZONES) {
    for (const [n, { plane }] of mesh.of(zone).entries()) {
      const port = Number(plane?.dnsAddress.split(':')[1]);
      for (const row of services(rows, zone)) {
        for (const { hostname } of namesOf(row)) {
          const { answers } = await ask(port, { name: hostname });
          if (answers[0] !== `A ${row.vip}`)
            faults.push(`DNS of ${zone}-${n}: ${hostname} is ${answers.join(', ')}, not ${row.vip ?? 'none'}`);
        }
      }
    }
  }
  return faults;
}

function lostWrites(rows: ReadonlyMap<Owner, Row[]>, expected: readonly Expected[]): string[] {
  const stored = new Map(
    [...rows].flatMap(([owner, list]) =>
      list.flatMap((row) =>
        row.zone === (owner === 'global' ? '' : owner) ? [[`${owner} ${row.kind} ${row.name}`, row]] : [],
      ),
    ),
  );
  return expected.flatMap(({ owner, path, body }) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (body === 'gone')
      return stored.has(`${owner} ${kindOf(path)} ${name}`) ? [`I9: the deletion of ${path} is lost`] : [];
    const row = stored.get(`${owner} ${String(body['type'])} ${name}`);
    if (!row) return [`I9: ${path} is lost`];
    return contains(row.spec, body['spec']) ? [] : [`I9: the last change of ${path} is lost`];
  });
}

/** The kind of a plural in a path, by the kinds of the mix. */
function kindOf(path: string): string {
  const kinds: Readonly<Record<string, string>> = {
    dataplanes: 'Dataplane',
    meshservices: 'MeshService',
    httproutes: 'HTTPRoute',
    retrypolicies: 'RetryPolicy',
    timeoutpolicies: 'TimeoutPolicy',
    hostnamegenerators: 'HostnameGenerator',
    meshmultizoneservices: 'MeshMultiZoneService',
    meshexternalservices: 'MeshExternalService',
  };
  const kind = kinds[path.split('/').at(-2) ?? ''];
  if (kind === undefined) throw new Error(`no kind of ${path}`);
  return kind;
}

/** Whether all that was written is stored; the control plane adds defaults. */
function contains(stored: unknown, written: unknown): boolean {
  if (Array.isArray(written))
    return (
      Array.isArray(stored) && stored.length === written.length && written.every((item, n) => contains(stored[n], item))
    );
  if (typeof written !== 'object' || written === null) return stored === written;
  if (!isObject(stored)) return false;
  return Object.entries(written).every(([field, value]) => contains(stored[field], value));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
