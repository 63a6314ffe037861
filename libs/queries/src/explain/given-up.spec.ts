import { globalIdentity, type ControlPlane, type Resource } from '@causeway/resources';
import { SLICE } from '@causeway/runtime';
import { ResourceIndex } from '@causeway/store';
import { east, generator, mesh, NamingZone, put, service } from '../../../../test/support/naming-zone';
import { HostnameExplainer } from './hostname-explainer';

/** An index that has no end of services: who reads it gets them again and again. */
class EndlessIndex extends ResourceIndex {
  /** Services that were looked at. */
  seen = 0;
  /** Called with each. */
  onSeen = (_seen: number): void => undefined;

  override *ofKind(kind: string): Generator<Resource> {
    if (kind !== 'MeshService') return yield* super.ofKind(kind);
    for (;;) {
      for (const resource of super.ofKind(kind)) {
        this.onSeen(++this.seen);
        yield resource;
      }
    }
  }
}

async function endless(): Promise<EndlessIndex> {
  const zone = await new NamingZone().start(
    mesh('default'),
    put(globalIdentity('Zone', 'east')),
    ...['a', 'b', 'c'].map((name) => put(service(name))),
  );
  const index = new EndlessIndex();
  index.load(await zone.store.snapshot());
  return index;
}

type Ask = (explainer: HostnameExplainer, signal: AbortSignal) => Promise<unknown>;

const { id, spec } = generator('new', '{{ name }}.mesh');
const asks: readonly (readonly [string, Ask])[] = [
  ['an explanation', (e, signal) => e.explain({ mesh: 'default', hostname: 'x.y', zone: 'east' }, signal)],
  ['a list', (e, signal) => e.list('default', { offset: 0, size: 1 }, signal)],
  ['a dry run', (e, signal) => e.dryRun({ id, spec }, 'east', signal)],
];
const planes: readonly ControlPlane[] = [{ role: 'global' }, east];

describe.each(planes)('on a control plane of role $role', (cp) => {
  test.each(asks)('%s whose caller is gone ends with the slice', async (_what, ask) => {
    const index = await endless();
    const explainer = new HostnameExplainer(index, cp);
    const life = new AbortController();
    index.onSeen = (seen) => {
      if (seen === 2.5 * SLICE) life.abort(new Error('gone'));
    };
    await expect(ask(explainer, life.signal)).rejects.toThrow('gone');
    expect(index.seen).toBeLessThanOrEqual(3 * SLICE);
    // Work that nobody waits for is not done in the background either.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(index.seen).toBeLessThanOrEqual(3 * SLICE);
    explainer.close();
  });
});

test('taking in the claims goes on for who still waits', async () => {
  const index = await endless();
  const explainer = new HostnameExplainer(index, east);
  const [first, second] = [new AbortController(), new AbortController()];
  index.onSeen = (seen) => {
    if (seen === 2.5 * SLICE) first.abort(new Error('first gone'));
    if (seen === 5.5 * SLICE) second.abort(new Error('second gone'));
  };
  const question = { mesh: 'default', hostname: 'x.y' };
  const both = [explainer.explain(question, first.signal), explainer.explain(question, second.signal)];
  await expect(both[0]).rejects.toThrow('first gone');
  await expect(both[1]).rejects.toThrow('second gone');
  expect(index.seen).toBeGreaterThan(5 * SLICE);
  expect(index.seen).toBeLessThanOrEqual(6 * SLICE);
  explainer.close();
});
