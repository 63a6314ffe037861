import type { ZoneOverview } from '@causeway/api';
import type { JsonObject } from '@causeway/resources';
import { age, joinGiven, objectAt, table, textAt } from '../../render';

type ZoneInsight = NonNullable<ZoneOverview['zoneInsight']>;
type ReportedKind = NonNullable<ZoneInsight['kinds']>[number];

/** Sums over the kinds of a zone, for a table. */
export interface InsightSums {
  /** Maximum lag in seconds, and number of pending resources. */
  readonly lag: number;
  readonly waiting: number;
  readonly rejected: number;
  readonly held: number;
}

/** Sums an insight over its kinds. */
export function sumInsight({ kinds = [] }: ZoneInsight): InsightSums {
  const sum = (read: (kind: ReportedKind) => number): number => kinds.reduce((total, kind) => total + read(kind), 0);
  return {
    lag: Math.max(0, ...kinds.map(({ lagSeconds }) => lagSeconds)),
    waiting: sum(({ waiting }) => waiting),
    rejected: sum(({ rejections }) => rejections.length),
    held: sum(({ held }) => held),
  };
}

/**
 * Returns the pending decisions of the operator, each with its command. `zone` is undefined if the peer is the global.
 */
export function pendingDecisions(insight: ZoneInsight, zone: string | undefined, now: number): string[] {
  const { refused, doubtful, newIncarnation } = insight;
  const due: string[] = [];
  if (refused)
    due.push(
      `zone ${zone}: store ${refused.storeId} (${refused.instance}) comes under this name and is refused, last ${ago(refused.refusedAt, now)}`,
      `  where the zone was installed anew: causeway zones adopt ${zone} ${refused.storeId}`,
    );
  if (doubtful) {
    due.push(`zone ${zone}: ${doubtful.instance} ${doubtful.detail}; last ${ago(doubtful.seenAt, now)}`);
    if (doubtful.claim === 'epoch') due.push(`  where that is so: causeway zones reset-epoch ${zone}`);
    else due.push('  nothing followed from it; find out who holds its token');
  }
  if (newIncarnation) {
    const [who, command] = zone === undefined ? ['the global', 'confirm-global'] : [`zone ${zone}`, `confirm ${zone}`];
    const until = new Date(newIncarnation.until).toISOString();
    due.push(
      `${who}: began a new incarnation, first seen ${ago(newIncarnation.since, now)}; ${sumInsight(insight).held} resources that it does not name are kept until ${until}`,
      `  where these were deleted indeed: causeway zones ${command}`,
    );
  }
  return due;
}

/** Returns since when a zone is offline, and the reason; undefined if it is not offline. */
export function readAbsence(
  { offline }: ZoneInsight,
  now: number,
): { readonly age: string; readonly line: string } | undefined {
  if (!offline) return undefined;
  const since = new Date(offline.since).toISOString();
  const lasting = age(since, now);
  return { age: lasting, line: `away since ${since} (${lasting}): ${offline.reason}` };
}

/** Formats an insight as lines for people. */
export function insightLines(insight: ZoneInsight, now: number): string[] {
  const { kinds = [] } = insight;
  return [
    ...facts(insight, now),
    ...(kinds.length === 0 ? [] : table(KIND_HEAD, kinds.map(kindRow)).split('\n')),
    ...rejections(kinds),
  ];
}

function facts(insight: ZoneInsight, now: number): string[] {
  const line = (title: string, text = ''): string[] => (text === '' ? [] : [`${title.padEnd(12)}${text}`]);
  const { health = '', renewedAt, peer, version, globalInstanceId, globalVersion, sessions = [], lastError } = insight;
  const away = readAbsence(insight, now);
  return [
    ...line('Health', `${health}, as of ${ago(renewedAt, now)}`),
    ...line('Away', away?.line.slice('away '.length)),
    ...line('Peer', joinGiven([peer, version], ' ')),
    ...line('Global', joinGiven([globalInstanceId, globalVersion], ' ')),
    ...sessions.flatMap(({ session, direction, openedAt, zoneInstanceId = '' }) =>
      line('Session', `${session} ${direction}, since ${new Date(openedAt).toISOString()} ${zoneInstanceId}`.trimEnd()),
    ),
    ...line('Ended', endedText(objectAt(insight, 'endedStream'), now)),
    ...(away ? [] : line('Last error', lastError)),
  ];
}

/** Formats the reason why the global ended a stream of the zone. */
function endedText(ended: JsonObject, now: number): string {
  const [direction, detail] = [textAt(ended, 'direction'), textAt(ended, 'detail')];
  return detail === '' ? '' : `stream ${direction}, ${ago(ended['at'], now)}: ${detail}`;
}

const KIND_HEAD = ['KIND', 'WAY', 'OFFERED', 'ACKED', 'APPLIED', 'WAITING', 'LAG', 'HELD', 'REJECTED'];

function kindRow(report: ReportedKind): string[] {
  const { kind, direction, offered, acked, applied, waiting, lagSeconds, held, rejections: refused } = report;
  const shown = [offered, acked, applied].map((revision) => String(revision ?? '-'));
  return [kind, direction, ...shown, `${waiting}`, seconds(lagSeconds), `${held}`, `${refused.length}`];
}

function rejections(kinds: readonly ReportedKind[]): string[] {
  const rows = kinds.flatMap(({ kind, rejections: found }) =>
    found.map(({ wireKey, reason }) => [kind, wireKey, reason]),
  );
  return rows.length === 0 ? [] : ['', ...table(['REJECTED', 'WIRE NAME', 'REASON'], rows).split('\n')];
}

/** Formats seconds, rounded to one digit below 10 and to whole seconds above. */
export function seconds(number: number): string {
  return `${number < 10 ? Math.round(number * 10) / 10 : Math.round(number)}s`;
}

function ago(ms: unknown, now: number): string {
  return `${age(new Date(Number(ms)).toISOString(), now)} ago`;
}
