import { setTimeout as pause } from 'node:timers/promises';
import type { JsonObject } from '@causeway/resources';
import { decodeRequest, type WireRequest, type WireResource } from '@causeway/kds/testing';
import { EvilZone, type EvilMessage, type EvilStream } from '../evil-zone';
import { textOf, type Arena, type Attack } from '../target';

/** Time for which a blow waits for the global's reaction, ms. */
const PATIENCE = 3_000;
/** Number of variants of an attack. */
const VARIANTS = 3;
const LARGEST_INTEGER = Number.MAX_SAFE_INTEGER;

/** Zones with valid tokens that send what no zone would. */
export function zoneAttacks(): readonly Attack[] {
  return [
    sending('hostile resources', 'evil', (zone, turn) =>
      hostileResources(turn).map((message) => zone.message(message)),
    ),
    sending('thousands of kinds', 'evil-kinds', (zone, turn) =>
      Array.from({ length: 2_000 }, (_, i) => zone.message({ kind: `Invented${turn}x${i}`, resources: [{}] })),
    ),
    sending('flood', 'evil-flood', (zone) => {
      const large = zone.message({ resources: [{ labels: { big: 'x'.repeat(1024 * 1024) } }] });
      return Array<Buffer>(48).fill(large);
    }),
    sending('pieces without end', 'evil-pieces', (zone) =>
      Array.from({ length: 500 }, (_, i) => {
        const resources = Array.from({ length: 20 }, (__, j) => ({
          name: `piece-${i}-${j}`,
          spec: { ports: [{ port: 80 }] },
        }));
        return zone.message({ resources, mark: { more: true, resumed: false } });
      }),
    ),
    sending('small messages', 'evil-many', (zone) =>
      Array.from({ length: 3_000 }, (_, i) => zone.message({ resources: [{ name: `s${i % 5}` }] })),
    ),
    sending('garbage', 'evil-garbage', () => Array.from({ length: 20 }, (_, i) => Buffer.alloc(1_000, i))),
    { name: 'lies about revisions', pause: 500, strike: lie },
    { name: AGES, pause: 500, strike: forgeAge },
    { name: 'handshake storm', pause: 1_000, strike: storm },
    {
      name: 'a store id of 1 MB',
      pause: 5_000,
      strike: (arena) => shake(arena, 'a store id of 1 MB', { storeId: 'x'.repeat(1024 * 1024) }),
    },
    {
      name: 'thousands of points',
      pause: 3_000,
      strike: (arena) => shake(arena, 'thousands of points', { resumePoints: points(50_000) }),
    },
    { name: 'streams by the thousand', pause: 5_000, strike: manyStreams },
    { name: 'connections by the hundred', pause: 10_000, strike: manyConnections },
    { name: 'a stream that never reads', pause: 1_000, strike: neverReads },
  ];
}

/** Names of all attacking zones: each has a token of its own. */
export const EVIL_ZONES = [
  'evil',
  'evil-kinds',
  'evil-flood',
  'evil-pieces',
  'evil-many',
  'evil-garbage',
  'evil-ages',
  'evil-lies',
  'evil-storm',
  'evil-slow',
] as const;

function points(count: number) {
  return Array.from({ length: count }, (_, i) => ({
    kind: `K${i}`,
    incarnation: 'x',
    revision: LARGEST_INTEGER,
    view: '',
  }));
}

function hostileResources(turn: number): EvilMessage[] {
  const generator = (template: string): EvilMessage => ({
    kind: 'HostnameGenerator',
    resources: [{ name: `g${turn}`, mesh: '', spec: { selector: { meshService: { matchLabels: {} } }, template } }],
  });
  const service = (name: string, one: Partial<WireResource>): EvilMessage => ({ resources: [{ name, ...one }] });
  const ports = (count: number): JsonObject => ({ ports: Array.from({ length: count }, () => ({})) });
  const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`l${i}`, 'v']));
  const origin = { incarnation: 'one', revision: 1, committedAt: 1 };
  const meta = { uid: 'u\u0000', zone: 'evil', namespace: 'default', generation: 1, creationOrder: 1, origin };
  return [
    generator('{{'.repeat(60_000)),
    generator('{{ label "'.repeat(10_000)),
    service('ports', { spec: ports(60_000) }),
    service('ports-text', { spec: { ports: 'x' } }),
    service('labels', { labels }),
    service('large-label', { labels: { big: 'x'.repeat(5 * 1024 * 1024) } }),
    service('nul-uid', { meta }),
    service('nul-spec', { spec: { selector: { dataplaneTags: { a: '\u0000' } } } }),
    service('*', {}),
    service('a\nb', {}),
    service('a'.repeat(100_000), {}),
    service('deep', { spec: JSON.parse('{"a":'.repeat(2_000) + '1' + '}'.repeat(2_000)) }),
    { kind: 'Zone', resources: [{ name: 'west', mesh: '', spec: { enabled: false } }] },
    { kind: 'GlobalSecret', resources: [{ name: 'zone-token-signing-key-99', mesh: '', spec: { data: 'eA==' } }] },
  ];
}

/** An attack that opens a session and a stream, sends, and looks what becomes of the stream. */
function sending(
  name: string,
  zoneName: string,
  messages: (zone: EvilZone, turn: number) => readonly Buffer[],
): Attack {
  // Each form is made once: the attacker's time is for sending.
  const made: (readonly Buffer[])[] = [];
  return {
    name,
    pause: 500,
    strike: async (arena, turn) => {
      await withStream(arena, zoneName, async (zone, stream) => {
        const bytesOfTurn = (made[turn % VARIANTS] ??= messages(zone, turn));
        for (const bytes of bytesOfTurn) {
          if (!stream.isOpen) break;
          stream.send(bytes);
          // Lets the blows of others go out beside it.
          await pause(0);
        }
        const end = await Promise.race([stream.ended, pause(PATIENCE, undefined)]);
        const stays = `${stream.answers > 0 ? 'answered' : 'silent'}, stream open`;
        arena.tally.note(name, end === undefined ? stays : `ended: ${end}`);
      });
    },
  };
}

async function withStream(
  { target }: Arena,
  zoneName: string,
  work: (zone: EvilZone, stream: EvilStream) => Promise<void>,
): Promise<void> {
  const zone = new EvilZone(zoneName, target);
  try {
    const { session } = await zone.handshake();
    const stream = zone.stream('up', session);
    await work(zone, stream);
    stream.cancel();
  } finally {
    zone.close();
  }
}

const AGES = 'ages of 1970';

/** Sends a resource that the global held the whole state without, with the greatest possible age; the answer must have the age that counts. */
async function forgeAge(arena: Arena, turn: number): Promise<void> {
  await withStream(arena, 'evil-ages', async (zone, stream) => {
    const origin = { incarnation: 'one', revision: turn, committedAt: 1 };
    const meta = { uid: `uid-${turn}`, zone: zone.zone, namespace: 'default', generation: 1, creationOrder: 1, origin };
    const resources = [{ name: `old-${turn % 5}`, spec: { ports: [{ port: 80 }] }, meta }];
    const [without, forged] = [
      zone.message({ mark: { resumed: false } }),
      zone.message({ resources, mark: { revision: 2 } }),
    ];
    const answer = answerTo(stream, zone.nonce);
    stream.send(without);
    stream.send(forged);
    const answered = await Promise.race([answer, stream.ended, pause(PATIENCE, 'no answer yet')]);
    if (typeof answered === 'string') return arena.tally.note(AGES, answered);
    const isBelieved = !answered.orders?.some(({ creationOrder }) => creationOrder > 1);
    if (isBelieved && answered.type === 'ack') arena.tally.note('BREACH', 'an age of 1970 was believed');
    arena.tally.note(AGES, isBelieved ? answered.type : 'made younger');
  });
}

type Answer = Exclude<WireRequest, { type: 'subscribe' }>;

function answerTo(stream: EvilStream, nonce: string): Promise<Answer> {
  return new Promise((resolve) => {
    stream.onAnswer = (bytes) => {
      const request = decodeRequest(bytes);
      if (request.type !== 'subscribe' && request.nonce === nonce) resolve(request);
    };
  });
}

/** Claims resume points beyond the global's revision, in its incarnation, and a leader of the last epoch. */
async function lie(arena: Arena, turn: number): Promise<void> {
  const zone = new EvilZone('evil-lies', arena.target);
  try {
    const { incarnation } = await zone.handshake();
    const kinds = ['Mesh', 'MeshService', 'HostnameGenerator', 'Zone'];
    const resumePoints = kinds.map((kind) => ({ kind, incarnation, revision: LARGEST_INTEGER - turn, view: '' }));
    const answer = await zone.handshake({ resumePoints, revision: LARGEST_INTEGER });
    const believed = answer.incarnation !== incarnation;
    arena.tally.note('lies about revisions', believed ? 'a new incarnation began' : 'not believed');
    if (believed) arena.tally.note('BREACH', 'a lie began a new incarnation');
    await zone.handshake({ leaderEpoch: LARGEST_INTEGER });
    arena.tally.note('lies about revisions', 'an epoch of 2^53 was taken');
  } finally {
    zone.close();
  }
}

async function storm(arena: Arena): Promise<void> {
  const zone = new EvilZone('evil-storm', arena.target);
  try {
    await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        zone.handshake({ instance: `i${i}` }).then(
          () => arena.tally.note('handshake storm', 'answered'),
          (error: unknown) => arena.tally.note('handshake storm', `refused: ${textOf(error)}`),
        ),
      ),
    );
  } finally {
    zone.close();
  }
}

async function shake(arena: Arena, name: string, lies: Parameters<EvilZone['handshake']>[0]): Promise<void> {
  const zone = new EvilZone('evil-lies', arena.target);
  try {
    await zone.handshake(lies);
    arena.tally.note(name, 'answered');
  } finally {
    zone.close();
  }
}

async function manyStreams(arena: Arena): Promise<void> {
  const zone = new EvilZone('evil-storm', arena.target);
  try {
    const { session } = await zone.handshake();
    const streams = Array.from({ length: 1_000 }, (_, i) => zone.stream(i % 2 === 0 ? 'up' : 'down', session));
    await pause(PATIENCE);
    const open = streams.filter((stream) => stream.isOpen).length;
    arena.tally.note('streams by the thousand', open > 100 ? 'more than a hundred stay open' : 'few stay open');
    for (const stream of streams) stream.cancel();
  } finally {
    zone.close();
  }
}

async function manyConnections(arena: Arena): Promise<void> {
  const zones = Array.from({ length: 150 }, () => new EvilZone('evil-storm', arena.target));
  const name = 'connections by the hundred';
  try {
    await Promise.all(
      zones.map((zone) =>
        zone.handshake().then(
          () => arena.tally.note(name, 'answered'),
          (error: unknown) => arena.tally.note(name, `refused: ${textOf(error)}`),
        ),
      ),
    );
  } finally {
    for (const zone of zones) zone.close();
  }
}

/** Asks for everything down and takes nothing. */
async function neverReads(arena: Arena): Promise<void> {
  const zone = new EvilZone('evil-slow', arena.target);
  try {
    const { session } = await zone.handshake();
    const streams = [zone.stream('down', session), zone.stream('up', session)];
    for (const stream of streams) stream.stopReading();
    const end = await Promise.race([...streams.map(({ ended }) => ended), pause(10_000, undefined)]);
    arena.tally.note('a stream that never reads', end === undefined ? 'stays open' : `ended: ${end}`);
  } finally {
    zone.close();
  }
}
