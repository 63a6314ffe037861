import { type Clock, errorText, type Logger, sleepUntilTick } from '@causeway/runtime';
import { waitUntilCaughtUp, type IndexReader, type ResourceStore } from '@causeway/store';
import { UPGRADE_ENTRY } from './kept-secrets-loop';

/** Interval of the checks of the entry, ms: any replica may lead, and metadata entries are not in the log. */
const POLL_INTERVAL = 1_000;

/** Sources that the lookup reads. */
export interface UpgradedSecretsOptions {
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Whether a leader of this version has recorded the earlier users of Secrets. A replica of this version may serve proxies beside a leader of the
 * previous version, which records nothing: until then earlier uses stay permitted.
 */
export class UpgradedSecrets {
  private done = false;
  private readonly stopped = new AbortController();

  constructor(private readonly options: UpgradedSecretsOptions) {}

  isDone(): boolean {
    return this.done;
  }

  /** Polls for the entry until it exists, or until `close`. Never rejects. */
  async run(): Promise<void> {
    const { store, index, clock, logger } = this.options;
    const { signal } = this.stopped;
    while (!this.done && !signal.aborted) {
      try {
        if (await store.readMetadata(UPGRADE_ENTRY.area, UPGRADE_ENTRY.key)) {
          // The index must contain the lists that were written before the entry.
          await waitUntilCaughtUp(store, index, signal);
          this.done = true;
          return;
        }
      } catch (error) {
        if (!signal.aborted)
          logger.warn('it cannot be read whether Secrets list their users', { error: errorText(error) });
      }
      await sleepUntilTick(clock, POLL_INTERVAL, signal);
    }
  }

  close(): void {
    this.stopped.abort();
  }
}
