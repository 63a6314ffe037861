import { compareText, type JsonObject } from '@causeway/resources';
import { requireKind, type CommandContext } from '../../context';
import { toSelection } from '../../refs';
import { structured, table, textAt, type Output } from '../../render';
import { missingVip } from '../get/columns';
import type { Command } from 'commander';
import { meshOption, outputOption, type SetExitCode } from '../../options';

export interface VipsOptions {
  readonly allMeshes?: boolean;
  readonly mesh: string;
  readonly output: Output;
}

const SERVICES = ['meshservices', 'meshexternalservices', 'meshmultizoneservices'] as const;

/** Returns all services that may have a virtual IP; `mesh` undefined means all meshes. */
export async function servicesWithAddress(context: CommandContext, mesh: string | undefined): Promise<JsonObject[]> {
  const api = await context.api();
  const lists = SERVICES.map((noun) => api.list(toSelection(requireKind(context.registry, noun), { mesh })));
  return (await Promise.all(lists)).flatMap(({ documents }) => documents);
}

/** `causeway vips`: all virtual IPs of the control plane, in the order of the addresses. */
export async function vips(context: CommandContext, options: VipsOptions): Promise<number> {
  const services = (await servicesWithAddress(context, options.allMeshes ? undefined : options.mesh)).map((item) => ({
    row: toRow(item),
    missing: missingVip(item),
  }));
  const sorted = services.sort((a, b) => compareText(sortable(a.row.ip), sortable(b.row.ip)));
  if (options.output !== 'table') {
    context.print(structured({ items: sorted.map(({ row }) => row) }, options.output));
    return 0;
  }
  const rows = sorted.map(({ row, missing }) => {
    const { ip, type, kind, mesh, zone, namespace, name } = row;
    return [ip || missing || '(none yet)', type, kind, mesh, zone, namespace, name];
  });
  context.print(table(['VIP', 'TYPE', 'KIND', 'MESH', 'ZONE', 'NAMESPACE', 'NAME'], rows));
  return 0;
}

interface VipRow {
  readonly ip: string;
  readonly type: string;
  readonly kind: string;
  readonly mesh: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
}

function toRow(item: JsonObject): VipRow {
  return {
    ip: textAt(item, 'status', 'vip', 'ip'),
    type: textAt(item, 'status', 'vip', 'type'),
    kind: textAt(item, 'type'),
    mesh: textAt(item, 'mesh'),
    zone: textAt(item, 'labels', 'kuma.io/zone'),
    namespace: textAt(item, 'namespace'),
    name: textAt(item, 'name'),
  };
}

/** Returns an address with padded numbers, so that text order is address order; services without an address come last. */
function sortable(ip: string): string {
  return ip === '' ? '~' : ip.replace(/\d+/g, (digits) => digits.padStart(3, '0'));
}

/** `causeway vips`. */
export function registerVips(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('vips')
    .description('lists the virtual IPs of a zone')
    .addOption(meshOption())
    .option('-A, --all-meshes', 'over all meshes')
    .addOption(outputOption())
    .action(async (options: VipsOptions) => finish(await vips(context, options)));
}
