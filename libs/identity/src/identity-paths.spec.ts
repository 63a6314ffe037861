import { changingPrefixes, formerId, namespacedIds, revokedIds } from '@causeway/naming';
import type { SpiffePathForm } from '@causeway/naming';
import { nextStep, presetPath, type PathStep, type StepFacts } from './identity-paths';

const [HOUR, DAY] = [3_600_000, 86_400_000];
const base: StepFacts = {
  ...{ wanted: 'Namespaced', now: 1_000, announced: HOUR, ended: DAY },
  ...{ areReplicasReady: true, isHeld: false, isConcerned: true },
};
const OLD: PathStep = { signs: 'Workload' };
const NEW: PathStep = { signs: 'Namespaced' };
const announcing = (until: number, signs: SpiffePathForm = 'Workload'): PathStep => ({
  signs,
  step: 'Announcing',
  until,
});
const retiring = (until: number, signs: SpiffePathForm = 'Namespaced'): PathStep => ({
  signs,
  step: 'Retiring',
  until,
});

describe('the steps in which the form of ids changes', () => {
  it.each<[string, PathStep, Partial<StepFacts>, PathStep]>([
    ['nothing is asked for', OLD, { wanted: 'Workload' }, OLD],
    ['the other form is announced first', OLD, {}, announcing(1_000 + HOUR)],
    ['not before it is known that all replicas know it', OLD, { areReplicasReady: undefined }, OLD],
    ['nor while one does not', OLD, { areReplicasReady: false }, OLD],
    ['announced until its time', announcing(2_000), {}, announcing(2_000)],
    ['then certificates are signed for it', announcing(1_000), {}, retiring(1_000 + DAY)],
    ['not while another zone cannot learn of it', announcing(1_000), { isHeld: true }, announcing(1_000)],
    ['nor while an older replica is there', announcing(1_000), { areReplicasReady: false }, announcing(1_000)],
    ['taken back before anything was signed', announcing(2_000), { wanted: 'Workload' }, OLD],
    ['both are believed until the last certificate has ended', retiring(2_000), {}, retiring(2_000)],
    ['then the other one only', retiring(1_000), {}, NEW],
    [
      'taken back: the other way, for as long',
      retiring(2_000),
      { wanted: 'Workload' },
      retiring(1_000 + DAY, 'Workload'),
    ],
    ['taken back later: announced again', NEW, { wanted: 'Workload' }, announcing(1_000 + HOUR, 'Namespaced')],
    ['an older replica came back: it signs as before', NEW, { areReplicasReady: false }, retiring(1_000 + DAY)],
    [
      'which is written once a minute',
      retiring(1_000 + DAY - 1_000),
      { areReplicasReady: false },
      retiring(1_000 + DAY - 1_000),
    ],
    [
      'nobody is concerned: no step waits',
      announcing(2_000),
      { isConcerned: false, isHeld: true },
      retiring(1_000 + DAY),
    ],
    ['nobody is concerned: nothing is to end', retiring(2_000), { isConcerned: false }, NEW],
  ])('%s', (_, before, facts, want) => {
    expect(nextStep(before, { ...base, ...facts })).toEqual(want);
  });

  it('believe both forms in each step, and one between changes', () => {
    expect(presetPath(undefined)).toEqual({ signs: 'Workload', accepts: ['Workload'] });
    expect(presetPath(announcing(0))).toEqual({ signs: 'Workload', accepts: ['Workload', 'Namespaced'] });
    expect(presetPath(retiring(0))).toEqual({ signs: 'Namespaced', accepts: ['Namespaced', 'Workload'] });
    expect(presetPath(NEW)).toEqual({ signs: 'Namespaced', accepts: ['Namespaced'] });
  });
});

describe('the other form of an id', () => {
  const changing = [{ domains: ['default.east.mesh.local'], namespaces: ['dev', 'shop'] }];
  const east = (path: string): string => `spiffe://default.east.mesh.local${path}`;

  it('is that of each namespace that changes, in the trust domains of the zone only', () => {
    expect(namespacedIds(east('/workload/web'), changing)).toEqual([
      east('/ns/dev/workload/web'),
      east('/ns/shop/workload/web'),
    ]);
    const others = ['spiffe://default.west.mesh.local/workload/web', east('/workload/web/x'), east('/zone-egress')];
    for (const other of others) expect(namespacedIds(other, changing)).toEqual([]);
    expect(namespacedIds(east('/workload/web'), [])).toEqual([]);
  });

  it('is the one without a namespace, of the namespaces that change', () => {
    expect(formerId(east('/ns/shop/workload/web'), changing)).toEqual({
      namespace: 'shop',
      uri: east('/workload/web'),
    });
    for (const other of ['/ns/other/workload/web', '/workload/web', '/ns/shop/sa/web'])
      expect(formerId(east(other), changing)).toBeUndefined();
  });

  it('of a prefix is what lies below it in the other form', () => {
    const workloads = east('/workload/');
    const none = { namespaced: [], former: [] };
    expect(changingPrefixes(east('/'), changing)).toEqual(none);
    expect(changingPrefixes(east('/workload/web/'), changing)).toEqual(none);
    expect(changingPrefixes(workloads, changing).namespaced).toEqual([
      east('/ns/dev/workload/'),
      east('/ns/shop/workload/'),
    ]);
    expect(changingPrefixes(east('/ns/shop/'), changing).former).toEqual([{ prefix: workloads, namespaces: ['shop'] }]);
    expect(changingPrefixes(east('/ns/'), changing).former).toEqual([
      { prefix: workloads, namespaces: ['dev', 'shop'] },
    ]);
  });

  it('is revoked with the one that the settings of a mesh name', () => {
    const revoked = [east('/workload/web')];
    expect(revokedIds(revoked, [])).toBe(revoked);
    expect(revokedIds(revoked, changing)).toEqual([
      east('/ns/dev/workload/web'),
      east('/ns/shop/workload/web'),
      east('/workload/web'),
    ]);
  });
});
