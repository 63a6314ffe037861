import { isDeepStrictEqual } from 'node:util';
import { durationMs } from '@causeway/resources';
import { aborted, errorText, sleepUntilTick, type Clock, type Logger } from '@causeway/runtime';
import { ConfigFile, type ConfigSource } from '../config/config-file';
import type { AgentConfig } from '../config/schema';
import { LocalXdsServer } from '../envoy/local-xds-server';
import { ZoneClientAccess } from '../identity/zone-access';
import { readAgentInstance, readLeaseSecret } from '../lease/agent-instance';
import { AgentSocket } from './agent-socket';
import { MachineParts, type MachineFacts } from './machine-parts';
import { openStateFolder } from './state-folder';
import { writeUnitName, type SystemUnit } from './system-unit';
import type { AgentStatus } from './status';
import { KnownZone } from './zone-facts';

export interface AgentOptions extends MachineFacts {
  readonly config: AgentConfig;
  readonly source: ConfigSource;
  /** The state folder. */
  readonly folder: string;
  /** Called with each configuration that replaces another, before it is applied. */
  readonly configured: (config: AgentConfig) => void;
  /** Unit of systemd that runs it; undefined: none does. */
  readonly unit?: SystemUnit;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval at which token files are read, ms: an invalid one is reported before a connection needs it. */
const TOKEN_POLL_INTERVAL = 5_000;

/** Returns the path of the agent's socket in a state folder. */
export function agentSocketPath(folder: string): string {
  return `${folder}/agent.sock`;
}

/**
 * The agent of a machine: runs its configuration and follows its file, until it is asked to end. Then it ends in this
 * order: services become not ready, open connections end, Dataplanes are withdrawn, streams end. Where its unit is restarted, it leaves proxies,
 * rules and leases to the next run.
 */
export class Agent {
  private readonly since: number;
  private readonly file: ConfigFile;
  private readonly draining = new AbortController();
  private readonly xds: LocalXdsServer;
  private config: AgentConfig;
  private access: ZoneClientAccess;
  private parts: MachineParts | undefined;

  constructor(private readonly options: AgentOptions) {
    const { clock, logger, folder, config, source } = options;
    this.config = config;
    this.since = clock.now();
    this.file = new ConfigFile(source, { clock, logger });
    this.access = new ZoneClientAccess(config, folder, logger);
    this.xds = new LocalXdsServer(`${folder}/xds.sock`, { clock, logger });
  }

  /**
   * Resolves when it has ended, with whether it was asked to by its socket. Rejects if it cannot start: another agent or
   * user has the folder, the folder cannot be written, or credentials cannot be read and it has not joined before.
   */
  async run(signal: AbortSignal): Promise<'drained' | 'signalled'> {
    const { folder, logger } = this.options;
    await openStateFolder(folder, logger);
    const isKnown = this.access.current().addresses.length > 0;
    if (!isKnown)
      throw new Error(
        `${this.access.problem ?? 'no control plane is named'}; no earlier run has stored the addresses of the zone`,
      );
    const socket = await AgentSocket.listen(agentSocketPath(folder), {
      status: () => this.status(),
      drain: () => this.draining.abort(),
    });
    const end = AbortSignal.any([signal, this.draining.signal]);
    let isLeaving = false;
    try {
      await writeUnitName(folder, this.options.unit?.name);
      await this.xds.listen();
      const [instance, secret] = [await readAgentInstance(folder), await readLeaseSecret(folder)];
      const zone = await KnownZone.open(folder);
      this.parts = new MachineParts({ ...this.options, instance, secret, zone, xds: this.xds });
      await this.apply(this.config);
      logger.info('the agent runs', { state: folder });
      const following = Promise.all([this.file.follow((config) => this.replace(config), end), this.readTokens(end)]);
      await aborted(end);
      const isDrained = this.draining.signal.aborted;
      isLeaving = !isDrained && (await this.options.unit?.isRestarting()) === true;
      this.draining.abort();
      await following;
      if (isLeaving) logger.info('the agent is restarted: proxies, rules and leases are left to its next run');
      else logger.info('the agent ends: nothing is ready, open connections may end', { within: this.config.drainTime });
      return isDrained ? 'drained' : 'signalled';
    } finally {
      const drainMs = durationMs(this.config.drainTime) ?? 0;
      await (isLeaving ? this.parts?.leave(drainMs) : this.parts?.close(drainMs));
      await this.xds.close();
      await socket.close();
      logger.info('the agent has ended');
    }
  }

  /** Reads the configuration and its token files now. */
  reload(): void {
    this.file.reload();
    this.access.readTokens(listTokenFiles(this.config));
  }

  status(): AgentStatus {
    const { version, source } = this.options;
    const { problem } = this.access;
    const dns = this.parts?.dnsAddress;
    const network = this.parts?.networkStatus;
    return {
      version,
      pid: process.pid,
      since: this.since,
      state: this.draining.signal.aborted ? 'draining' : 'running',
      configuration: {
        ...(source.file !== undefined && { file: source.file }),
        problems: this.file.problems,
        failures: this.parts?.failures ?? [],
      },
      zone: { addresses: this.access.current().addresses, ...(problem !== undefined && { problem }) },
      proxies: this.parts?.statuses() ?? [],
      ...(dns !== undefined && { dns }),
      ...(network && { network }),
    };
  }

  private async readTokens(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      await sleepUntilTick(this.options.clock, TOKEN_POLL_INTERVAL, end);
      this.access.readTokens(listTokenFiles(this.config));
    }
  }

  private replace(config: AgentConfig): Promise<void> {
    this.options.configured(config);
    return this.apply(config);
  }

  /** Applies a configuration to the machine. Failures are reported by status and log; the rest runs. */
  private async apply(config: AgentConfig): Promise<void> {
    const { folder, logger } = this.options;
    const before = this.config;
    this.config = config;
    const reach = ({ controlPlanes, bundle, tokenFile, authorityFile }: AgentConfig): unknown => ({
      controlPlanes,
      bundle,
      tokenFile,
      authorityFile,
    });
    if (!isDeepStrictEqual(reach(before), reach(config))) this.access = new ZoneClientAccess(config, folder, logger);
    await this.parts?.apply(config, this.access).catch((error: unknown) => {
      logger.error('the configuration could not be applied', { error: errorText(error) });
    });
  }
}

/** Lists the token files of single Dataplanes. */
function listTokenFiles({ dataplanes }: AgentConfig): readonly string[] {
  return dataplanes.flatMap(({ tokenFile }) => (tokenFile === undefined ? [] : [tokenFile]));
}
