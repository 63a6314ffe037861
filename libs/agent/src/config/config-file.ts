import { readFileSync, statSync } from 'node:fs';
import { errorText, sleepUntilTick, underSignals, type Clock, type Logger } from '@causeway/runtime';
import { formatProblems, readConfig } from './read-config';
import type { AgentConfig } from './schema';

/** Interval at which the file is checked for changes, ms. */
const POLL_INTERVAL = 1_000;
/** Maximum size of the file, bytes. */
const MAX_BYTES = 1_048_576;

/** Source of a configuration: flags override the file. */
export interface ConfigSource {
  readonly file?: string;
  readonly flags: Readonly<Record<string, unknown>>;
}

export type LoadedAgentConfig =
  | { readonly ok: true; readonly config: AgentConfig }
  /** One line per problem, with file, line and column. */
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reads a configuration. Never throws. */
export function loadConfig({ file, flags }: ConfigSource): LoadedAgentConfig {
  try {
    const result = readConfig(file === undefined ? '' : readText(file), flags);
    return result.ok ? result : { ok: false, problems: formatProblems(file ?? 'flags', result.problems) };
  } catch (error) {
    return { ok: false, problems: [`${file}: ${errorText(error)}`] };
  }
}

/** Follows a configuration file. An invalid file is not applied: it is reported in the log and by `problems`. */
export class ConfigFile {
  /** Problems of the newest file, one line each; empty if it is in use. */
  problems: readonly string[] = [];
  private stamp: string;
  private pause = new AbortController();

  constructor(
    private readonly source: ConfigSource,
    private readonly options: { readonly clock: Clock; readonly logger: Logger },
  ) {
    this.stamp = readStamp(source.file);
  }

  /** Reads the file now, even if it seems unchanged. */
  reload(): void {
    this.stamp = '';
    this.pause.abort();
  }

  /** Calls `changed` with each new configuration, one after the other, until `signal` aborts. */
  async follow(changed: (config: AgentConfig) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.options;
    const { file } = this.source;
    while (file !== undefined && !signal.aborted) {
      this.pause = new AbortController();
      await underSignals([signal, this.pause.signal], (either) => sleepUntilTick(clock, POLL_INTERVAL, either));
      const stamp = readStamp(file);
      if (stamp === this.stamp || signal.aborted) continue;
      this.stamp = stamp;
      const loaded = loadConfig(this.source);
      if (loaded.ok) {
        this.problems = [];
        await changed(loaded.config);
      } else {
        this.problems = loaded.problems;
        logger.error('the configuration file is wrong: the earlier one stays in use', {
          problems: loaded.problems.join('\n'),
        });
      }
    }
  }
}

/** Returns a value that changes with the content, also if an editor replaces the file. */
function readStamp(file: string | undefined): string {
  if (file === undefined) return '';
  try {
    const { ino, size, mtimeMs } = statSync(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return 'missing';
  }
}

function readText(file: string): string {
  const stat = statSync(file);
  if (!stat.isFile() || stat.size > MAX_BYTES) throw new Error(`must be a file of at most ${MAX_BYTES} bytes`);
  return readFileSync(file, 'utf8');
}
