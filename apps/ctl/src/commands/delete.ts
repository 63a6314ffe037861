import { kindOf, pathOf, type CommandContext } from '../context';

export interface DeleteOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly dryRun?: boolean;
}

/** `causeway delete NOUN NAME...`: stops at the first refusal. */
export async function remove(
  context: CommandContext,
  noun: string,
  names: readonly string[],
  options: DeleteOptions,
): Promise<number> {
  const kind = kindOf(context.registry, noun);
  for (const name of names) {
    const query = { namespace: options.namespace, ...(options.dryRun ? { dryRun: 'true' } : {}) };
    await context.api().send({ method: 'DELETE', path: pathOf(kind, options.mesh, name), query });
    context.print(`${kind.name} ${name} deleted${options.dryRun ? ' (dry run)' : ''}`);
  }
  return 0;
}
