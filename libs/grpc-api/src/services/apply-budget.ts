import { MAX_BATCH } from '@causeway/admission';
import type { ApplyRequest } from '@causeway/proto-gen';
import { ExhaustedError } from '../calls/call-error';

/** Bytes of documents that one call may send, and that all calls together may hold while they are received. */
const MOST_OF_CALL = 32 * 1024 * 1024;
const MOST_OF_ALL = 64 * 1024 * 1024;

/** An Apply whose requests have all arrived. */
export interface ReceivedApply {
  /** The first message, which has the options. */
  readonly options: ApplyRequest;
  readonly documents: readonly string[];
}

/** Receives the documents of Apply calls, and bounds what all of them hold. */
export class ApplyBudget {
  private held = 0;

  /**
   * Calls `use` with all that a client sends until it closes its side, and holds its bytes until `use` has ended. Rejects with
   * ExhaustedError where that is too much.
   */
  async receive<T>(requests: AsyncIterable<ApplyRequest>, use: (received: ReceivedApply) => Promise<T>): Promise<T> {
    const documents: string[] = [];
    let options: ApplyRequest | undefined;
    let bytes = 0;
    try {
      for await (const request of requests) {
        options ??= { ...request, documents: [] };
        for (const { json } of request.documents) {
          documents.push(json);
          bytes += json.length;
          this.held += json.length;
        }
        check(documents.length, bytes, this.held);
      }
      return await use({ options: options ?? NOTHING, documents });
    } finally {
      this.held -= bytes;
    }
  }
}

const NOTHING: ApplyRequest = { atomic: false, dryRun: false, mesh: '', etag: '', documents: [] };

function check(documents: number, bytes: number, held: number): void {
  if (documents > MAX_BATCH) throw new ExhaustedError(`an Apply may have ${MAX_BATCH} documents`);
  if (bytes > MOST_OF_CALL) throw new ExhaustedError(`the documents of an Apply may have ${MOST_OF_CALL} bytes`);
  if (held > MOST_OF_ALL) throw new ExhaustedError('other calls send very many documents now; try again');
}
