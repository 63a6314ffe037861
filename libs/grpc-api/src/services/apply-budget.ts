import { MAX_BATCH } from '@causeway/admission';
import type { ApplyRequest } from '@causeway/proto-gen';
import { Unavailable } from '@causeway/resources';
import { orAborted, withDeadline, type Clock } from '@causeway/runtime';
import { ExhaustedError } from '../calls/call-error';

/** Maximum bytes of documents of one call, and of all calls together while they are received. */
const MAX_PER_CALL = 32 * 1024 * 1024;
const MAX_IN_TOTAL = 64 * 1024 * 1024;

/** An Apply whose requests have all arrived. */
export interface ReceivedApply {
  /** The first message, which has the options. */
  readonly options: ApplyRequest;
  readonly documents: readonly string[];
}

/** Timeout for a client to send its documents, ms: it occupies shared memory. */
const RECEIVE_TIME = 60_000;

/** Receives the documents of Apply calls, and bounds what all of them hold and for how long. */
export class ApplyBudget {
  private held = 0;

  constructor(private readonly clock: Clock) {}

  /**
   * Receives everything a client sends until it closes its side, calls `use` with it, and releases the bytes when `use` ends.
   * Rejects with ExhaustedError if it is too large, with Unavailable if it takes longer than a minute, and with the signal's reason.
   */
  async receive<T>(
    requests: AsyncIterable<ApplyRequest>,
    signal: AbortSignal,
    use: (received: ReceivedApply) => Promise<T>,
  ): Promise<T> {
    const apply = { bytes: 0 };
    try {
      const tooLong = new Unavailable(`the documents of an Apply have to arrive within ${RECEIVE_TIME / 1_000} s`);
      const received = await withDeadline(this.clock, RECEIVE_TIME, tooLong, (late) =>
        this.collect(requests, apply, AbortSignal.any([signal, late])),
      );
      return await use(received);
    } finally {
      this.held -= apply.bytes;
    }
  }

  private async collect(
    requests: AsyncIterable<ApplyRequest>,
    apply: { bytes: number },
    stop: AbortSignal,
  ): Promise<ReceivedApply> {
    const documents: string[] = [];
    let options: ApplyRequest | undefined;
    const iterator = requests[Symbol.asyncIterator]();
    for (;;) {
      const next = await orAborted(iterator.next(), stop);
      if (next.done === true) return { options: options ?? NOTHING, documents };
      options ??= { ...next.value, documents: [] };
      for (const { json } of next.value.documents) {
        documents.push(json);
        apply.bytes += json.length;
        this.held += json.length;
      }
      check(documents.length, apply.bytes, this.held);
    }
  }
}

const NOTHING: ApplyRequest = { atomic: false, dryRun: false, mesh: '', etag: '', documents: [] };

function check(documents: number, bytes: number, held: number): void {
  if (documents > MAX_BATCH) throw new ExhaustedError(`an Apply may have ${MAX_BATCH} documents`);
  if (bytes > MAX_PER_CALL) throw new ExhaustedError(`the documents of an Apply may have ${MAX_PER_CALL} bytes`);
  if (held > MAX_IN_TOTAL) throw new ExhaustedError('other calls send very many documents now; try again');
}
