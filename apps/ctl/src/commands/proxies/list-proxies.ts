import { getProxy, listProxies, type Proxy, type ProxyFault } from '@causeway/api';
import type { CommandContext } from '../../context';
import { age, inLines, structured, table, type Output } from '../../render';

/** Options of `causeway proxies`. */
export interface ProxiesOptions {
  readonly mesh?: string;
  readonly namespace?: string;
  readonly connected?: boolean;
  readonly output: Output | 'wide';
}

const HEAD = ['MESH', 'NAME', 'KIND', 'CONNECTED', 'REPLICA', 'AGE', 'CERTIFICATE', 'REJECTED'];
const WIDE = ['ADDRESS', 'VERSION', 'FORM', 'APPLIED', 'HELD'];

/** `causeway proxies [NAME]`: the proxies of the zone, at all its replicas; with a name a single one, with its rejections. */
export async function proxies(
  context: CommandContext,
  name: string | undefined,
  options: ProxiesOptions,
): Promise<number> {
  const items = name === undefined ? await all(context, options) : [await one(context, name, options)];
  const { output } = options;
  if (output === 'json' || output === 'yaml') {
    context.print(structured(name === undefined ? { items } : (items[0] ?? {}), output));
    return 0;
  }
  if (items.length === 0) {
    context.printError('no proxies');
    return 0;
  }
  const isWide = output === 'wide';
  const shown = inLines(items);
  const rows = shown.map((item) => [...row(item, context.now()), ...(isWide ? wideRow(item) : [])]);
  context.print(table([...HEAD, ...(isWide ? WIDE : [])], rows));
  for (const item of shown) for (const line of faults(item)) context.printError(line);
  return 0;
}

async function all(context: CommandContext, { mesh, connected }: ProxiesOptions): Promise<readonly Proxy[]> {
  const query = { mesh: mesh || undefined, connected: connected || undefined };
  return (await context.api()).rest.items(listProxies, { query });
}

async function one(context: CommandContext, name: string, { mesh, namespace }: ProxiesOptions): Promise<Proxy> {
  const path = { mesh: mesh || 'default', name };
  return (await context.api()).rest.call(getProxy, { path, query: { namespace } });
}

function row(proxy: Proxy, now: number): string[] {
  const { mesh, name, kind, connected, replica, since, lastSeen, certificate, rejected, refused } = proxy;
  return [
    mesh,
    name,
    kind,
    String(connected),
    replica,
    age(connected ? since : lastSeen, now),
    untilText(certificate?.notAfter ?? '', now),
    String(rejected.length + refused.length),
  ];
}

function wideRow({ address, userAgent, form, appliedRevision, types }: Proxy): string[] {
  const held = types.map((one) => `${one.type}=${one.held}`);
  return [address, userAgent, form, String(appliedRevision), held.join(',')];
}

function faults({ mesh, name, rejected, refused }: Proxy): readonly string[] {
  const lines = (found: readonly ProxyFault[], verb: string): readonly string[] =>
    found.map((fault) => `${mesh}/${name} ${verb} ${fault.type} ${fault.name}: ${fault.reason}`);
  return [...lines(rejected, 'rejects'), ...lines(refused, 'is not sent')];
}

function untilText(end: string, now: number): string {
  if (end === '') return '-';
  return Date.parse(end) <= now ? 'expired' : `ends in ${age(new Date(now).toISOString(), Date.parse(end))}`;
}
