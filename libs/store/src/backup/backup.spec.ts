import type { JsonObject } from '@causeway/resources';
import { BACKUP_VERSION, BackupWriter, MAX_BACKUP_LINE, type BackupHeader } from './backup-format';
import { backupLines, BackupReader, MAX_PROBLEMS } from './backup-reader';
import { ownerProblem } from './store-backup';

const HEADER: BackupHeader = {
  version: BACKUP_VERSION,
  program: '1.2.3',
  takenAt: 1_000,
  owner: { role: 'zone', zone: 'east', storeId: 'store-1' },
  head: { incarnation: 'one', revision: 9, floor: 2, creationOrder: 5, epoch: 3, sessionFloor: 0 },
  secrets: false,
  counts: { resources: 1, notes: 1, zone_sessions: 0, agent_leases: 0 },
};

const RESOURCE: JsonObject = {
  kind: 'MeshService',
  mesh: 'default',
  zone: 'east',
  namespace: 'default',
  name: 'redis',
  uid: 'u-1',
  labels: { team: 'db' },
  spec: { ports: [] },
  status: null,
  generation: 4,
  creation_order: 5,
  created_at: 6,
  modified_at: 7,
  revision: 8,
  origin_incarnation: null,
  origin_revision: 8,
  origin_committed_at: 7,
  vip: '241.0.0.7',
  freed: [{ ip: '241.0.0.3', at: 5 }],
  grace_started_at: null,
  deleted_at: null,
};

const NOTE: JsonObject = { area: 'vip', key: 'MeshService', value: { ip: '241.0.0.7' } };

/** The lines of a backup of one resource and one note. */
function linesOf(header = HEADER, resource = RESOURCE): string[] {
  const writer = new BackupWriter();
  const text =
    writer.header(header) +
    writer.record('resources', JSON.stringify(resource)) +
    writer.record('notes', JSON.stringify(NOTE)) +
    writer.end();
  return text.trimEnd().split('\n');
}

/** Returns the reader's errors about these lines. */
function problemsOf(lines: readonly string[]): readonly string[] {
  const reader = new BackupReader();
  for (const line of lines) reader.read(line);
  reader.close();
  expect(reader.whole).toBe(reader.total === 0);
  return reader.problems.map(({ line, reason }) => `${line}: ${reason}`);
}

it('reads what it wrote, and knows that it is whole only behind the end', () => {
  const reader = new BackupReader();
  const [header, resource, note, end] = linesOf();
  expect(reader.read(header ?? '')).toEqual({ type: 'header', header: HEADER });
  expect(reader.read(resource ?? '')).toEqual({ type: 'record', record: { table: 'resources', row: RESOURCE } });
  expect(reader.read(note ?? '')).toEqual({ type: 'record', record: { table: 'notes', row: NOTE } });
  expect(reader.whole).toBe(false);
  expect(reader.read(end ?? '')).toEqual({ type: 'end' });
  expect(reader.whole).toBe(true);
});

it.each<readonly [what: string, change: (lines: string[]) => readonly string[], want: readonly RegExp[]]>([
  ['nothing at all', () => [], [/^1: is missing: the backup is empty$/]],
  ['another file', () => ['type: Mesh'], [/^1: is no header/, /^1: has no end/]],
  [
    'a later form',
    ([head = '', ...rest]) => [head.replace(':1,', ':2,'), ...rest],
    [/^1: causeway-backup: 2 is later .*\(1\)/, /sha256/],
  ],
  [
    'a header without an owner',
    ([head = '', ...rest]) => [head.replace('owner', 'own'), ...rest],
    [/^1: the header has no valid owner/, /sha256/],
  ],
  ['a cut at a line', (lines) => lines.slice(0, 2), [/^2: has no end: the backup was cut$/]],
  [
    'a cut within a line',
    ([head = '', row = '']) => [head, row.slice(0, 40)],
    [/^2: is no JSON object/, /^2: has no end/],
  ],
  [
    'a row that is left out',
    ([head = '', , ...rest]) => [head, ...rest],
    [/end.records: 2 records were written, 1 are here/, /sha256/, /counts.resources: the header says 1, 0 are here/],
  ],
  ['a byte that was changed', (lines) => lines.map((line) => line.replace('"db"', '"dc"')), [/^4: end.sha256/]],
  ['more behind the end', (lines) => [...lines, '{}'], [/^5: stands behind the end/]],
  [
    'a row of no table',
    ([head = '', , ...rest]) => [head, '{"audit":{}}', ...rest],
    [/^2: must be one row of resources, notes.*got \["audit"\]/, /records/, /sha256/, /counts.resources/],
  ],
  [
    'a line of 5 MiB',
    ([head = '', ...rest]) => [head, 'x'.repeat(MAX_BACKUP_LINE + 1), ...rest],
    [/^2: is longer than 4194304 bytes/],
  ],
])('refuses %s', (_, change, want) => {
  const problems = problemsOf(change(linesOf()));
  expect(problems).toHaveLength(want.length);
  problems.forEach((problem, i) => expect(problem).toMatch(want[i] ?? /nothing/));
});

it.each<readonly [what: string, row: JsonObject, want: string]>([
  ['a text for a number', { generation: '4' }, 'resources.generation: must be a whole number; got "4"'],
  ['a label that is no text', { labels: { a: 1 } }, 'resources.labels: must be an object of texts; got {"a":1}'],
  ['no address', { vip: '241.0.0.777' }, 'resources.vip: must be an IP address or absent; got "241.0.0.777"'],
  [
    'a freed address without a time',
    { freed: [{ ip: '241.0.0.3' }] },
    'resources.freed: must be a list of {ip, at}; got [{"ip":"241.0.0.3"}]',
  ],
  ['a column of another version', { colour: 'red' }, 'resources.colour: is no column of this version'],
  [
    'a tombstone with an address',
    { deleted_at: 9 },
    'resources: MeshService east/default/redis is deleted and holds the address "241.0.0.7"',
  ],
  [
    'a revision above the head',
    { revision: 10 },
    'resources: MeshService east/default/redis has a revision above the head, 9',
  ],
  ['what no database stores', { spec: { a: 'x\0' } }, 'resources: holds a character that is not text'],
])('refuses a row with %s, by field, rule and value', (_, row, want) => {
  expect(problemsOf(linesOf(HEADER, { ...RESOURCE, ...row }))).toEqual([`2: ${want}`]);
});

it('tells the first 100 problems and counts the rest', () => {
  const reader = new BackupReader();
  reader.read(linesOf()[0] ?? '');
  for (let i = 0; i < MAX_PROBLEMS + 20; i++) reader.read('no JSON');
  expect([reader.problems.length, reader.total]).toEqual([MAX_PROBLEMS, MAX_PROBLEMS + 20]);
});

it('finds lines whose characters are torn apart, and keeps no more of an endless one than it may have', async () => {
  const bytes = Buffer.from('héllo\nwörld\n\nend', 'utf8');
  const torn = async function* (): AsyncGenerator<Uint8Array> {
    for (const byte of bytes) yield Uint8Array.of(byte);
  };
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let i = 0; i < 12; i++) yield piece;
    yield Buffer.from('\nnext\n');
  };
  const all = async (lines: AsyncIterable<string>): Promise<string[]> => {
    const found: string[] = [];
    for await (const line of lines) found.push(line);
    return found;
  };
  expect(await all(backupLines(torn()))).toEqual(['héllo', 'wörld', '', 'end']);
  const [long = '', ...rest] = await all(backupLines(endless()));
  expect(long.length).toBeLessThanOrEqual(MAX_BACKUP_LINE + 1024 * 1024);
  expect(long.length).toBeGreaterThan(MAX_BACKUP_LINE);
  expect(rest).toEqual(['next']);
});

it('is for the control plane that it is of', () => {
  const { owner } = HEADER;
  expect(ownerProblem(owner, { role: 'zone', zone: 'east' })).toBeUndefined();
  expect(ownerProblem(owner, { role: 'zone', zone: 'west' })).toBe(
    'the backup is of zone "east", and this is zone "west"',
  );
  expect(ownerProblem(owner, { role: 'global', zone: '' })).toMatch(/and this is a global control plane$/);
});
