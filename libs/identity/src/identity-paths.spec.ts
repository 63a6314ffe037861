import type { SpiffePathForm } from '@causeway/naming';
import { computeNextStep, presetPath, type PathStep, type StepFacts } from './identity-paths';

const [HOUR, DAY] = [3_600_000, 86_400_000];
const base: StepFacts = {
  wanted: 'Namespaced',
  now: 1_000,
  announced: HOUR,
  ended: DAY,
  areReplicasReady: true,
  isHeld: false,
  isConcerned: true,
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
    expect(computeNextStep(before, { ...base, ...facts })).toEqual(want);
  });

  it('believe both forms in each step, and one between changes', () => {
    expect(presetPath(undefined)).toEqual({ signs: 'Workload', accepts: ['Workload'] });
    expect(presetPath(announcing(0))).toEqual({ signs: 'Workload', accepts: ['Workload', 'Namespaced'] });
    expect(presetPath(retiring(0))).toEqual({ signs: 'Namespaced', accepts: ['Namespaced', 'Workload'] });
    expect(presetPath(NEW)).toEqual({ signs: 'Namespaced', accepts: ['Namespaced'] });
  });
});
