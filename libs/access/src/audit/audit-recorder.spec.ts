import { Forbidden, Invalid, Unavailable } from '@causeway/resources';
import { silentLogger, type LogFields, type Logger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import type { AuditLog, AuditSubject } from '@causeway/store';
import { MemoryAudit, MemoryDisk } from '@causeway/store/testing';
import type { Caller } from '../authorization/caller';
import { AuditRecorder, toAuditSource, refusalReason } from './audit-recorder';

const anna: Caller = { user: 'anna', groups: ['payments'], by: 'user-token', tokenId: 'token-1' };
const subject: AuditSubject = {
  verb: 'update',
  kind: 'MeshService',
  mesh: 'default',
  zone: '',
  namespace: 'default',
  name: 'redis',
  activity: '',
};

function source(address = '192.0.2.1', caller = anna): ReturnType<typeof toAuditSource> {
  return toAuditSource(caller, { address, via: 'REST', userAgent: 'curl/8' });
}

/** Promises of a few turns. */
async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}

class Fixture {
  readonly clock = new FakeClock(1_700_000_000_000);
  readonly log = new MemoryAudit(new MemoryDisk({ clock: this.clock }));
  readonly statements: number[] = [];
  readonly lines: LogFields[] = [];
  away = false;
  private readonly logger: Logger = {
    ...silentLogger,
    info: (_, fields = {}) => void this.lines.push(fields),
  };
  readonly recorder = new AuditRecorder({ log: this.counted(), clock: this.clock, logger: this.logger });

  async reasons(): Promise<readonly string[]> {
    return (await this.log.page({ size: 2_000 })).entries.map(({ reason }) => reason);
  }

  private counted(): AuditLog {
    return {
      record: (records) => {
        if (this.away) return Promise.reject(new Unavailable('away'));
        this.statements.push(records.length);
        return this.log.record(records);
      },
      page: (query) => this.log.page(query),
      purge: (bounds) => this.log.purge(bounds),
    };
  }
}

describe('AuditRecorder', () => {
  let fixture: Fixture;
  beforeEach(() => (fixture = new Fixture()));
  afterEach(() => fixture.recorder.close());

  it('stores refusals together, dated by when they were refused, and logs each', async () => {
    const { recorder, clock, log } = fixture;
    recorder.refused(source(), subject, 'Forbidden: first');
    clock.advance(400);
    recorder.refused(source(), subject, 'Forbidden: second');
    expect(fixture.statements).toEqual([]);
    clock.advance(100);
    await settled();
    expect(fixture.statements).toEqual([2]);
    const [second, first] = (await log.page({ size: 10 })).entries;
    expect(first).toMatchObject({
      user: 'anna',
      groups: ['payments'],
      recognizedBy: 'user-token',
      tokenId: 'token-1',
      address: '192.0.2.1',
      via: 'REST',
      userAgent: 'curl/8',
      result: 'refused',
      reason: 'Forbidden: first',
    });
    expect((second?.position.at ?? 0) - (first?.position.at ?? 0)).toBe(400_000);
    expect(fixture.lines.map(({ reason }) => reason)).toEqual(['Forbidden: first', 'Forbidden: second']);
  });

  it('drops what one address sends too fast, counts it, and keeps what others send', async () => {
    const { recorder, clock } = fixture;
    for (let n = 0; n < 300; n++) recorder.refused(source(), subject, 'loud');
    recorder.refused(source('192.0.2.2'), subject, 'quiet');
    expect(recorder.status()).toEqual({ waiting: 101, dropped: 200 });
    clock.advance(500);
    await settled();
    expect((await fixture.reasons())[0]).toBe('quiet');
  });

  it('holds a bounded number, in statements of a bounded size', async () => {
    const { recorder, clock } = fixture;
    for (let n = 0; n < 1_500; n++) recorder.refused(source(`10.0.${n >> 8}.${n & 255}`), subject, `${n}`);
    expect(recorder.status()).toEqual({ waiting: 1_000, dropped: 500 });
    for (let n = 0; n < 3; n++) {
      clock.advance(500);
      await settled();
    }
    expect(fixture.statements).toEqual([500, 500]);
    expect(recorder.status()).toEqual({ waiting: 0, dropped: 500 });
  });

  it('counts as dropped what could not be stored, and goes on', async () => {
    const { recorder, clock } = fixture;
    fixture.away = true;
    recorder.refused(source(), subject, 'lost');
    clock.advance(500);
    await settled();
    expect(recorder.status()).toEqual({ waiting: 0, dropped: 1 });
    fixture.away = false;
    recorder.refused(source(), subject, 'kept');
    await recorder.close();
    expect(await fixture.reasons()).toEqual(['kept']);
  });

  it('has stored an activity when its promise resolves, and says so when it has not', async () => {
    const { recorder } = fixture;
    const act = { ...subject, verb: 'create', kind: 'ZoneToken', activity: 'issue a zone token', name: 'west' };
    await recorder.done(source(), act);
    expect((await fixture.log.page({ size: 1 })).entries).toMatchObject([{ ...act, result: 'done', reason: '' }]);
    fixture.away = true;
    await expect(recorder.done(source(), act)).rejects.toBeInstanceOf(Unavailable);
  });

  it('cuts what callers send', () => {
    const wild = source('x'.repeat(900), { ...anna, user: `a\n\0${'b'.repeat(900)}`, groups: Array(90).fill('g') });
    expect(wild.user).toHaveLength(200);
    expect(wild.user.startsWith('a ?b')).toBe(true);
    expect([wild.address.length, wild.groups.length]).toEqual([200, 20]);
  });
});

describe('refusalReason', () => {
  const invalid = new Invalid([{ field: 'spec.data', reason: 'must be base64; got "hunter2"', rule: 'invalid' }]);
  it.each([
    [new Forbidden('no RoleBinding'), false, 'Forbidden: no RoleBinding'],
    [invalid, false, 'Invalid: 1 field: spec.data'],
    [invalid, true, 'Invalid: 1 field'],
    [
      new Invalid(Array(7).fill({ field: 'a', reason: 'b', rule: 'invalid' })),
      false,
      'Invalid: 7 fields: a, a, a, a, a, …',
    ],
  ])('%s, confidential %s: %s', (error, confidential, reason) => {
    expect(refusalReason(error, confidential)).toBe(reason);
  });
});
