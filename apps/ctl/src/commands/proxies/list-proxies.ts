import type { JsonObject } from '@causeway/resources';
import type { CommandContext } from '../../context';
import { age, listAt, structured, table, textAt, type Output } from '../../render';

/** Which proxies, and how they are shown. */
export interface ProxiesOptions {
  readonly mesh?: string;
  readonly namespace?: string;
  readonly connected?: boolean;
  readonly output: Output | 'wide';
}

const HEAD = ['MESH', 'NAME', 'KIND', 'CONNECTED', 'REPLICA', 'AGE', 'CERTIFICATE', 'REJECTED'];
const WIDE = ['ADDRESS', 'VERSION', 'FORM', 'APPLIED', 'HELD'];

/** `causeway proxies [NAME]`: the proxies of the zone, at all its replicas; with a name one of them, with what it rejects. */
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
  const rows = items.map((item) => [...row(item, context.now()), ...(isWide ? wideRow(item) : [])]);
  context.print(table([...HEAD, ...(isWide ? WIDE : [])], rows));
  for (const item of items) for (const line of faults(item)) context.printError(line);
  return 0;
}

async function all(context: CommandContext, { mesh, connected }: ProxiesOptions): Promise<readonly JsonObject[]> {
  const query = { mesh: mesh === '' ? undefined : mesh, connected: connected === true ? 'true' : undefined };
  return (await context.api()).rest.items({ path: '/_proxies', query });
}

async function one(context: CommandContext, name: string, { mesh, namespace }: ProxiesOptions): Promise<JsonObject> {
  const of = encodeURIComponent(mesh === undefined || mesh === '' ? 'default' : mesh);
  const path = `/_proxies/${of}/${encodeURIComponent(name)}`;
  return (await context.api()).rest.json({ path, query: { namespace } });
}

function row(proxy: JsonObject, now: number): string[] {
  const isConnected = proxy['connected'] === true;
  const since = textAt(proxy, isConnected ? 'since' : 'lastSeen');
  return [
    textAt(proxy, 'mesh'),
    textAt(proxy, 'name'),
    textAt(proxy, 'kind'),
    String(isConnected),
    textAt(proxy, 'replica'),
    age(since, now),
    untilText(textAt(proxy, 'certificate', 'notAfter'), now),
    String(listAt(proxy, 'rejected').length + listAt(proxy, 'refused').length),
  ];
}

function wideRow(proxy: JsonObject): string[] {
  const held = listAt(proxy, 'types').map((type) => `${textAt(type, 'type')}=${textAt(type, 'held')}`);
  return [
    textAt(proxy, 'address'),
    textAt(proxy, 'userAgent'),
    textAt(proxy, 'form'),
    textAt(proxy, 'appliedRevision'),
    held.join(','),
  ];
}

function faults(proxy: JsonObject): readonly string[] {
  const lines = (field: 'rejected' | 'refused', verb: string): readonly string[] =>
    listAt(proxy, field).map(
      (fault) =>
        `${textAt(proxy, 'mesh')}/${textAt(proxy, 'name')} ${verb} ${textAt(fault, 'type')} ${textAt(fault, 'name')}: ${textAt(fault, 'reason')}`,
    );
  return [...lines('rejected', 'rejects'), ...lines('refused', 'is not sent')];
}

function untilText(end: string, now: number): string {
  if (end === '') return '-';
  return Date.parse(end) <= now ? 'expired' : `ends in ${age(new Date(now).toISOString(), Date.parse(end))}`;
}
