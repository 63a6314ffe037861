import type { JsonObject } from '@causeway/resources';
import { age, objectAt, table, textAt, listAt } from '../../render';

/** Sums over the kinds of a zone, for a table. */
export interface InsightSums {
  /** Maximum lag in seconds, and number of pending resources. */
  readonly lag: number;
  readonly waiting: number;
  readonly rejected: number;
  readonly held: number;
}

/** Sums over the kinds of an insight. */
export function sumInsight(insight: JsonObject): InsightSums {
  const kinds = listAt(insight, 'kinds');
  const numbers = (key: string): number[] => kinds.map((kind) => Number(kind[key] ?? 0));
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    lag: Math.max(0, ...numbers('lagSeconds')),
    waiting: sum(numbers('waiting')),
    rejected: sum(kinds.map((kind) => listAt(kind, 'rejections').length)),
    held: sum(numbers('held')),
  };
}

/**
 * Returns the pending decisions of the operator, each with its command. `zone` is undefined if the peer is the global.
 */
export function pendingDecisions(insight: JsonObject, zone: string | undefined, now: number): string[] {
  const refused = objectAt(insight, 'refused');
  const newIncarnation = objectAt(insight, 'newIncarnation');
  const due: string[] = [];
  if (textAt(refused, 'storeId') !== '') {
    const [storeId, instance] = [textAt(refused, 'storeId'), textAt(refused, 'instance')];
    due.push(
      `zone ${zone}: store ${storeId} (${instance}) comes under this name and is refused, last ${ago(refused['refusedAt'], now)}`,
      `  where the zone was installed anew: causeway zones adopt ${zone} ${storeId}`,
    );
  }
  const doubtful = objectAt(insight, 'doubtful');
  if (textAt(doubtful, 'detail') !== '') {
    const [detail, instance] = [textAt(doubtful, 'detail'), textAt(doubtful, 'instance')];
    due.push(`zone ${zone}: ${instance} ${detail}; last ${ago(doubtful['seenAt'], now)}`);
    if (textAt(doubtful, 'claim') === 'epoch') due.push(`  where that is so: causeway zones reset-epoch ${zone}`);
    else due.push('  nothing followed from it; find out who holds its token');
  }
  if (textAt(newIncarnation, 'incarnation') !== '') {
    const [who, command] = zone === undefined ? ['the global', 'confirm-global'] : [`zone ${zone}`, `confirm ${zone}`];
    const until = new Date(Number(newIncarnation['until'])).toISOString();
    due.push(
      `${who}: began a new incarnation, first seen ${ago(newIncarnation['since'], now)}; ${sumInsight(insight).held} resources that it does not name are kept until ${until}`,
      `  where these were deleted indeed: causeway zones ${command}`,
    );
  }
  return due;
}

/** Returns since when a zone is offline, and why; undefined if it is not offline. */
export function readAbsence(
  insight: JsonObject,
  now: number,
): { readonly age: string; readonly line: string } | undefined {
  const offline = objectAt(insight, 'offline');
  if (textAt(offline, 'since') === '') return undefined;
  const since = new Date(Number(offline['since'])).toISOString();
  const lasting = age(since, now);
  return { age: lasting, line: `away since ${since} (${lasting}): ${textAt(offline, 'reason')}` };
}

/** An insight as lines for people. */
export function insightLines(insight: JsonObject, now: number): string[] {
  const kinds = listAt(insight, 'kinds');
  return [
    ...facts(insight, now),
    ...(kinds.length === 0 ? [] : table(KIND_HEAD, kinds.map(kindRow)).split('\n')),
    ...rejections(kinds),
  ];
}

function facts(insight: JsonObject, now: number): string[] {
  const line = (title: string, text: string): string[] => (text === '' ? [] : [`${title.padEnd(12)}${text}`]);
  const [peer, version, globalVersion] = ['peer', 'version', 'globalVersion'].map((key) => textAt(insight, key));
  return [
    ...line('Health', `${textAt(insight, 'health')}, as of ${ago(insight['renewedAt'], now)}`),
    ...line('Away', readAbsence(insight, now)?.line.slice('away '.length) ?? ''),
    ...line('Peer', [peer, version].filter((part) => part !== '').join(' ')),
    ...line('Global', [textAt(insight, 'globalInstanceId'), globalVersion].filter((part) => part !== '').join(' ')),
    ...listAt(insight, 'sessions').flatMap((session) =>
      line(
        'Session',
        `${textAt(session, 'session')} ${textAt(session, 'direction')}, since ${new Date(Number(session['openedAt'])).toISOString()} ${textAt(session, 'zoneInstanceId')}`.trimEnd(),
      ),
    ),
    ...line('Ended', endedText(objectAt(insight, 'endedStream'), now)),
    ...(readAbsence(insight, now) ? [] : line('Last error', textAt(insight, 'lastError'))),
  ];
}

/** Formats why the global ended a stream of the zone. */
function endedText(ended: JsonObject, now: number): string {
  const [direction, detail] = [textAt(ended, 'direction'), textAt(ended, 'detail')];
  return detail === '' ? '' : `stream ${direction}, ${ago(ended['at'], now)}: ${detail}`;
}

const KIND_HEAD = ['KIND', 'WAY', 'OFFERED', 'ACKED', 'APPLIED', 'WAITING', 'LAG', 'HELD', 'REJECTED'];

function kindRow(kind: JsonObject): string[] {
  const shown = ['offered', 'acked', 'applied'].map((key) => textAt(kind, key) || '-');
  const rejected = String(listAt(kind, 'rejections').length);
  const [waiting, held] = [textAt(kind, 'waiting'), textAt(kind, 'held')];
  return [
    textAt(kind, 'kind'),
    textAt(kind, 'direction'),
    ...shown,
    waiting,
    seconds(kind['lagSeconds']),
    held,
    rejected,
  ];
}

function rejections(kinds: readonly JsonObject[]): string[] {
  const rows = kinds.flatMap((kind) =>
    listAt(kind, 'rejections').map((rejection) => [
      textAt(kind, 'kind'),
      textAt(rejection, 'wireKey'),
      textAt(rejection, 'reason'),
    ]),
  );
  return rows.length === 0 ? [] : ['', ...table(['REJECTED', 'WIRE NAME', 'REASON'], rows).split('\n')];
}

/** Seconds, rounded to one digit below 10 and to whole seconds above. */
export function seconds(value: unknown): string {
  const number = Number(value ?? 0);
  return `${number < 10 ? Math.round(number * 10) / 10 : Math.round(number)}s`;
}

function ago(ms: unknown, now: number): string {
  return `${age(new Date(Number(ms)).toISOString(), now)} ago`;
}
