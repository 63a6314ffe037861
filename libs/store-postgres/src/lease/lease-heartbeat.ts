/** The reason why a worker stopped renewing. */
export type HeartbeatEnd = 'stalled' | 'refused';

/** Indexes into the shared memory: instants in ns of the host's monotonic clock, which is the same in all threads. */
const [BEAT, RENEWED, END] = [0, 1, 2];
const ENDS: readonly (HeartbeatEnd | undefined)[] = [undefined, 'stalled', 'refused'];

/**
 * The state that the event loop and the thread that renews its lease share: three words of shared memory, read and
 * written without waiting, so that each side sees the other's words while messages are delayed.
 */
export class LeaseHeartbeat {
  private readonly words: BigInt64Array;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.words = new BigInt64Array(memory);
  }

  /** Records that the event loop is alive. */
  beat(): void {
    Atomics.store(this.words, BEAT, process.hrtime.bigint());
  }

  /** Records that a renewal that was requested at `asked` (`LeaseHeartbeat.now`) is granted. */
  renewed(asked: bigint): void {
    Atomics.store(this.words, RENEWED, asked);
  }

  /** Records that the worker stops. Called before it releases the lease, so that the event loop does not learn of it later than others. */
  end(why: HeartbeatEnd): void {
    Atomics.store(this.words, END, BigInt(ENDS.indexOf(why)));
  }

  /** Returns the time since the last heartbeat of the event loop, ms. */
  sinceBeat(): number {
    return since(Atomics.load(this.words, BEAT));
  }

  /** Returns the time since the newest granted renewal was requested, ms; Infinity before the first. */
  sinceRenewal(): number {
    const at = Atomics.load(this.words, RENEWED);
    return at === 0n ? Infinity : since(at);
  }

  ended(): HeartbeatEnd | undefined {
    return ENDS[Number(Atomics.load(this.words, END))];
  }

  static now(): bigint {
    return process.hrtime.bigint();
  }
}

function since(moment: bigint): number {
  return Number(process.hrtime.bigint() - moment) / 1e6;
}
