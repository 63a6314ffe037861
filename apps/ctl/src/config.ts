import { homedir } from 'node:os';
import { join } from 'node:path';

/** Global flags that select a control plane. */
export interface ConnectionFlags {
  readonly server?: string;
  readonly token?: string;
  readonly context?: string;
  readonly caFile?: string;
  readonly insecureSkipTlsVerify?: boolean;
}

/** The environment of the CLI; flags have precedence over it, and it over the context in use. */
export interface CliConfig {
  /** Base address of a control plane's REST interface. */
  readonly server: string | undefined;
  readonly token: string | undefined;
  readonly caFile: string | undefined;
  /** Name of a context. */
  readonly context: string | undefined;
  /** The file of contexts. */
  readonly contextsFile: string;
  /** The command that edits a file. */
  readonly editor: string;
  /** False if the user disabled colours (https://no-color.org). */
  readonly color: boolean;
}

/** Environment variables of the CLI, a line each, for `--help` and docs/reference/settings.md. */
export const cliVariables: Readonly<Record<string, string>> = {
  CAUSEWAY_SERVER: 'address of a control plane',
  CAUSEWAY_TOKEN: 'bearer token; secret',
  CAUSEWAY_OPERATOR_TOKEN: 'the same, where CAUSEWAY_TOKEN is not given; secret',
  CAUSEWAY_CA_FILE: 'certificates in PEM that verify the server',
  CAUSEWAY_CONTEXT: 'the context in use',
  CAUSEWAY_CONTEXTS_FILE: "the file of contexts; none = causeway/contexts.json in the user's folder of configurations",
  VISUAL: 'the editor of causeway edit; none = EDITOR, else vi',
  EDITOR: 'the same, where VISUAL is not given',
  NO_COLOR: 'whatever its value, nothing is coloured',
  TERM: 'dumb: nothing is coloured',
};

/** Reads `cliVariables`. */
export function readCliConfig(env: Readonly<Record<string, string | undefined>> = process.env): CliConfig {
  const folder = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config');
  return {
    server: env['CAUSEWAY_SERVER'] || undefined,
    token: env['CAUSEWAY_TOKEN'] || env['CAUSEWAY_OPERATOR_TOKEN'] || undefined,
    caFile: env['CAUSEWAY_CA_FILE'] || undefined,
    context: env['CAUSEWAY_CONTEXT'] || undefined,
    contextsFile: env['CAUSEWAY_CONTEXTS_FILE'] || join(folder, 'causeway', 'contexts.json'),
    editor: env['VISUAL'] || env['EDITOR'] || 'vi',
    color: !env['NO_COLOR'] && env['TERM'] !== 'dumb',
  };
}
