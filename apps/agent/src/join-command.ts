import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { loadConfig } from '@causeway/agent';
import { readJoinBundle, type JoinBundle } from '@causeway/identity';
import { isJsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import type { AgentContext } from './commands';
import { collected, FlagError, parseService } from './flags';

interface JoinFlags {
  readonly folder: string;
  readonly name?: string;
  readonly address?: string;
  readonly service?: readonly string[];
  readonly ingress?: string;
  readonly capture: string;
  readonly dnsPort: string;
}

/** Claims of the token in a bundle: what its machine is to be. They are not verified: the zone does that. */
interface JoinSubject {
  readonly name: string;
  readonly namespace: string;
  readonly workload: string;
  readonly services: readonly string[];
  readonly isIngress: boolean;
}

/** Adds `join`; `finish` gets the exit code: 0 done, 2 wrong usage. */
export function registerJoin(program: Command, context: AgentContext, finish: (code: number) => void): void {
  program
    .command('join')
    .description('writes the bundle and agent.yaml of this machine; a second run changes nothing')
    .argument('<bundle>', 'what `causeway tokens … --bundle` printed, a file with it, or - for the standard input')
    .option('--folder <folder>', 'the folder of both', '/etc/causeway')
    .option('--service <service>', 'NAME:PORT[:SERVICE-PORT][/PROTOCOL]; may be repeated', collected)
    .option('--name <name>', 'the Dataplane (default: that of the bundle, of a group the name of the machine)')
    .option('--address <ip>', 'where other machines reach this one (default: its address towards the control planes)')
    .option('--ingress <name>', 'with the bundle of an ingress: the ZoneIngress')
    .option('--capture <how>', 'bind, redirect, outbounds or none', 'redirect')
    .option('--dns-port <port>', 'where it answers names of the mesh, on loopback; 0: it answers none', '5300')
    .action(async (bundle: string, flags: JoinFlags) => finish(await joinZone(context, bundle, flags)));
}

/** Writes what is missing; the bundle has the authority that verifies the zone, so nothing is fetched. */
async function joinZone(context: AgentContext, given: string, flags: JoinFlags): Promise<number> {
  const folder = resolve(flags.folder);
  const [bundleFile, configFile] = [join(folder, 'bundle'), join(folder, 'agent.yaml')];
  if (existsSync(bundleFile) && existsSync(configFile)) {
    context.print(`nothing is to be done: ${bundleFile} and ${configFile} are there, and stay as they are`);
    return 0;
  }
  const line = await readBundleText(given);
  const read = readJoinBundle(line);
  if (!read.ok) {
    context.printError(`the bundle ${read.violation.reason}`);
    return 2;
  }
  const { bundle } = read;
  const config = stringify({ bundle: bundleFile, ...(await describeMachine(bundle, flags)) });
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const written = [writeMissing(bundleFile, `${line.trim()}\n`, 0o600), writeMissing(configFile, config, 0o644)].flat();
  const loaded = loadConfig({ flags: {}, file: configFile });
  if (!loaded.ok) {
    for (const file of written) rmSync(file);
    for (const problem of loaded.problems) context.printError(problem);
    return 2;
  }
  for (const file of written) context.print(`wrote ${file}`);
  context.print(
    `it joins zone ${bundle.zone} at ${bundle.controlPlanes.join(', ')}; now run: systemctl enable --now causeway-agent`,
  );
  return 0;
}

function writeMissing(file: string, text: string, mode: number): readonly string[] {
  if (existsSync(file)) return [];
  writeFileSync(file, text, { mode, flag: 'wx' });
  return [file];
}

/** A bundle on the command line is seen by every user of the machine while it runs; a file or the standard input is not. */
async function readBundleText(given: string): Promise<string> {
  if (given === '-') return readText(process.stdin);
  return given.startsWith('causeway-') ? given : readFileSync(given, 'utf8');
}

/** Returns the fields of the configuration besides the bundle. Throws FlagError. */
async function describeMachine(bundle: JoinBundle, flags: JoinFlags): Promise<Readonly<Record<string, unknown>>> {
  const subject = readSubject(bundle.token);
  if (subject.isIngress) {
    if (flags.ingress !== undefined) return { ingress: { name: flags.ingress } };
    throw new FlagError('the bundle is of an ingress: name its ZoneIngress, --ingress NAME');
  }
  if (flags.ingress !== undefined) throw new FlagError('--ingress: the bundle is of a Dataplane, not of an ingress');
  const services = (flags.service ?? []).map(parseService);
  const [missing] = subject.services.filter((name) => services.every((service) => service['name'] !== name));
  if (missing !== undefined)
    throw new FlagError(`the bundle is of the service ${missing}: say where it listens, --service ${missing}:PORT`);
  const name = flags.name ?? (subject.name || (hostname().split('.')[0] ?? ''));
  const dnsPort = Number(flags.dnsPort);
  return {
    mesh: bundle.mesh,
    capture: flags.capture,
    dataplanes: [
      {
        name,
        ...(subject.namespace !== '' && { namespace: subject.namespace }),
        address: flags.address ?? (await findOwnAddress(bundle.controlPlanes[0] ?? '')),
        ...(subject.workload !== '' && { labels: { 'kuma.io/workload': subject.workload } }),
        services,
      },
    ],
    ...(dnsPort !== 0 && { dns: { port: dnsPort } }),
  };
}

function readSubject(token: string): JoinSubject {
  const claims = decodeClaims(token);
  const text = (key: string): string => (typeof claims[key] === 'string' ? claims[key] : '');
  const { Services: services = [], Scope: scope = [] } = claims;
  return {
    name: text('Name'),
    namespace: text('Namespace'),
    workload: text('Workload'),
    services: Array.isArray(services) ? services.filter((one): one is string => typeof one === 'string') : [],
    isIngress: Array.isArray(scope) && scope.includes('ingress'),
  };
}

function decodeClaims(token: string): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return isJsonObject(claims) ? claims : {};
  } catch {
    return {};
  }
}

/** Returns the address from which this machine sends to a control plane; nothing is sent. Throws FlagError if it finds none. */
async function findOwnAddress(controlPlane: string): Promise<string> {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|(.+)):\d+$/.exec(controlPlane) ?? [];
  const host = bracketed ?? plain ?? '';
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    socket.connect(9, host);
    await once(socket, 'connect');
    return socket.address().address;
  } catch (cause) {
    throw new FlagError(`no way to ${controlPlane} is found: name the address of this machine, --address IP`, {
      cause,
    });
  } finally {
    socket.close();
  }
}
