import { Command, CommanderError, Option } from 'commander';
import { version } from '../../../package.json';
import type { CommandContext, ProgramContext } from './context';
import type { RegisterCommand, RegisterLightCommand, SetExitCode } from './options';
import { cliVariables } from './config';

/** A top-level command with the loader of its module: a run loads only the module of its own command. */
type CommandModule = { readonly name: string } & (
  { readonly load: () => Promise<RegisterCommand> } | { readonly loadLight: () => Promise<RegisterLightCommand> }
);

/** The commands in the order of the help, under the heading of their group. */
const groups: readonly { readonly heading: string; readonly commands: readonly CommandModule[] }[] = [
  {
    heading: 'Look:',
    commands: [
      { name: 'get', load: async () => (await import('./commands/get/get.js')).registerGet },
      { name: 'instances', load: async () => (await import('./commands/describe/instances.js')).registerInstances },
      { name: 'describe', load: async () => (await import('./commands/describe/describe.js')).registerDescribe },
    ],
  },
  {
    heading: 'Change:',
    commands: [
      { name: 'apply', load: async () => (await import('./commands/apply/apply.js')).registerApply },
      { name: 'import', load: async () => (await import('./commands/import/import.js')).registerImport },
      { name: 'diff', load: async () => (await import('./commands/diff.js')).registerDiff },
      { name: 'edit', load: async () => (await import('./commands/edit.js')).registerEdit },
      { name: 'label', load: async () => (await import('./commands/label.js')).registerLabel },
      { name: 'wait', load: async () => (await import('./commands/wait.js')).registerWait },
      { name: 'delete', load: async () => (await import('./commands/delete.js')).registerDelete },
    ],
  },
  {
    heading: 'Names and addresses:',
    commands: [
      { name: 'hostnames', load: async () => (await import('./commands/names/hostnames.js')).registerHostnames },
      { name: 'explain', load: async () => (await import('./commands/names/explain.js')).registerExplain },
      { name: 'dig', load: async () => (await import('./commands/names/dig.js')).registerDig },
      { name: 'vips', load: async () => (await import('./commands/names/vips.js')).registerVips },
    ],
  },
  {
    heading: 'Policies:',
    commands: [
      { name: 'policies', load: async () => (await import('./commands/policies/policies.js')).registerPolicies },
      { name: 'scopes', load: async () => (await import('./commands/policies/policies.js')).registerScopes },
      { name: 'impact', load: async () => (await import('./commands/policies/policies.js')).registerImpact },
      { name: 'topology', load: async () => (await import('./commands/policies/topology.js')).registerTopology },
    ],
  },
  {
    heading: 'Zones and access:',
    commands: [
      { name: 'zones', load: async () => (await import('./commands/zones/zones.js')).registerZones },
      { name: 'proxies', load: async () => (await import('./commands/proxies/proxies.js')).registerProxies },
      { name: 'workloads', load: async () => (await import('./commands/workloads/workloads.js')).registerWorkloads },
      { name: 'leases', load: async () => (await import('./commands/proxies/leases.js')).registerLeases },
      { name: 'sync', load: async () => (await import('./commands/sync/sync-diff.js')).registerSync },
      { name: 'auth', load: async () => (await import('./commands/access/auth.js')).registerAuth },
      { name: 'audit', load: async () => (await import('./commands/access/audit.js')).registerAudit },
      { name: 'tokens', load: async () => (await import('./commands/tokens/tokens.js')).registerTokens },
      { name: 'ca', load: async () => (await import('./commands/access/ca.js')).registerAuthority },
    ],
  },
  {
    heading: 'This program and its servers:',
    commands: [
      { name: 'global', load: async () => (await import('./commands/init/init.js')).registerGlobal },
      { name: 'zone', load: async () => (await import('./commands/init/init.js')).registerZone },
      { name: 'export', load: async () => (await import('./commands/export.js')).registerExport },
      { name: 'doctor', load: async () => (await import('./commands/doctor/doctor.js')).registerDoctor },
      { name: 'config', loadLight: async () => (await import('./commands/config.js')).registerConfig },
      {
        name: 'completion',
        loadLight: async () => (await import('./commands/completion/completion.js')).registerCompletion,
      },
      { name: 'version', loadLight: async () => (await import('./commands/version/version.js')).registerVersion },
    ],
  },
];

/** Parts of a program. */
export interface ProgramParts {
  readonly program: Command;
  readonly context: ProgramContext;
  /** Loads the context of commands that call a control plane; slow. */
  readonly commandContext: () => Promise<CommandContext>;
  readonly finish: SetExitCode;
}

/** The options of the program, without any command. */
export function createProgram(print: Pick<ProgramContext, 'print' | 'printError'>): Command {
  return (
    new Command('causeway')
      .description('looks at and changes a Causeway control plane')
      .optionsGroup('Which control plane:')
      .option('-s, --server <url>', 'address of a control plane, http(s):// or grpc(s):// (or CAUSEWAY_SERVER)')
      .option('--context <name>', 'a context of `causeway config` (or CAUSEWAY_CONTEXT)')
      .option('--token <token>', 'bearer token (or CAUSEWAY_TOKEN)')
      .option('--ca-file <file>', 'certificates (PEM) that verify the server (or CAUSEWAY_CA_FILE)')
      .addOption(
        new Option('--insecure-skip-tls-verify', 'accept any certificate: anyone in between can read the token'),
      )
      // A common alias; the help shows the command `version` instead.
      .addOption(new Option('--version').hideHelp())
      .on('option:version', () => {
        print.print(`causeway ${version}`);
        throw new CommanderError(0, 'commander.version', version);
      })
      .showSuggestionAfterError()
      .exitOverride()
      .configureOutput({
        writeOut: (text) => print.print(text.trimEnd()),
        writeErr: (text) => print.printError(text.trimEnd()),
      })
  );
}

/** Returns the name of the command: the first word that is neither a global option nor the value of one. */
function firstOperand(program: Command, argv: readonly string[]): string | undefined {
  const valued = program.options.filter(({ required }) => required).flatMap(({ short, long }) => [short, long]);
  return argv.find((word, i) => !word.startsWith('-') && (i === 0 || !valued.includes(argv[i - 1])));
}

/** Completion needs the commands of the words that it completes. */
async function addCompletion(parts: ProgramParts): Promise<void> {
  const { registerComplete } = await import('./commands/completion/complete.js');
  const silent = { print: () => undefined, printError: () => undefined };
  registerComplete(async (words) => {
    const program = createProgram(silent);
    const command = await parts.commandContext();
    await addCommands({ ...parts, program }, words.slice(0, -1));
    return { program, command };
  })(parts.program, parts.context, parts.finish);
}

/** Adds the command that `argv` names; all commands if it names none, for the help and for suggestions. */
export async function addCommands(parts: ProgramParts, argv: readonly string[]): Promise<void> {
  const { program, context, commandContext, finish } = parts;
  const word = firstOperand(program, argv);
  if (word === '__complete') return addCompletion(parts);
  const known = groups.some(({ commands }) => commands.some(({ name }) => name === word));
  for (const { heading, commands } of groups) {
    program.commandsGroup(heading);
    for (const command of commands.filter(({ name }) => !known || name === word)) {
      if ('load' in command) (await command.load())(program, await commandContext(), finish);
      else (await command.loadLight())(program, context, finish);
    }
  }
  program.hook('preAction', (_, command) => useMeshOfContext(parts, command));
  if (word !== undefined && OF_RESOURCES.includes(word)) {
    program.hook('preAction', (_, command) => learnKinds(parts, command));
  }
  addHelp(program);
  program.addHelpText('after', () => `\nEnvironment:\n${variablesText()}`);
}

function variablesText(): string {
  const width = Math.max(...Object.keys(cliVariables).map(({ length }) => length));
  return Object.entries(cliVariables)
    .map(([name, help]) => `  ${name.padEnd(width)}  ${help}`)
    .join('\n');
}

/** Sets the default mesh of a command from the context in use. */
async function useMeshOfContext({ context }: ProgramParts, command: Command): Promise<void> {
  if (command.getOptionValueSource('mesh') !== 'default') return;
  const { resolveMesh } = await import('./settings/connection.js');
  const mesh = resolveMesh(context.config, context.flags());
  if (mesh !== undefined) command.setOptionValueWithSource('mesh', mesh, 'config');
}

/** Commands whose operands are kinds and resources. */
const OF_RESOURCES: readonly string[] = [
  'get',
  'describe',
  'apply',
  'delete',
  'edit',
  'label',
  'wait',
  'policies',
  'scopes',
  'impact',
];

/** Documents may be of any kind; documents that are only applied are not examined. */
async function learnKinds({ commandContext }: ProgramParts, command: Command): Promise<void> {
  const { ANY_KIND, nounsIn } = await import('./declared-kinds.js');
  const { filename, prune } = command.opts<{ readonly filename?: unknown; readonly prune?: boolean }>();
  const readsFiles = filename !== undefined && (command.name() !== 'apply' || prune === true);
  const nouns = readsFiles ? [ANY_KIND] : nounsIn(command.args);
  await (await commandContext()).learnKinds(nouns);
}

/** Adds `help [COMMAND...]` to a command and to its subcommands. An unknown command is a usage error. */
function addHelp(command: Command): void {
  const below = [...command.commands];
  if (below.length === 0) return;
  for (const each of below) addHelp(each);
  command
    .helpCommand(false)
    .command('help')
    .argument('[command...]', 'the command')
    .description('shows how a command is used')
    .action(async (path: readonly string[]) => (await import('./options.js')).findCommand(command, path).help());
}
