import { applyDefaults, applyShipped } from '@causeway/admission';
import { aborted, afterTick, errorText, type LeaderTerm, type Timer } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';
import type { PostgresBackend } from '@causeway/store-postgres';
import type { ControlPlaneCore } from '../core.module';

/** Minimum retention of tombstones, ms (docs/design.md §2.3). */
const TOMBSTONE_RETENTION = 24 * 3_600_000;
/** Interval of a leader's periodic tasks, ms. */
const TASK_INTERVAL = 3_600_000;

/** Interval at which the audit log is trimmed, ms: in between it may exceed its limit. */
const AUDIT_INTERVAL = 60_000;

/** Maximum share of refusals in the audit log. */
const REFUSALS = 0.2;

/** Task of a leader at the start of its term and periodically after it. */
export interface PeriodicTask {
  /** Log message of a failure. */
  readonly failure: string;
  /** Delay from its end to its next start, ms; an hour if absent. */
  readonly every?: number;
  run(): Promise<unknown>;
}

/** Further tasks of the leader of one kind of control plane. */
export interface MaintenanceOptions {
  readonly tasks?: readonly PeriodicTask[];
  /** Returns the minimum age of a removed tombstone, ms; a day unless given. */
  readonly retention?: () => number;
}

/**
 * Maintains the store as leader of any control plane: writes the defaults at the first start, then runs periodic tasks
 * until the term ends, among them purging tombstones and trimming the audit log. A failed task is logged and retried at
 * its next time.
 */
export async function maintainStore(
  core: ControlPlaneCore,
  backend: PostgresBackend,
  term: LeaderTerm,
  { tasks = [], retention = () => TOMBSTONE_RETENTION }: MaintenanceOptions = {},
): Promise<void> {
  const { clock, cp } = core;
  const { store } = backend;
  await applyShipped({ store, controlPlane: cp, fence: term });
  await applyDefaults({ store, controlPlane: cp, clock, fence: term });
  const purge: PeriodicTask = {
    failure: 'old tombstones could not be removed',
    run: () => store.purgeTombstones(retention()),
  };
  await runPeriodically(core, term.signal, [...tasks, purge, auditTask(core, backend)]);
}

function auditTask({ settings }: ControlPlaneCore, { audit }: PostgresBackend): PeriodicTask {
  const { CAUSEWAY_AUDIT_RETENTION: age, CAUSEWAY_AUDIT_ENTRIES: entries } = settings;
  const bounds = { age, entries, refusals: Math.ceil(entries * REFUSALS) };
  const failure = 'the audit log could not be cut';
  return { failure, every: AUDIT_INTERVAL, run: () => audit.purge(bounds) };
}

/**
 * Runs each task immediately and again some time after its end; resolves when the signal has aborted and no task is
 * running.
 */
export async function runPeriodically(
  { clock, logger }: Pick<ControlPlaneCore, 'clock' | 'logger'>,
  signal: AbortSignal,
  tasks: readonly PeriodicTask[],
): Promise<void> {
  const waiting = new Map<PeriodicTask, Timer>();
  const underWay = new Set<Promise<void>>();
  const begin = (task: PeriodicTask): void => {
    waiting.delete(task);
    const work = task
      .run()
      .catch((error: unknown) => logger.warn(task.failure, { error: errorText(error) }))
      .then(() => {
        underWay.delete(work);
        if (!signal.aborted)
          waiting.set(
            task,
            afterTick(clock, task.every ?? TASK_INTERVAL, () => begin(task)),
          );
      });
    underWay.add(work);
  };
  if (!signal.aborted) tasks.forEach(begin);
  await aborted(signal);
  for (const timer of waiting.values()) timer.cancel();
  await Promise.all(underWay);
}

/** State that determines whether the defaults exist. */
interface DefaultsSource {
  readonly store: Pick<ResourceStore, 'listMetadata'>;
  readonly index: IndexReader;
  /** Aborts when the program shuts down, which ends the polling. */
  readonly shutdown: AbortSignal;
}

/**
 * Returns a check that gives a reason while no leader, here or elsewhere, has written the defaults: a mesh without them
 * would refuse the first services.
 */
export function defaultsReadiness({ store, index, shutdown }: DefaultsSource): () => string | undefined {
  let written = false;
  const checkDefaults = async (): Promise<void> => {
    if (written || shutdown.aborted) return;
    written = (await store.listMetadata('defaults').catch(() => [])).length > 0;
    if (written) unsubscribe();
  };
  const unsubscribe = index.subscribe(() => void checkDefaults());
  void checkDefaults();
  return () => {
    if (written) return undefined;
    // The database did not answer this time, and the index may be outdated from now on.
    void checkDefaults();
    return 'no leader has written the default resources yet';
  };
}
