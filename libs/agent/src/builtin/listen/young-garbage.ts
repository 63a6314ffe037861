import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes that are read between two collections. V8 begins to mark its whole heap at 24 MB that were not given back. */
const MAX_UNCOLLECTED = 8 * 1024 * 1024;

type Collect = (options: { readonly type: 'minor' }) => void;

/**
 * Gives back the buffers of what was read. Node reads into a new buffer each time and V8 counts it as memory of the old generation, so that
 * traffic alone makes V8 mark the whole heap several times a second: a third of the CPU time, and pauses of tens of ms. The buffers are
 * young; a collection of the young generation frees them in less than a millisecond.
 */
export class YoungGarbage {
  private static collect: Collect | undefined;
  private uncollected = 0;

  /** So many bytes were read and passed on. */
  add(bytes: number): void {
    this.uncollected += bytes;
    if (this.uncollected < MAX_UNCOLLECTED) return;
    this.uncollected = 0;
    (YoungGarbage.collect ??= collector())({ type: 'minor' });
  }
}

/** V8's own collector, which Node does not export. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('gc');
  return isCollector(found) ? found : () => undefined;
}

function isCollector(value: unknown): value is Collect {
  return typeof value === 'function';
}
