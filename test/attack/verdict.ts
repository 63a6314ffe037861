import type { Write } from './load';
import type { Counts } from './tally';

/** When the parts of a run began and ended, by the clock of the writes. */
interface Phases {
  readonly began: number;
  readonly attackFrom: number;
  readonly attackUntil: number;
  readonly ended: number;
}

/** A control plane before and after. */
export interface PlaneFigures {
  readonly name: string;
  /** Resident memory at most, MB. */
  readonly peakMb: number;
  /** Terms led, and the epoch: an increase means that the lease was lost. */
  readonly termsBefore: number;
  readonly termsAfter: number;
  /** Whether the process ended by itself. */
  readonly fell: boolean;
}

/** Observations of a run. */
export interface Seen {
  readonly seconds: number;
  readonly phases: Phases;
  readonly writes: readonly Write[];
  /** Answered writes that a control plane does not hold in the end, in words. */
  readonly lost: readonly string[];
  readonly planes: readonly PlaneFigures[];
  readonly attacks: Counts;
}

/** Times of the normal load in one part of a run, ms. */
interface Propagation {
  readonly writes: number;
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Result of a run. */
export interface Verdict {
  readonly attack: 'all';
  readonly seconds: number;
  readonly before: Propagation;
  readonly during: Propagation;
  readonly after: Propagation;
  /** Time from the end of the attacks until writes were as fast as before, ms; absent if they never were. */
  readonly settledMs: number | undefined;
  readonly leasesLost: number;
  readonly writesLost: number;
  readonly peakMb: Readonly<Record<string, number>>;
  readonly attacks: Counts;
  /** Every bound that was broken, in words. */
  readonly broken: readonly string[];
}

/** Most resident memory of a control plane, MB. */
const MEMORY = 1_000;
const SETTLES = 30_000;

/** Checks a run. `times` selects whether durations are checked as well: on a busy host they are unreliable. */
export function judge(seen: Seen, times: boolean): Verdict {
  const { phases, writes, lost, planes, attacks } = seen;
  const within = (from: number, to: number): Propagation =>
    propagation(
      writes.filter(({ due }) => due >= from && due < to),
      phases.ended,
    );
  const before = within(phases.began, phases.attackFrom);
  const settledMs = settled(writes, phases, Math.max(4 * before.p99, 500));
  const leasesLost = planes.reduce(
    (sum, { termsBefore, termsAfter }) => sum + (termsAfter > termsBefore ? termsAfter - termsBefore : 0),
    0,
  );
  const broken = [
    ...planes.filter(({ peakMb }) => peakMb >= MEMORY).map(({ name, peakMb }) => `${name} grew to ${peakMb} MB`),
    ...planes.filter(({ fell }) => fell).map(({ name }) => `${name} ended`),
    ...planes
      .filter(({ termsBefore, termsAfter }) => Number.isNaN(termsAfter - termsBefore))
      .map(({ name }) => `${name} does not tell its epoch`),
    ...idle(attacks, times),
    ...(leasesLost > 0 ? [`${leasesLost} leases were lost`] : []),
    ...lost,
    ...Object.keys(attacks['BREACH'] ?? {}),
    ...(before.writes === 0 ? ['there was no load before the attack'] : []),
    ...(times && settledMs === undefined ? ['it was not as before when the run ended'] : []),
    ...(times && settledMs !== undefined && settledMs > SETTLES ? [`it took ${settledMs} ms to be as before`] : []),
  ];
  return {
    attack: 'all',
    seconds: seen.seconds,
    before,
    during: within(phases.attackFrom, phases.attackUntil),
    after: within(phases.attackUntil, phases.ended),
    settledMs,
    leasesLost,
    writesLost: lost.length,
    peakMb: Object.fromEntries(planes.map(({ name, peakMb }) => [name, peakMb])),
    attacks,
    broken,
  };
}

/** Attacks of which no blow was answered or refused: in a short run on a busy machine one or another comes too late, but not a fifth of them. */
function idle(attacks: Counts, all: boolean): readonly string[] {
  const names = Object.keys(attacks);
  const never = names.filter(
    (attack) => !Object.keys(attacks[attack] ?? {}).some((outcome) => !/DEADLINE_EXCEEDED/.test(outcome)),
  );
  return all || never.length > names.length / 5 ? never.map((attack) => `${attack} never struck`) : [];
}

/** A write that was never observed counts until now. */
function propagation(writes: readonly Write[], now: number): Propagation {
  const answered = writes.filter((write) => write.refused === undefined);
  const took = answered.map(({ due, seen }) => (seen ?? now) - due).sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round(took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0);
  const refused = writes.length - answered.length;
  return { writes: writes.length, refused, p50: at(0.5), p99: at(0.99), max: Math.round(took.at(-1) ?? 0) };
}

/** Until the last write that was due after the attacks and was slow or refused. */
function settled(writes: readonly Write[], { attackUntil }: Phases, slow: number): number | undefined {
  const after = writes.filter(({ due }) => due >= attackUntil);
  const late = after.filter(({ due, seen, refused }) => refused !== undefined || (seen ?? Infinity) - due > slow);
  const last = late.at(-1);
  if (after.length === 0 || (last !== undefined && last === after.at(-1))) return undefined;
  return last === undefined ? 0 : Math.round(Math.max(last.due, last.seen ?? last.due) - attackUntil);
}

/** The verdict as people read it. */
export function tableOf(verdict: Verdict): string {
  const row = (name: string, { writes, refused, p50, p99, max }: Propagation): string =>
    `| ${name} | ${writes} | ${refused} | ${p50} | ${p99} | ${max} |`;
  const reasons = Object.entries(verdict.attacks).map(([attack, outcomes]) => {
    const said = Object.entries(outcomes).sort(([, a], [, b]) => b - a);
    return `| ${attack} | ${said.map(([outcome, times]) => `${times}× ${outcome.replace(/\|/g, '/')}`).join('; ')} |`;
  });
  return [
    '| propagation, ms | writes | refused | p50 | p99 | max |',
    '| --- | --- | --- | --- | --- | --- |',
    row('before', verdict.before),
    row('during', verdict.during),
    row('after', verdict.after),
    '',
    `as before ${verdict.settledMs ?? 'never'} ms after the end; leases lost ${verdict.leasesLost}; writes lost ${verdict.writesLost}`,
    `peak memory, MB: ${Object.entries(verdict.peakMb)
      .map(([name, mb]) => `${name} ${mb}`)
      .join(', ')}`,
    '',
    '| attack | what became of it |',
    '| --- | --- |',
    ...reasons,
  ].join('\n');
}
