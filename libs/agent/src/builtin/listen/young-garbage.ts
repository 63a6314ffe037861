import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes read between two collections. V8 starts to mark its whole heap after 24 MB of uncollected buffers. */
const MAX_UNCOLLECTED = 8 * 1024 * 1024;

type Collect = (options: { readonly type: 'minor' }) => void;

/**
 * Collects read buffers early. Node reads into a new buffer each time, which V8 counts as old-generation memory:
 * traffic alone makes V8 mark the whole heap several times a second (a third of the CPU time, pauses of tens of ms). A
 * young-generation collection frees these buffers in less than 1 ms.
 */
export class YoungGarbage {
  private static collect: Collect | undefined;
  private uncollected = 0;

  /** Counts bytes read and forwarded; collects when they reach the threshold. */
  add(bytes: number): void {
    this.uncollected += bytes;
    if (this.uncollected < MAX_UNCOLLECTED) return;
    this.uncollected = 0;
    (YoungGarbage.collect ??= collector())({ type: 'minor' });
  }
}

/** Returns V8's own collector, which Node does not export. */
function collector(): Collect {
  setFlagsFromString('--expose-gc');
  const found: unknown = runInNewContext('gc');
  return isCollector(found) ? found : () => undefined;
}

function isCollector(value: unknown): value is Collect {
  return typeof value === 'function';
}
