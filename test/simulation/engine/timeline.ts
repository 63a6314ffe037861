/** Something that happens at a time; `cancel` before then and it does not. */
export interface TimelineEvent {
  readonly at: number;
  cancel(): void;
}

interface Entry extends TimelineEvent {
  readonly order: number;
  action: (() => void) | undefined;
}

/**
 * Simulated time in whole ms and all that will happen in it, in order of time and then of planning. Between two events
 * everything asynchronous has come to rest, so one event is one step of the whole world.
 */
export class Timeline {
  now = 0;
  /** Events that have happened. */
  steps = 0;
  private ordered = 0;
  private readonly heap: Entry[] = [];

  /** Events that will happen, those that were cancelled left out. */
  get planned(): number {
    return this.heap.reduce((sum, { action }) => sum + (action ? 1 : 0), 0);
  }

  at(time: number, action: () => void): TimelineEvent {
    const entry: Entry = {
      at: Math.max(this.now, Math.ceil(time)),
      order: this.ordered++,
      action,
      cancel: () => (entry.action = undefined),
    };
    this.push(entry);
    return entry;
  }

  after(ms: number, action: () => void): TimelineEvent {
    return this.at(this.now + ms, action);
  }

  /** Runs all events up to `time`, or until `stop` returns true. */
  async runUntil(time: number, stop: () => boolean): Promise<void> {
    await atRest();
    for (let next = this.heap[0]; next && next.at <= time && !stop(); next = this.heap[0]) {
      this.pop();
      const { action } = next;
      if (!action) continue;
      this.now = next.at;
      this.steps++;
      next.action = undefined;
      action();
      await atRest();
    }
    if (!stop()) this.now = Math.max(this.now, time);
  }

  private push(entry: Entry): void {
    const { heap } = this;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(entry, heap[parent])) break;
      swap(heap, at, parent);
      at = parent;
    }
  }

  private pop(): void {
    const { heap } = this;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    heap[0] = last;
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const child = isBefore(heap[left + 1], heap[left]) ? left + 1 : left;
      if (!isBefore(heap[child], last)) return;
      swap(heap, at, child);
      at = child;
    }
  }
}

/**
 * Resolves when nothing is left to do without time passing: Node runs a tick only when no promise is left to settle.
 * (A task of the event loop would do as well, at many times the cost.)
 */
function atRest(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

function isBefore(a: Entry | undefined, b: Entry | undefined): boolean {
  if (!a || !b) return a !== undefined;
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function swap(heap: Entry[], a: number, b: number): void {
  const [first, second] = [heap[a], heap[b]];
  if (!first || !second) return;
  heap[a] = second;
  heap[b] = first;
}
