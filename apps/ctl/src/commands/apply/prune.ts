import { isJsonObject, type JsonObject, type Kind } from '@causeway/resources';
import { ApiError, listAll } from '../../api-client';
import { pathOf, type CommandContext } from '../../context';
import { textAt } from '../../render';
import { printWarnings } from '../delete';
import type { ApplyOptions } from './apply-options';

/** One document that was written, and its address. */
export interface AppliedDocument {
  readonly kind: Kind;
  readonly mesh: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Deletes resources that match the selector, are of an applied kind, were made on this control plane, and are not in the
 * files.
 */
export async function prune(
  context: CommandContext,
  applied: readonly AppliedDocument[],
  options: ApplyOptions,
): Promise<number> {
  const kept = new Set(applied.map((a) => [a.kind.name, a.kind.scope === 'mesh' ? a.mesh : '', a.name].join('/')));
  const places = new Map(applied.map((a) => [`${a.kind.name}/${a.mesh}`, a]));
  let failures = 0;
  for (const { kind, mesh } of places.values()) {
    const items = await listAll(context.api(), {
      path: pathOf(kind, mesh),
      query: { labelSelector: options.selector },
    });
    for (const item of items.filter(isJsonObject)) {
      const key = [kind.name, kind.scope === 'mesh' ? mesh : '', textAt(item, 'name')].join('/');
      if (!kept.has(key)) failures += await removeOne(context, { kind, mesh, item, dryRun: options.dryRun ?? false });
    }
  }
  return failures;
}

async function removeOne(
  context: CommandContext,
  doomed: { readonly kind: Kind; readonly mesh: string; readonly item: JsonObject; readonly dryRun: boolean },
): Promise<number> {
  const name = textAt(doomed.item, 'name');
  const namespace = textAt(doomed.item, 'namespace') || undefined;
  try {
    const query = { namespace, ...(doomed.dryRun ? { dryRun: 'true' } : {}) };
    const request = { method: 'DELETE', path: pathOf(doomed.kind, doomed.mesh, name), query } as const;
    const { body } = await context.api().send(request);
    context.print(`${doomed.kind.name} ${name} deleted${doomed.dryRun ? ' (dry run)' : ''}`);
    printWarnings(context, body);
    return 0;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    context.printError(`${doomed.kind.name} ${name}: ${error.message}`);
    return 1;
  }
}
