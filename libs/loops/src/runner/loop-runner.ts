import {
  Backoff,
  BusyPacer,
  errorText,
  orAborted,
  type Clock,
  type Logger,
  type LeaderTerm,
  type Tracer,
} from '@causeway/runtime';
import { Unavailable } from '@causeway/resources';
import {
  Fenced,
  type Fence,
  type IndexEvent,
  type IndexReader,
  type ResourceStore,
  type WriteRequest,
  type WriteResult,
} from '@causeway/store';
import type { ControlLoop, LoopPlan } from './control-loop';
import { CreationWriter } from './creation-writer';
import { joinPlans } from './joint-write';
import { LoopTraces } from './loop-traces';
import { countResults, LoopState, type RunnerStats } from './loop-state';
import { SharedMutex } from './shared-mutex';

/** Options of a runner, which lives for one term of a leader. */
export interface RunnerOptions {
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly term: LeaderTerm;
  /** Interval of full resyncs, ms; default 10 minutes. */
  readonly resyncEvery?: number;
  /** A number 0 ≤ x < 1, for jitter; default Math.random. Simulations set it. */
  readonly random?: () => number;
  readonly tracer?: Tracer | undefined;
}

/** While users write continuously, the loops' writes are made every 20 ms. */
const PACE = { burst: 8, interval: 20 };
/** Number of changes from which a write is large enough for its own statement. */
const LARGE_WRITE = 100;

interface LoopWithPlan {
  readonly state: LoopState;
  readonly plan: LoopPlan;
}

/**
 * Runs control loops for one term of a leader (docs/design.md §3, §4). One turn: every loop plans, one fenced write carries all plans, the index
 * catches up with that write, each loop gets its results. `step` makes at most one write, so that a simulation can drive the runner; `run` steps
 * until the term ends. No loop plans before the index contains everything that the store contained when the epoch began.
 */
export class LoopRunner {
  readonly stats: RunnerStats = { loops: {}, starts: 0, resyncs: 0, unavailable: 0 };
  private readonly states: readonly LoopState[];
  private readonly unsubscribe: () => void;
  private readonly waiting = new Set<() => void>();
  private readonly traces: LoopTraces;
  private readonly creations: CreationWriter;
  /**
   * Turns of the loops are exclusive, creations by others are shared: what creations reserve is in the index before the loops plan, or start anew.
   */
  private readonly turns = new SharedMutex();
  private started = false;
  /** Whether the last joint write failed although the store was available: loops then write one by one. */
  private separately = false;
  private events = 0;
  private reloads = 0;
  private seenEvents = 0;
  private checkedEvents = -1;
  private nextResync = 0;
  /** Whether the last turn wrote a few changes and completed all work. */
  private wroteLittle = false;

  constructor(
    loops: readonly ControlLoop[],
    private readonly options: RunnerOptions,
  ) {
    this.states = loops.map((loop) => new LoopState(loop, this.newBackoff()));
    for (const { loop, stats } of this.states) this.stats.loops[loop.name] = stats;
    this.traces = new LoopTraces(options);
    this.creations = new CreationWriter({
      ...options,
      turns: this.turns,
      states: this.states,
      onError: (state, error) => {
        this.backOff(state, error);
        this.reset(state);
      },
      isStarted: () => this.started,
      reached: (revision) => this.reached(revision),
      onUnknownEnd: () => this.startAnew(),
    });
    this.unsubscribe = options.index.subscribe((event) => this.observe(event));
  }

  /** The next time at which a loop has work without an event (ms since 1970); undefined if no loop has. */
  get nextWake(): number | undefined {
    const now = this.options.clock.now();
    const times = this.states.flatMap((state) => state.nextTurn(now) ?? []);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /**
   * Starts the loops, or writes their plans once. Returns false if no loop has work now. Throws Fenced if another replica leads, Unavailable if the
   * store is away (the next step starts over), and the reason of the signal when the term has ended.
   */
  async step(): Promise<boolean> {
    if (!this.started) {
      await this.turns.runExclusive(() => this.start());
      return true;
    }
    if (await this.turns.runExclusive(() => this.pass())) return true;
    if (this.options.clock.now() < this.nextResync) return false;
    return this.turns.runExclusive(async () => {
      await this.resync();
      return this.pass();
    });
  }

  /**
   * Writes changes that no loop planned, such as copies and those of users: a resource that they create gets, in the same write, what the loops give
   * it. Such a write is made with the leader's fence; if another replica leads, a request without a fence is written as it is. Throws as the store
   * does.
   */
  write(request: WriteRequest): Promise<WriteResult> {
    return this.creations.write(request);
  }

  /** Steps until the term's signal aborts or another replica leads; never rejects. */
  async run(): Promise<void> {
    const { term, clock, logger } = this.options;
    const backoff = this.newBackoff();
    const pacer = new BusyPacer(clock, PACE);
    while (!term.signal.aborted) {
      try {
        await this.turn(pacer);
        backoff.reset();
      } catch (error) {
        if (term.signal.aborted) break;
        if (error instanceof Fenced) {
          logger.warn('another leader writes, ending the term', { epoch: term.epoch, error: error.message });
          break;
        }
        logger.warn('control loops wait for the store', { error: errorText(error) });
        await clock.sleep(backoff.next(), term.signal);
      }
    }
    this.close();
  }

  /** Makes a step, and pauses if there is no work, or if many small steps follow each other. */
  private async turn(pacer: BusyPacer): Promise<void> {
    const { clock, term } = this.options;
    pacer.begin();
    if (!(await this.step())) {
      pacer.rest();
      await this.idle();
    } else if (this.wroteLittle && pacer.delay > 0) {
      await clock.sleep(pacer.delay, term.signal);
    }
  }

  /** Unsubscribes from the index; `run` does so at its end. */
  close(): void {
    this.started = false;
    this.unsubscribe();
  }

  private async start(): Promise<void> {
    const { reloads } = this;
    const head = await this.orTermEnd(this.options.store.head());
    // An index that was loaded meanwhile may be of a newer incarnation than this head: the next step reads the head again.
    await this.until(
      ({ point }) =>
        this.reloads !== reloads || (point?.incarnation === head.incarnation && point.revision >= head.revision),
    );
    if (this.reloads !== reloads) return;
    for (const { loop } of this.states) {
      if (loop.metadataArea !== undefined)
        loop.restore?.(await this.orTermEnd(this.options.store.listMetadata(loop.metadataArea)));
    }
    await this.resetAll();
    if (this.reloads !== reloads) return;
    this.started = true;
    this.stats.starts += 1;
    this.separately = false;
  }

  /** Resets every loop, with a round trip to the store after each: a busy leader must still renew its lease. */
  private async resetAll(): Promise<void> {
    this.nextResync = this.options.clock.now() + (this.options.resyncEvery ?? 600_000);
    for (const state of this.states) {
      this.reset(state);
      await this.assertLeading();
    }
  }

  private async assertLeading(): Promise<void> {
    await this.orTermEnd(this.options.store.write({ changes: [], onRefusal: 'skip', fence: this.fence }));
  }

  private get fence(): Fence {
    const { epoch, holder } = this.options.term;
    return { epoch, holder };
  }

  private reset(state: LoopState): void {
    state.wakeAt = undefined;
    state.ready = true;
    try {
      state.loop.reset(this.options.index);
    } catch (error) {
      this.backOff(state, error);
    }
  }

  /** Resets all loops. A change that they plan without an event was missed by the incremental path, and is counted. */
  private async resync(): Promise<void> {
    this.stats.resyncs += 1;
    this.checkedEvents = this.events;
    await this.resetAll();
  }

  /** Runs one turn of all loops together, or of one after the other while joint writes fail. */
  private async pass(): Promise<boolean> {
    this.seenEvents = this.events;
    const turns = this.separately ? this.states.map((state) => [state]) : [this.states];
    for (const states of turns) if (await this.runTogether(states)) return true;
    this.checkedEvents = -1;
    this.separately = false;
    return false;
  }

  private async runTogether(states: readonly LoopState[]): Promise<boolean> {
    this.wroteLittle = false;
    const now = this.options.clock.now();
    const wanted = states.filter((state) => !state.isBackedOff(now)).flatMap((state) => this.findPlan(state) ?? []);
    if (wanted.length === 0) return false;
    const plans = wanted.filter(({ plan }) => !isEmpty(plan));
    if (plans.length === 0) {
      await this.assertLeading();
      return true;
    }
    if (this.checkedEvents === this.events) for (const { state, plan } of plans) this.countDifferences(state, plan);
    try {
      await this.writePlans(plans);
      this.wroteLittle = wanted.every(({ plan }) => plan.more !== true && plan.changes.length < LARGE_WRITE);
    } catch (error) {
      this.rethrowUnlessBug(error);
      this.failed(plans, error);
    }
    return true;
  }

  private findPlan(state: LoopState): LoopWithPlan | undefined {
    const { clock } = this.options;
    try {
      const plan = state.loop.plan(clock.now(), clock.elapsed());
      state.stats.plans += 1;
      state.wakeAt = plan?.wakeAt;
      return plan && (plan.more === true || !isEmpty(plan)) ? { state, plan } : undefined;
    } catch (error) {
      this.backOff(state, error);
      this.reset(state);
      return undefined;
    }
  }

  private async writePlans(planned: readonly LoopWithPlan[]): Promise<void> {
    const joint = joinPlans(
      planned.map(({ plan }) => plan),
      this.options.index,
    );
    const traces = this.traces.begin(planned);
    const { changes, metadata } = joint;
    const write = this.creations.writeInTurn({ changes, metadata, onRefusal: 'skip', fence: this.fence });
    const result = await this.orTermEnd(write);
    if (!this.started) return;
    planned.forEach(({ state, plan }, place) => {
      const answer = joint.getPlanResult(place, result);
      const written = countResults(state.stats, answer);
      traces?.end(place, answer);
      state.loop.onWritten(plan.changes, answer);
      state.wrote(plan.changes.length === answer.deferred || written > 0, this.options.clock.now());
    });
  }

  /** Makes the loops start from the head of the store. */
  private startAnew(): void {
    this.started = false;
    this.wake();
  }

  /** Resolves when the index contains a write, or the loops must start anew. */
  private reached(revision: number): Promise<void> {
    return this.until(({ point }) => !this.started || (point !== undefined && point.revision >= revision));
  }

  /** The error of a joint write does not name the plan at fault: the loops retry one by one. */
  private failed(planned: readonly LoopWithPlan[], error: unknown): void {
    this.separately = planned.length > 1 || this.separately;
    for (const { state } of planned) {
      if (planned.length === 1) this.backOff(state, error);
      this.reset(state);
    }
  }

  private backOff(state: LoopState, error: unknown): void {
    state.failed(this.options.clock.now());
    const stack = error instanceof Error ? error.stack : undefined;
    this.options.logger.error('a control loop failed, trying again', {
      loop: state.loop.name,
      error: errorText(error),
      stack,
    });
  }

  private rethrowUnlessBug(error: unknown): void {
    if (this.options.term.signal.aborted || error instanceof Fenced) throw error;
    if (!(error instanceof Unavailable)) return;
    this.stats.unavailable += 1;
    this.started = false;
    throw error;
  }

  private countDifferences(state: LoopState, plan: LoopPlan): void {
    state.stats.differences += plan.changes.length;
    const { logger } = this.options;
    logger.warn('a resync found work that events had not shown', {
      loop: state.loop.name,
      changes: plan.changes.length,
    });
  }

  private observe(event: IndexEvent): void {
    this.events += 1;
    if (event.reloaded) {
      this.reloads += 1;
      this.started = false;
      for (const state of this.states) state.ready = false;
    }
    for (const state of this.states) if (state.ready) state.loop.observe(event);
    this.wake();
  }

  private wake(): void {
    for (const wake of [...this.waiting]) wake();
  }

  private async until(holds: (index: IndexReader) => boolean): Promise<void> {
    while (!holds(this.options.index)) await this.nextEvent();
  }

  private async idle(): Promise<void> {
    if (this.seenEvents !== this.events) return;
    const wake = Math.min(this.nextWake ?? Infinity, this.nextResync);
    await this.nextEvent(wake);
  }

  /** Resolves at the next index event, or at the time `at`; rejects when the term ends. */
  private async nextEvent(at?: number): Promise<void> {
    const { clock, term } = this.options;
    let wake = (): void => undefined;
    const event = new Promise<void>((resolve) => (wake = resolve));
    this.waiting.add(wake);
    const timer = at === undefined ? undefined : clock.after(Math.max(0, at - clock.now()), wake);
    try {
      await orAborted(event, term.signal);
    } finally {
      timer?.cancel();
      this.waiting.delete(wake);
    }
  }

  private orTermEnd<T>(work: Promise<T>): Promise<T> {
    return orAborted(work, this.options.term.signal);
  }

  private newBackoff(): Backoff {
    const { random } = this.options;
    return new Backoff({ base: 20, cap: 5_000, ...(random ? { random } : {}) });
  }
}

function isEmpty({ changes, metadata = [] }: LoopPlan): boolean {
  return changes.length + metadata.length === 0;
}
