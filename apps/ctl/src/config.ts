/** What the CLI takes from its environment; flags win over it. */
export interface CliConfig {
  /** Base address of a control plane's REST interface. */
  readonly server: string;
  readonly token: string | undefined;
}

/** Reads `CAUSEWAY_SERVER` (default the global's REST port here) and `CAUSEWAY_OPERATOR_TOKEN`. */
export function readCliConfig(env: Readonly<Record<string, string | undefined>> = process.env): CliConfig {
  return { server: env['CAUSEWAY_SERVER'] || 'http://127.0.0.1:5681', token: env['CAUSEWAY_OPERATOR_TOKEN'] };
}
