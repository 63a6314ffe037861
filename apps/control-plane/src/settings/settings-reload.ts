import { afterTick, type Clock, type Logger, type Settings, type Timer } from '@causeway/runtime';
import type { SharedSettings } from './settings';

/** Interval of the checks, ms. Files are read again, not watched: mounted secrets are symbolic links that are swapped. */
const CHECK_INTERVAL = 5_000;

/** Current settings, or their problems. */
export type RereadSettings<S extends SharedSettings = SharedSettings> =
  { readonly ok: true; readonly values: S } | { readonly ok: false; readonly problems: readonly string[] };

/** Dependencies of a `SettingsReload`. */
export interface SettingsReloadParts<S extends SharedSettings> {
  readonly settings: Settings;
  readonly values: S;
  /** Reads all sources again; the same object means the same settings. */
  readonly reread: () => RereadSettings<S>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Applies changes of reloadable settings while the program runs, every five seconds and at each `check`. An invalid
 * source changes nothing and is logged once; changes of other settings are logged as waiting for a restart.
 */
export class SettingsReload<S extends SharedSettings = SharedSettings> {
  private readonly listeners = new Map<string, (values: S) => void>();
  private readonly checked = new Set<() => void>();
  private inUse: S;
  private lastRead: RereadSettings<S> | undefined;
  private lastFault = '';
  private timer: Timer | undefined;

  constructor(private readonly parts: SettingsReloadParts<S>) {
    this.inUse = parts.values;
    this.schedule();
  }

  /** Calls `listener`, which must log the change, with each new value of the setting. One listener per setting. */
  on<K extends keyof S & string>(name: K, listener: (value: S[K]) => void): void {
    this.listeners.set(name, (values) => listener(values[name]));
  }

  /** Calls `listener`, which must never throw, at each check until the returned function is called: it reads the file that a setting names. */
  onCheck(listener: () => void): () => void {
    this.checked.add(listener);
    return () => void this.checked.delete(listener);
  }

  /** Reads all sources immediately. */
  check(): void {
    this.takeValues();
    for (const listener of this.checked) listener();
  }

  /** Ends the checks. */
  close(): void {
    this.timer?.cancel();
  }

  private takeValues(): void {
    const { logger } = this.parts;
    const read = this.parts.reread();
    if (read === this.lastRead) return;
    this.lastRead = read;
    const fault = read.ok ? '' : read.problems.join('; ');
    if (fault !== '' && fault !== this.lastFault)
      logger.error('changed settings were refused, the former ones stay in use', { reason: fault });
    this.lastFault = fault;
    if (!read.ok) return;
    const [before, after] = [this.inUse, read.values].map((values) => new Map<string, unknown>(Object.entries(values)));
    this.inUse = read.values;
    for (const [name, { secret, reload }] of Object.entries(this.parts.settings)) {
      const [was, is] = [before?.get(name), after?.get(name)];
      if (JSON.stringify(was) === JSON.stringify(is)) continue;
      if (reload === 'value') this.listeners.get(name)?.(read.values);
      else {
        const fields = { setting: name, ...(!secret && { from: was, to: is }) };
        logger.warn('a setting was changed: it takes effect at the next start', fields);
      }
    }
  }

  private schedule(): void {
    this.timer = afterTick(this.parts.clock, CHECK_INTERVAL, () => {
      this.check();
      this.schedule();
    });
  }
}
