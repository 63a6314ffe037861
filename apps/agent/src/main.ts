#!/usr/bin/env node
import { Command, CommanderError, Option } from 'commander';
import { escapedLines } from '@causeway/resources';
import { version } from '../../../package.json';
import {
  cleanMachine,
  drainAgent,
  runAgent,
  showStatus,
  uninstallAgent,
  type AgentContext,
  type StateFlags,
} from './commands';
import { agentVariables, readEnvironment } from './config';
import { registerDns } from './dns-command';
import { collected, type RunFlags } from './flags';
import { registerJoin } from './join-command';

/** Runs the command line; exit code 0: done, 1: failed, 2: wrong usage or configuration, 80: drained, 130: Ctrl-C. */
async function main(argv: readonly string[]): Promise<void> {
  const stop = new AbortController();
  // A second signal ends the program at once, by the system's default.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  // Output may contain texts of control planes and proxies.
  const print = (line: string): void => void process.stdout.write(`${escapedLines(line)}\n`);
  const printError = (line: string): void => void process.stderr.write(`${escapedLines(line)}\n`);
  const context: AgentContext = {
    environment: readEnvironment(),
    version,
    print,
    printError,
    signal: stop.signal,
    isTerminal: process.stdout.isTTY,
  };
  try {
    await createProgram(context).parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      printError(`causeway-agent: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
    }
  }
}

const stateOption = (): Option => new Option('--state <folder>', 'the state folder of the agent');

function createProgram(context: AgentContext): Command {
  const finish = (code: number): void => void (process.exitCode = code);
  const program = new Command('causeway-agent')
    .description('runs the services of a machine in a Causeway mesh')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.print(text.trimEnd()),
      writeErr: (text) => context.printError(text.trimEnd()),
    });
  shared(program.command('run').description('registers the Dataplanes of this machine and carries their traffic'))
    .option('--mesh <mesh>', 'the mesh (default: default)')
    .option('--capture <how>', 'bind, redirect, outbounds or none: how connections to services are caught')
    .option('--name <name>', 'the Dataplane, instead of those of the file')
    .option('--namespace <namespace>', 'that of the Dataplane of --name (default: default)')
    .option('--address <ip>', 'where other machines reach this one')
    .option('--service <service>', 'NAME:PORT[:SERVICE-PORT][/PROTOCOL]; may be repeated', collected)
    .option('--outbound <outbound>', 'PORT=SERVICE[:PORT], on loopback; may be repeated', collected)
    .action(async (flags: RunFlags) => finish(await runAgent(context, flags, 'dataplane')));
  shared(program.command('ingress').description("runs the zone's ingress on this machine"))
    .option('--name <name>', 'the ZoneIngress, which says where it listens')
    .action(async (flags: RunFlags) => finish(await runAgent(context, flags, 'ingress')));
  program
    .command('status')
    .description('shows what the agent of this machine does')
    .addOption(stateOption())
    .addOption(new Option('-o, --output <form>', 'the form').choices(['table', 'json']).default('table'))
    .action(async (flags: StateFlags & { readonly output: 'table' | 'json' }) =>
      finish(await showStatus(context, flags)),
    );
  program
    .command('drain')
    .description('ends the agent: nothing is ready, open connections end, Dataplanes are withdrawn')
    .addOption(stateOption())
    .action(async (flags: StateFlags) => finish(await drainAgent(context, flags)));
  program
    .command('uninstall')
    .description('ends the agent, disables its unit and removes its state: keys, certificates, cached resources')
    .addOption(stateOption())
    .action(async (flags: StateFlags) => finish(await uninstallAgent(context, flags)));
  program
    .command('clean')
    .description('ends what an agent that has ended has left: proxies, rules and routes')
    .addOption(stateOption())
    .action(async (flags: StateFlags) => finish(await cleanMachine(context, flags)));
  registerJoin(program, context, finish);
  registerDns(program, context, finish);
  program.addHelpText('after', `\nEnvironment:\n${variablesText()}`);
  return program;
}

function variablesText(): string {
  const width = Math.max(...Object.keys(agentVariables).map(({ length }) => length));
  return Object.entries(agentVariables)
    .map(([name, help]) => `  ${name.padEnd(width)}  ${help}`)
    .join('\n');
}

/** Adds the options shared by `run` and `ingress`. */
function shared(command: Command): Command {
  return command
    .option('-f, --file <file>', 'the configuration (default: CAUSEWAY_AGENT_CONFIG, else /etc/causeway/agent.yaml)')
    .option('--state <folder>', 'the state folder')
    .option(
      '--bundle <file>',
      'what `causeway tokens dataplane --bundle` printed, of an ingress `causeway tokens zone --bundle`',
    )
    .option('--control-plane <host:port>', 'the xDS port of a control plane of the zone; may be repeated', collected)
    .option('--token-file <file>', 'a token instead of that of the bundle')
    .option('--authority-file <file>', 'certificates (PEM) that verify the control planes, without a bundle')
    .option('--plane <plane>', 'envoy or builtin; envoy where it is found')
    .option('--may-dial <range>', '`default`, or a range where its proxies dial; may be repeated', collected)
    .option('--log-level <level>', 'debug, info, warn or error');
}

void main(process.argv);
