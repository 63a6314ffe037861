import { setTimeout as pause } from 'node:timers/promises';
import { ProcessMesh } from '../support/process-mesh';
import { StatementCounters } from '../support/statement-counter';
import { until } from '../support/until';

/** A part of a minute in which each poll of a control plane is due, s. */
const SECONDS = 10;
/**
 * Statements that a control plane at rest sends in that time. A new poll joins the statement of its tick (`ReadBatcher`) instead of making this more:
 * one a second of all polls, one a second that renews the lease, one in 3 s that asks whether the connection that listens is alive, and what
 * reports that this process lives.
 */
const MOST = { global: 31, zone: 35 };

/** Statements by how often they were sent. */
function tally(sent: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const text of sent) {
    const short = text.replace(/\s+/g, ' ').slice(0, 150);
    counts.set(short, (counts.get(short) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([text, count]) => `${count} ${text}`);
}

describe('control planes at rest', () => {
  const mesh = new ProcessMesh();
  const counters = new StatementCounters();
  afterAll(async () => {
    await mesh.stop();
    await counters.close();
  });

  it('send few statements to their databases, and the polls of a tick in one', async () => {
    await mesh.startGlobal(await counters.countedDatabase(mesh, 'global'));
    const zone = await mesh.startZone('east', await counters.countedDatabase(mesh, 'east'));
    const revisions = async (): Promise<string> =>
      JSON.stringify(await Promise.all([mesh.global, zone].map((plane) => plane.metric('causeway_store_revision'))));
    let before = '';
    await until('nothing is written any more', async () => {
      const [last, now] = [before, await revisions()];
      before = now;
      await pause(2_000);
      return last === now;
    });
    counters.reset();
    await pause(SECONDS * 1_000);
    const [atGlobal = [], atZone = []] = ['global', 'east'].map((name) => counters.get(name)?.sent);
    expect(await revisions()).toBe(before);
    // Statements of the pool, of the connection that listens, and of the thread that keeps the lease were all seen.
    for (const seen of [atGlobal, atZone])
      for (const statement of [/json_agg|FROM store_head/, /^SELECT 1$/, /^UPDATE leader_lease/])
        expect(seen).toContainEqual(expect.stringMatching(statement));
    expect(atGlobal.length > MOST.global ? tally(atGlobal) : []).toEqual([]);
    expect(atZone.length > MOST.zone ? tally(atZone) : []).toEqual([]);
  });
});
