import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Environment of the program; the configuration file has precedence. */
export interface AgentEnvironment {
  readonly envoy: { readonly setting?: string; readonly searched?: string };
  /** State folder if neither flag nor file names one. */
  readonly state: string;
  /** Configuration file if no flag names one; undefined if there is none. */
  readonly file?: string;
  /** File of the authorities that the machine trusts. */
  readonly authoritiesFile?: string;
  /** Unit of systemd that runs the agent. */
  readonly unit?: string;
}

const CONFIG_FILE = '/etc/causeway/agent.yaml';

/** Usual files of the authorities that a machine trusts. */
const MACHINE_AUTHORITIES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Environment variables of the agent, one line each, for `--help` and docs/reference/settings.md. */
export const agentVariables: Readonly<Record<string, string>> = {
  CAUSEWAY_AGENT_CONFIG: 'the configuration; none = /etc/causeway/agent.yaml where it is there',
  CAUSEWAY_AGENT_STATE:
    'the state folder; none = STATE_DIRECTORY, else /var/lib/causeway-agent, without root ~/.local/state/causeway-agent',
  STATE_DIRECTORY: 'the state folder that systemd gives',
  CAUSEWAY_AGENT_UNIT:
    'the unit of systemd that runs it: its restart leaves Envoy, rules and leases to the next run, and `drain` ends it with exit code 80',
  CAUSEWAY_ENVOY: 'the Envoy to run; none = the one on the PATH',
};

/** Reads `agentVariables` and `PATH`. */
export function readEnvironment(env: Readonly<Record<string, string | undefined>> = process.env): AgentEnvironment {
  const isRoot = process.getuid?.() === 0;
  const ofUser = join(env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state'), 'causeway-agent');
  const given = env['CAUSEWAY_AGENT_STATE'] || env['STATE_DIRECTORY']?.split(':')[0];
  const file = env['CAUSEWAY_AGENT_CONFIG'] || (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined);
  const authoritiesFile = MACHINE_AUTHORITIES.find((path) => existsSync(path));
  return {
    envoy: {
      ...(env['CAUSEWAY_ENVOY'] !== undefined && { setting: env['CAUSEWAY_ENVOY'] }),
      ...(env['PATH'] !== undefined && { searched: env['PATH'] }),
    },
    state: given || (isRoot ? '/var/lib/causeway-agent' : ofUser),
    ...(file !== undefined && { file }),
    ...(authoritiesFile !== undefined && { authoritiesFile }),
    ...(env['CAUSEWAY_AGENT_UNIT'] && { unit: env['CAUSEWAY_AGENT_UNIT'] }),
  };
}
