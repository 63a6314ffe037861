import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Agent,
  agentSocketPath,
  askAgent,
  DRAINED_EXIT_CODE,
  endLeftovers,
  isAnswered,
  listUnreadable,
  loadConfig,
  readSystemUnit,
  removeState,
  SystemUnit,
} from '@causeway/agent';
import { silentLogger, systemClock } from '@causeway/runtime';
import { createLogger } from '@causeway/telemetry';
import type { AgentEnvironment } from './config';
import { flagsToConfig, type RunFlags } from './flags';

/** Shared by the commands. */
export interface AgentContext {
  readonly environment: AgentEnvironment;
  readonly version: string;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  /** Aborts when the program is asked to end. */
  readonly signal: AbortSignal;
  readonly isTerminal: boolean;
}

export interface StateFlags {
  readonly state?: string;
}

/** Interval at which the end of an agent is polled, ms. */
const POLL_INTERVAL = 100;

/** `run` and `ingress`: resolves with the exit code when the agent has ended. */
export async function runAgent(context: AgentContext, flags: RunFlags, kind: 'dataplane' | 'ingress'): Promise<number> {
  const { environment, version, printError, signal, isTerminal } = context;
  const given = flagsToConfig(flags, kind);
  // With all flags given, the machine's default file is not read.
  const file = flags.file ?? ('dataplanes' in given || 'ingress' in given ? undefined : environment.file);
  const source = { flags: given, ...(file !== undefined && { file }) };
  const loaded = loadConfig(source);
  if (!loaded.ok) {
    // Credentials are checked first: without them nothing else can work.
    for (const problem of [...listUnreadable(flags), ...loaded.problems]) printError(problem);
    return 2;
  }
  const { config } = loaded;
  let level = config.logLevel;
  const logger = createLogger({ level, program: 'agent', pretty: isTerminal });
  const { envoy, authoritiesFile, unit } = environment;
  const agent = new Agent({
    config,
    source,
    envoy,
    version,
    clock: systemClock,
    logger,
    machine: hostname(),
    ...(authoritiesFile !== undefined && { authoritiesFile }),
    ...(unit !== undefined && { unit: new SystemUnit(unit) }),
    folder: config.state ?? environment.state,
    configured: ({ logLevel }) => {
      if (logLevel !== level) logger.setLevel(logLevel);
      level = logLevel;
    },
  });
  // Sent by `systemctl reload`. On a terminal it means that the terminal was closed.
  if (!isTerminal)
    process.on('SIGHUP', () => {
      logger.info('SIGHUP: the configuration is read again');
      agent.reload();
    });
  const how = await agent.run(signal);
  return how === 'drained' && unit !== undefined ? DRAINED_EXIT_CODE : 0;
}

/** `status`: 0 if the agent runs, 1 if it does not. */
export async function showStatus(
  context: AgentContext,
  { state, output }: StateFlags & { readonly output: 'table' | 'json' },
): Promise<number> {
  const answer = await ask(context, state, 'GET', output === 'json' ? '/status' : '/status.txt');
  if (answer === undefined) return 1;
  context.print(answer);
  return 0;
}

/** `drain`: ends the agent gracefully; resolves when it has ended. Its unit is stopped where that is about to start it. */
export async function drainAgent(context: AgentContext, { state }: StateFlags): Promise<number> {
  const folder = state ?? context.environment.state;
  const path = agentSocketPath(folder);
  if (!(await isAnswered(path))) {
    const unit = await readSystemUnit(folder);
    if ((await unit?.isActive().catch(() => false)) === true) {
      await unit?.stop();
      context.print('the agent has ended');
      return 0;
    }
  }
  if ((await ask(context, state, 'POST', '/drain')) === undefined) return 1;
  while (!context.signal.aborted && (await isAnswered(path))) await pause(POLL_INTERVAL);
  if (context.signal.aborted) return 130;
  context.print('the agent has ended');
  return 0;
}

/**
 * `uninstall`: ends the agent, which withdraws its Dataplanes, disables its unit, and removes its state: keys, certificates,
 * cached resources.
 */
export async function uninstallAgent(context: AgentContext, flags: StateFlags): Promise<number> {
  const folder = flags.state ?? context.environment.state;
  if (await isAnswered(agentSocketPath(folder))) {
    const code = await drainAgent(context, flags);
    if (code !== 0) return code;
  }
  await (await readSystemUnit(folder))?.disable();
  await awake(() => removeState(folder, { clock: systemClock, logger: silentLogger }));
  context.print(`removed ${folder}`);
  return 0;
}

/**
 * `clean`: ends what an agent that has ended has left: proxies, rules and routes. Does nothing while an agent runs, or while its unit is about to
 * start it.
 */
export async function cleanMachine({ environment }: AgentContext, flags: StateFlags): Promise<number> {
  const folder = flags.state ?? environment.state;
  if (await isAnswered(agentSocketPath(folder))) return 0;
  const unit = environment.unit === undefined ? undefined : new SystemUnit(environment.unit);
  await awake(async () => {
    if (unit && !(await unit.hasEnded(systemClock))) return;
    await endLeftovers(folder, { clock: systemClock, logger: silentLogger });
  });
  return 0;
}

/** Keeps the program alive while it waits for a proxy to end: the clock's timers do not. */
async function awake(work: () => Promise<void>): Promise<void> {
  const waiting = setInterval(() => undefined, POLL_INTERVAL);
  try {
    await work();
  } finally {
    clearInterval(waiting);
  }
}

async function ask(
  { environment, printError }: AgentContext,
  state: string | undefined,
  method: 'GET' | 'POST',
  place: string,
): Promise<string | undefined> {
  const path = agentSocketPath(state ?? environment.state);
  const answer = await askAgent(path, method, place);
  if (answer === undefined) printError(`no agent runs: nobody answers at ${path} (another one: --state)`);
  return answer;
}
