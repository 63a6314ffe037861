import { isIP } from 'node:net';
import type { HostnameClaim, HostnameExplanation } from '@causeway/api';
import { ApiError } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { chooseColour } from '../../colour';
import { requireKind, UsageError, type CommandContext } from '../../context';
import { meshOption, outputOption, type SetExitCode } from '../../options';
import { readReference, toSelection } from '../../refs';
import { inLines, listAt, objectAt, serviceName, structured, table, textAt, type Output } from '../../render';
import { zoneOfServer } from '../zones/zones';
import { collected, explainRequest, type AskedRequest } from './explain-request';
import { servicesWithAddress } from './vips';

export interface ExplainOptions extends AskedRequest {
  readonly mesh: string;
  readonly zone?: string;
  readonly output: Output;
}

/**
 * `causeway explain hostname NAME`, `causeway explain vip ADDRESS`, or either without the word: the services that claim a hostname, the winner and
 * its rule, and what would have to change; or the service that has an address. `causeway explain request --to URL`: the handling of a request.
 */
export async function explain(
  context: CommandContext,
  words: readonly string[],
  options: ExplainOptions,
): Promise<number> {
  if (words[0] === 'request') {
    if (words.length > 1) throw new UsageError('explain request takes no name: --to says where the request goes');
    return explainRequest(context, { ...options, zone: await chooseZone(context, options.zone) });
  }
  const given = (['from', 'identity', 'to', 'service', 'method', 'header'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (given !== undefined) throw new UsageError(`--${given} is for explain request only`);
  const { what, sought } = parseQuestion(words);
  if (what === 'vip') return explainVip(context, sought, options);
  const api = await context.api();
  const { mesh } = options;
  const zone = await chooseZone(context, options.zone);
  const answer = await api.explain({ hostname: sought, mesh, zone });
  if (options.output === 'table') explainInWords(context, inLines(answer));
  else context.print(structured(toDocument(answer), options.output));
  return 0;
}

/** Returns the zone whose point of view applies; required on the global. */
async function chooseZone(context: CommandContext, zone: string | undefined): Promise<string | undefined> {
  if (zone !== undefined || (await whoAnswers(context)) !== 'the global') return zone;
  const api = await context.api();
  const zones = (await api.list(toSelection(requireKind(context.registry, 'Zone'), {}))).documents;
  const names = zones.map((each) => textAt(each, 'name')).join(', ');
  throw new UsageError(
    `this is the global: name the zone whose view you want with -z${names === '' ? '' : `, of ${names}`}`,
  );
}

/** Returns the control plane that answers: `the global`, `zone east`; undefined over gRPC, which does not report it. */
async function whoAnswers(context: CommandContext): Promise<string | undefined> {
  try {
    const zone = await zoneOfServer(context);
    return zone === undefined ? 'the global' : `zone ${zone}`;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'rest-only') return undefined;
    throw error;
  }
}

/** Returns an explanation with its fields in printing order; the strongest claim is the winner even if the global names none. */
function toDocument({ hostname, mesh, zone, claims, hints, note }: HostnameExplanation): HostnameExplanation {
  const [winner] = claims;
  return { hostname, mesh, zone, ...(winner && { winner }), claims, hints, ...(note && { note }) };
}

function parseQuestion([first = '', second, more]: readonly string[]): {
  readonly what: 'hostname' | 'vip';
  readonly sought: string;
} {
  if (more !== undefined) throw new UsageError('explain takes one hostname or one address');
  const url = [first, second].find((word) => word?.includes('://'));
  if (url !== undefined)
    throw new UsageError(`${url}: is a URL and no hostname; causeway explain request --to ${url} explains a request`);
  if (second === undefined) return { what: isIP(first) === 0 ? 'hostname' : 'vip', sought: first };
  if (first === 'hostname' || first === 'vip') return { what: first, sought: second };
  throw new UsageError(`explain ${first}: is neither hostname nor vip nor request`);
}

function explainInWords(context: CommandContext, explanation: HostnameExplanation): void {
  const { hostname, mesh, zone, claims, hints, note } = explanation;
  const place = `mesh ${mesh}, seen from zone ${zone}`;
  if (claims.length === 0) {
    context.print(`nobody claims ${hostname} (${place})`);
    for (const hint of hints) context.print(`  ${hint}`);
    return;
  }
  context.print(`${hostname} (${place})`);
  const rows = claims.map((claim) => [
    String(claim.rank ?? ''),
    serviceName(claim),
    generatorName(claim),
    context.paint(chooseColour(claim.status), claim.status),
    claim.rule ?? '',
  ]);
  context.print(table(['RANK', 'SERVICE', 'GENERATOR', 'STATUS', 'LOST BY'], rows));
  if (note) context.print(`\n${note}`);
  for (const claim of claims) {
    const why = claim.change || claim.reason;
    if (why) context.print(`\n${serviceName(claim)}: ${why}`);
  }
}

function generatorName({ generator: { name, zone } }: HostnameClaim): string {
  return `${name} (${zone || 'global'})`;
}

/** Explains which service has an address, and why a service has another one elsewhere. */
async function explainVip(context: CommandContext, address: string, options: ExplainOptions): Promise<number> {
  const all = await servicesWithAddress(context, undefined);
  const holders = all
    .filter((item) => textAt(item, 'status', 'vip', 'ip') === address)
    .map((item) => explainedVip(item));
  const asked = await whoAnswers(context);
  const place =
    asked === 'the global'
      ? 'as the zones reported it to the global'
      : asked === undefined
        ? 'by this control plane'
        : `in ${asked}`;
  if (options.output !== 'table') context.print(structured({ address, holders }, options.output));
  else if (holders.length === 0) {
    context.print(`no service has ${address}, ${place}`);
    context.print('  every zone gives addresses of its own: ask the control plane of the zone in which it was seen');
  } else {
    for (const { service, mesh, type, hostnames } of holders) {
      context.print(
        `${address} is the address of ${service} of mesh ${mesh}, ${place}${type === '' ? '' : ` (${type})`}`,
      );
      context.print(hostnames.length === 0 ? '  no hostname leads to it' : `  hostnames: ${hostnames.join(', ')}`);
    }
  }
  return 0;
}

function explainedVip(item: JsonObject): {
  readonly service: string;
  readonly mesh: string;
  readonly type: string;
  readonly hostnames: readonly string[];
} {
  const available = listAt(objectAt(item, 'status'), 'addresses').filter((a) => textAt(a, 'status') === 'Available');
  const { mesh, ...id } = readReference(item);
  return {
    service: serviceName({ service: { kind: textAt(item, 'type'), ...id } }),
    mesh,
    type: textAt(item, 'status', 'vip', 'type'),
    hostnames: available.map((a) => textAt(a, 'hostname')),
  };
}

/** `causeway explain`. */
export function registerExplain(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('explain')
    .description('says who claims a hostname, who has it, and why; who has an address; or what happens to a request')
    .argument('<what...>', 'hostname NAME, vip ADDRESS, the name or address alone, or request')
    .addOption(meshOption())
    .option('-z, --zone <zone>', 'whose view; needed on the global')
    .optionsGroup('Of a request:')
    .option('--to <url>', 'where it goes: http, grpc, tcp, tls or udp, and a hostname or an address')
    .option('--from <namespace/dataplane>', 'who sends: a Dataplane, or a namespace alone')
    .option('--identity <spiffe-id>', 'the identity that the sender shows, where no Dataplane is named')
    .option('--service <[kind/][namespace/]name>', 'the service that it goes to, whatever host the URL has')
    .option('--method <method>', 'its method; GET, of grpc POST')
    .option('-H, --header <name:value>', 'a header; may be given more than once', collected)
    .optionsGroup('Options:')
    .addOption(outputOption())
    .action(async (words: string[], options: ExplainOptions) => finish(await explain(context, words, options)));
}
