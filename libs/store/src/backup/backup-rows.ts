import { parseAddress } from '@causeway/ipam';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, type Labels } from '@causeway/resources';
import type { PutChange } from '../resource-store';
import { unstorable } from '../storable';
import type { BackupHeader, BackupTable } from './backup-format';

/** A column and the rule for its value. */
interface BackupColumn {
  readonly rule: string;
  readonly holds: (value: JsonValue | undefined) => boolean;
}

const isText = (value: JsonValue | undefined): value is string => typeof value === 'string';
const isWhole = (value: JsonValue | undefined): value is number => Number.isSafeInteger(value);
const isAbsent = (value: JsonValue | undefined): boolean => value === undefined || value === null;

const text: BackupColumn = { rule: 'must be a text', holds: isText };
const whole: BackupColumn = { rule: 'must be a whole number', holds: (value) => isWhole(value) && value >= 0 };
/** Session numbers of a zone are below 0 after a reset. */
const number: BackupColumn = { rule: 'must be a whole number', holds: isWhole };
const object: BackupColumn = { rule: 'must be an object', holds: isJsonObject };
const list: BackupColumn = { rule: 'must be a list', holds: isJsonArray };
const address: BackupColumn = {
  rule: 'must be an IP address',
  holds: (value) => isText(value) && parseAddress(value) !== undefined,
};
const labels: BackupColumn = {
  rule: 'must be an object of texts',
  holds: (value) => isJsonObject(value) && Object.values(value).every(isText),
};
const freed: BackupColumn = {
  rule: 'must be a list of {ip, at}',
  holds: (value) =>
    isJsonArray(value) && value.every((one) => isJsonObject(one) && address.holds(one['ip']) && whole.holds(one['at'])),
};
const optional = ({ rule, holds }: BackupColumn): BackupColumn => ({
  rule: `${rule} or absent`,
  holds: (value) => isAbsent(value) || holds(value),
});

/** Columns of each table, as in the database. */
const COLUMNS: Readonly<Record<BackupTable, Readonly<Record<string, BackupColumn>>>> = {
  resources: {
    kind: text,
    mesh: text,
    zone: text,
    namespace: text,
    name: text,
    uid: text,
    labels,
    spec: object,
    status: optional(object),
    generation: whole,
    creation_order: whole,
    created_at: whole,
    modified_at: whole,
    revision: whole,
    origin_incarnation: optional(text),
    origin_revision: whole,
    origin_committed_at: whole,
    vip: optional(address),
    freed,
    grace_started_at: optional(whole),
    deleted_at: optional(whole),
    traceparent: optional(text),
  },
  notes: { area: text, key: text, value: object },
  zone_sessions: {
    zone: text,
    store_id: text,
    incarnation: text,
    epoch: number,
    instance: text,
    up: number,
    down: number,
    opened_at: whole,
    whole_order: optional(whole),
    whole_except: optional(object),
  },
  agent_leases: {
    mesh: text,
    namespace: text,
    name: text,
    instance: text,
    run: text,
    started_at: whole,
    machine: text,
    address: text,
    session: text,
    since: whole,
    expires_at: whole,
    health: list,
    changed_at: whole,
  },
};

/** Returns why a row cannot be stored: field, rule and value; empty if it can. */
export function rowProblems(table: BackupTable, row: JsonObject, header: BackupHeader | undefined): readonly string[] {
  const columns = COLUMNS[table];
  const problems = Object.entries(columns)
    .filter(([name, { holds }]) => !holds(row[name]))
    .map(([name, { rule }]) => `${table}.${name}: ${rule}; got ${shown(row[name])}`);
  for (const name of Object.keys(row))
    if (!(name in columns)) problems.push(`${table}.${name}: is no column of this version`);
  if (problems.length > 0) return problems;
  const reason = unstorableRow(table, row) ?? (table === 'resources' ? brokenResource(row, header) : undefined);
  return reason === undefined ? [] : [`${table}: ${reason}`];
}

/** Checks rules that span columns. */
function brokenResource(row: JsonObject, header: BackupHeader | undefined): string | undefined {
  const { vip, deleted_at: deletedAt, revision } = row;
  if (!isAbsent(vip) && !isAbsent(deletedAt))
    return `${formatRowName(row)} is deleted and holds the address ${shown(vip)}`;
  const head = header?.head.revision ?? Infinity;
  return isWhole(revision) && revision > head
    ? `${formatRowName(row)} has a revision above the head, ${head}`
    : undefined;
}

function unstorableRow(table: BackupTable, row: JsonObject): string | undefined {
  if (table !== 'resources') return unstorable({ ...NOTHING, spec: row });
  const part = (name: string): string => (isText(row[name]) ? row[name] : '');
  const id = {
    kind: part('kind'),
    mesh: part('mesh'),
    zone: part('zone'),
    namespace: part('namespace'),
    name: part('name'),
  };
  const { spec, status, labels: given, uid } = row;
  const content = { labels: readTexts(given), spec: isJsonObject(spec) ? spec : {} };
  const reported = isJsonObject(status) ? { status } : {};
  return (
    unstorable({ ...NOTHING, id, ...content, ...reported }) ?? unstorable({ ...NOTHING, spec: { uid: uid ?? '' } })
  );
}

const NOTHING: PutChange = {
  type: 'put',
  expect: 'any',
  id: { kind: '', mesh: '', zone: '', namespace: '', name: '' },
  labels: {},
  spec: {},
};

function readTexts(value: JsonValue | undefined): Labels {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => isText(entry[1])));
}

function formatRowName({ kind, mesh, zone, name }: JsonObject): string {
  return `${isText(kind) ? kind : ''} ${[zone, mesh, name].filter(isText).filter(Boolean).join('/')}`;
}

/** Formats a value for a message; long ones are shortened. */
function shown(value: JsonValue | undefined): string {
  const shown = value === undefined ? 'nothing' : JSON.stringify(value);
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown;
}
