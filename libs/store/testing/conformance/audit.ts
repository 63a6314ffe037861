import { auditSource, type AuditEntry, type AuditLog, type AuditQuery, type AuditRecord } from '../../src/audit-log';
import { freshId, put, type StoreFixture } from './store-fixture';

const RECORD: AuditRecord = {
  ...auditSource({
    user: 'anna',
    groups: ['payments'],
    recognizedBy: 'user-token',
    tokenId: 'token-1',
    address: '192.0.2.1',
    via: 'REST',
    userAgent: 'causeway/1',
    requestId: 'request-1',
    traceId: '0af7651916cd43dd8448eb211c80319c',
  }),
  verb: 'create',
  kind: 'ZoneToken',
  mesh: '',
  zone: '',
  namespace: '',
  name: 'west',
  activity: 'issued a zone token',
  result: 'done',
  reason: '',
  age: 0,
};

/** Returns a user that no other test has. */
function freshUser(): string {
  return freshId('User').name;
}

function by(user: string): AuditRecord {
  return { ...RECORD, user };
}

/** All pages of a query, by pages of `size`. */
async function readPages(log: AuditLog, query: AuditQuery): Promise<readonly AuditEntry[][]> {
  const pages: AuditEntry[][] = [];
  for (let after = query.after; ;) {
    const { entries, next } = await log.page({ ...query, ...(after ? { after } : {}) });
    pages.push([...entries]);
    if (!next) return pages;
    after = next;
  }
}

/** The audit log: the entries that are committed with a write, and those that are not. */
export function describeAudit(world: () => StoreFixture): void {
  describe('the audit log', () => {
    it('has one entry of each change that wrote something, with who, what and the generations', async () => {
      const { store, other, audit } = world();
      const [id, source] = [freshId(), auditSource(by(freshUser()))];
      const created = await store.write({ changes: [put(id, {}, { audit: source })], onRefusal: 'skip' });
      await store.write({ changes: [put(id, {}, { audit: source })], onRefusal: 'skip' }); // the same content
      await store.write({ changes: [put(id, { a: 1 })], onRefusal: 'skip' }); // of the control plane itself
      const updated = await other.write({ changes: [put(id, { a: 2 }, { audit: source })], onRefusal: 'abort' });
      const gone = await store.write({
        changes: [{ type: 'delete', id, expect: 'any', audit: source }],
        onRefusal: 'abort',
      });
      const again = await store.write({ changes: [put(id, {}, { audit: source })], onRefusal: 'skip' });
      const { entries, next } = await audit.page({ user: source.user, size: 10 });
      const entry = { ...source, ...id, activity: '', result: 'done', reason: '', position: expect.anything() };
      expect(entries).toEqual([
        { ...entry, verb: 'create', generationAfter: 4, revision: again.revision },
        { ...entry, verb: 'delete', generationBefore: 3, revision: gone.revision },
        { ...entry, verb: 'update', generationBefore: 2, generationAfter: 3, revision: updated.revision },
        { ...entry, verb: 'create', generationAfter: 1, revision: created.revision },
      ]);
      expect(next).toBeUndefined();
    });

    it('has no entry of a change that was refused, nor of a write that was undone', async () => {
      const { store, audit } = world();
      const [id, lost, source] = [freshId(), freshId(), auditSource(by(freshUser()))];
      await store.write({ changes: [put(id)], onRefusal: 'abort' });
      const changes = [put(lost, {}, { audit: source }), put(id, { b: 1 }, { expect: 'absent', audit: source })];
      await expect(store.write({ changes, onRefusal: 'abort' })).rejects.toThrow();
      await expect(
        store.write({ changes: [...changes, put(lost, { c: 1 }, { audit: source })], onRefusal: 'abort' }),
      ).rejects.toThrow();
      const fence = { epoch: 999_999, holder: 'nobody' };
      await expect(store.write({ changes, onRefusal: 'skip', fence })).rejects.toThrow();
      expect(await audit.page({ user: source.user, size: 10 })).toEqual({ entries: [] });
      await store.write({ changes, onRefusal: 'skip' });
      const { entries } = await audit.page({ user: source.user, size: 10 });
      expect(entries.map(({ name }) => name)).toEqual([lost.name]);
    });

    it('has an entry of each change of a large write, in the order of the write, and of each user of a group', async () => {
      const { store, audit } = world();
      const source = auditSource(by(freshUser()));
      const ids = Array.from({ length: 1_100 }, () => freshId());
      await store.write({ changes: ids.map((id) => put(id, {}, { audit: source })), onRefusal: 'skip' });
      const pages = await readPages(audit, { user: source.user, size: 300 });
      expect(pages.map(({ length }) => length)).toEqual([300, 300, 300, 200]);
      expect(pages.flat().map(({ name }) => name)).toEqual(ids.map(({ name }) => name).toReversed());

      const users = Array.from({ length: 40 }, freshUser);
      const writes = users.map((user) => ({ id: freshId(), user }));
      await Promise.all(
        writes.map(({ id, user }) =>
          store.write({ changes: [put(id, {}, { audit: auditSource(by(user)) })], onRefusal: 'abort' }),
        ),
      );
      for (const { id, user } of writes) {
        const { entries } = await audit.page({ user, size: 10 });
        expect(entries.map(({ name }) => name)).toEqual([id.name]);
      }
    });

    it('keeps what is recorded beside writes, dated by how long ago it was', async () => {
      const { audit } = world();
      const user = freshUser();
      const refusal: AuditRecord = { ...by(user), result: 'refused', reason: 'Forbidden', activity: '', age: 60_000 };
      const began = performance.now();
      await audit.record([by(user), refusal]);
      const took = performance.now() - began;
      await audit.record([]);
      const { entries } = await audit.page({ user, size: 10 });
      const [first, second] = entries;
      const { age, ...done } = by(user);
      const { age: late, ...refused } = refusal;
      expect(entries).toEqual([
        { ...done, position: expect.anything() },
        { ...refused, position: expect.anything() },
      ]);
      // A store may date each entry when it writes it, so the two are as far apart as their ages, except for the duration of the call.
      const apart = ((first?.position.at ?? 0) - (second?.position.at ?? 0)) / 1_000;
      expect(Math.abs(apart - (late - age))).toBeLessThanOrEqual(took + 1);
    });

    it('is filtered by all that a query names', async () => {
      const { audit } = world();
      const user = freshUser();
      const other: AuditRecord = {
        ...by(user),
        verb: 'get',
        kind: 'Mesh',
        mesh: 'm',
        name: 'other',
        result: 'refused',
      };
      await audit.record([{ ...by(user), age: 10_000 }]);
      const [old] = (await audit.page({ user, size: 1 })).entries;
      await audit.record([other]);
      const namesBy = async (query: Partial<AuditQuery>): Promise<readonly string[]> =>
        (await audit.page({ user, size: 10, ...query })).entries.map(({ name }) => name);
      const [west, foreign, both] = [['west'], ['other'], ['other', 'west']];
      expect(await namesBy({})).toEqual(both);
      expect(await namesBy({ verb: 'get' })).toEqual(foreign);
      expect(await namesBy({ kind: 'Mesh' })).toEqual(foreign);
      expect(await namesBy({ kind: 'Mesh', mesh: 'm', name: 'other' })).toEqual(foreign);
      expect(await namesBy({ kind: 'Mesh', mesh: 'n' })).toEqual([]);
      expect(await namesBy({ mesh: '' })).toEqual(west);
      expect(await namesBy({ name: 'west' })).toEqual(west);
      expect(await namesBy({ result: 'refused' })).toEqual(foreign);
      expect(await namesBy({ result: 'done' })).toEqual(west);
      const time = (old?.position.at ?? 0) / 1_000;
      expect(await namesBy({ since: time + 1 })).toEqual(foreign);
      expect(await namesBy({ until: time + 1 })).toEqual(west);
      expect(await namesBy({ user: freshUser() })).toEqual([]);
    });

    it('is paged without a gap and without repetition while others write', async () => {
      const { store, audit } = world();
      const kind = freshId('Paged').name;
      const write = (): Promise<unknown> =>
        store.write({ changes: [put({ ...freshId(), kind }, {}, { audit: auditSource(RECORD) })], onRefusal: 'abort' });
      for (let n = 0; n < 20; n++) await write();
      const before = (await audit.page({ kind, size: 100 })).entries.map(({ name }) => name);
      const seen: string[] = [];
      let page = await audit.page({ kind, size: 3 });
      for (;;) {
        seen.push(...page.entries.map(({ name }) => name));
        if (!page.next) break;
        await Promise.all([write(), write()]);
        page = await audit.page({ kind, size: 3, after: page.next });
      }
      expect(before).toHaveLength(20);
      expect(seen).toEqual(before);
    });

    it('forgets what is too old, and of too many the oldest; refusals never push out what was done', async () => {
      const { audit } = world();
      const user = freshUser();
      const left = async (): Promise<number> => (await audit.page({ user, size: 100 })).entries.length;
      const many = { entries: 1_000_000, refusals: 1_000_000 };
      const refusal: AuditRecord = { ...by(user), result: 'refused' };
      await audit.record([by(user), { ...by(user), age: 3_600_000 }]);
      expect(await audit.purge({ age: 7_200_000, ...many })).toBe(0);
      expect(await audit.purge({ age: 1_800_000, ...many })).toBe(1);
      expect(await left()).toBe(1);
      await audit.record(Array.from({ length: 8 }, () => refusal));
      await audit.purge({ age: 1_800_000, entries: 1_000_000, refusals: 3 });
      expect(await left()).toBe(4);
      await audit.record([by(user), by(user)]);
      await audit.purge({ age: 1_800_000, entries: 3, refusals: 3 });
      expect((await audit.page({ size: 100 })).entries).toHaveLength(3);
      expect(await audit.purge({ age: 0, ...many })).toBeGreaterThanOrEqual(0);
    });
  });
}
