import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import type { Commit, Row, WatchedDisk } from '../engine/watched-disk';
import type { Report } from './violation';

/** I3 at each commit of one zone: no two services have one name Available. */
export class HostnameCheck {
  /** Mesh and hostname → services that have it Available. */
  private readonly holders = new Map<string, Set<string>>();

  constructor(
    private readonly disk: WatchedDisk,
    private readonly report: Report,
  ) {
    for (const [key, row] of disk.rows) for (const name of availableNames(row)) this.hold(name, key);
  }

  check({ changes }: Commit): void {
    const touched = new Set<string>();
    for (const { key, before, after } of changes) {
      if (before?.status?.['addresses'] === after.status?.['addresses']) continue;
      for (const name of availableNames(before)) this.holders.get(name)?.delete(key);
      for (const name of availableNames(after)) {
        touched.add(name);
        this.hold(name, key);
      }
    }
    for (const name of touched) {
      const holders = this.holders.get(name) ?? new Set();
      if (holders.size > 1) this.report('I3', `${this.disk.name}: ${name} is held by ${[...holders].join(' and ')}`);
    }
  }

  private hold(name: string, key: string): void {
    this.holders.set(name, (this.holders.get(name) ?? new Set<string>()).add(key));
  }
}

interface Contest {
  /** Claims on the name, each with its generator, in one order. */
  readonly claims: string[];
  winner: string;
}

/** I3 at rest: zones in which the same claims on a name arise have elected the same winner. */
export function checkElections(zones: readonly WatchedDisk[], report: Report): void {
  const elected = new Map<string, { readonly winner: string; readonly zone: string }>();
  for (const zone of zones) {
    for (const [name, { claims, winner }] of contestsOf(zone)) {
      const contest = `${name} claimed by ${claims.sort().join(', ')}`;
      const other = elected.get(contest);
      if (!other) elected.set(contest, { winner, zone: zone.name });
      else if (other.winner !== winner) {
        report('I3', `${contest}: won by ${other.winner} in ${other.zone} and by ${winner} in ${zone.name}`);
      }
    }
  }
}

function contestsOf(zone: WatchedDisk): Map<string, Contest> {
  const contests = new Map<string, Contest>();
  for (const [key, row] of zone.rows) {
    for (const address of addressesOf(row)) {
      const name = `${row.id.mesh}/${text(address['hostname'])}`;
      const contest = contests.get(name) ?? { claims: [], winner: 'nobody' };
      contests.set(name, contest);
      const origin = address['origin'];
      contest.claims.push(`${key} by ${isJsonObject(origin) ? text(origin['name']) : '?'}`);
      if (address['status'] === 'Available' || isUnreachable(address)) contest.winner = key;
    }
  }
  return contests;
}

/** It has the name, which the others name in their reason, and shows it as NotAvailable while it cannot be reached. */
function isUnreachable({ reason }: JsonObject): boolean {
  return text(reason).startsWith('unreachable: ');
}

function availableNames(row: Row | undefined): string[] {
  return addressesOf(row)
    .filter((address) => address['status'] === 'Available')
    .map((address) => `${row?.id.mesh}/${text(address['hostname'])}`);
}

function addressesOf(row: Row | undefined): JsonObject[] {
  const addresses = row?.deletedAt === undefined ? row?.status?.['addresses'] : undefined;
  if (!isJsonArray(addresses)) return [];
  return addresses.filter(isJsonObject).filter((address) => address['hostname'] !== undefined);
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '?';
}
