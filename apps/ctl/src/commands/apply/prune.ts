import { ApiError, type ResourceRef } from '@causeway/api-client';
import type { Kind } from '@causeway/resources';
import type { CommandContext } from '../../context';
import { messageOf } from '../../control-plane';
import { refOfItem, selectionOf, titleOf } from '../../refs';
import { textAt } from '../../render';
import { printWarnings } from '../delete';

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
  { selector, dryRun = false }: { readonly selector?: string; readonly dryRun?: boolean },
): Promise<number> {
  const kept = new Set(applied.map((a) => [a.kind.name, a.kind.scope === 'mesh' ? a.mesh : '', a.name].join('/')));
  const places = new Map(applied.map((a) => [`${a.kind.name}/${a.mesh}`, a]));
  let failures = 0;
  for (const { kind, mesh } of places.values()) {
    const { documents } = await (await context.api()).list(selectionOf(kind, { mesh }, selector));
    for (const item of documents) {
      const key = [kind.name, kind.scope === 'mesh' ? mesh : '', textAt(item, 'name')].join('/');
      if (!kept.has(key)) failures += await removeOne(context, refOfItem(kind, item), dryRun);
    }
  }
  return failures;
}

async function removeOne(context: CommandContext, ref: ResourceRef, dryRun: boolean): Promise<number> {
  try {
    const warnings = await (await context.api()).delete(ref, { dryRun });
    context.print(`${titleOf(ref)} deleted${dryRun ? ' (dry run)' : ''}`);
    printWarnings(context, warnings);
    return 0;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    context.printError(`${titleOf(ref)}: ${messageOf(error)}`);
    return 1;
  }
}
