import { setTimeout as pause } from 'node:timers/promises';
import { ApiError, type ResourceRef } from '@causeway/api-client';
import type { JsonObject } from '@causeway/resources';
import type { Command } from 'commander';
import { UsageError, type CommandContext } from '../context';
import { meshOption, parseSeconds, type SetExitCode } from '../options';
import { parseRefs, formatTitle } from '../refs';
import { listAt, objectAt, textAt } from '../render';

export interface WaitOptions {
  readonly mesh: string;
  readonly namespace?: string;
  readonly zone?: string;
  readonly for: string;
  readonly timeout: string;
}

/** Condition to wait for. */
type Goal =
  | { readonly type: 'delete' }
  | { readonly type: 'create' }
  | { readonly type: 'condition'; readonly condition: string; readonly status: string };

/** Interval of the polls of a resource, ms. */
const INTERVAL = 250;

/** `causeway wait`: the exit code is 0 once every resource has reached the goal, 1 on a timeout. */
export async function wait(context: CommandContext, words: readonly string[], options: WaitOptions): Promise<number> {
  const goal = parseGoal(options.for);
  const refs = parseRefs(context.registry, words, options);
  const end = context.now() + parseSeconds(options.timeout, '--timeout') * 1_000;
  for (const ref of refs) {
    const state = await untilReached(context, ref, { goal, end });
    if (state !== undefined) {
      context.printError(`${formatTitle(ref)}: not ${options.for} after ${options.timeout}: ${state}`);
      return 1;
    }
    context.print(
      `${formatTitle(ref)} ${goal.type === 'condition' ? `${goal.condition} is ${goal.status}` : `${goal.type}d`}`,
    );
  }
  return 0;
}

function parseGoal(text: string): Goal {
  if (text === 'delete' || text === 'create') return { type: text };
  const [, condition, status = 'True'] = /^condition=([A-Za-z.]{1,128})(?:=([A-Za-z]{1,16}))?$/.exec(text) ?? [];
  if (condition === undefined)
    throw new UsageError(`--for: "${text}" is not condition=TYPE, condition=TYPE=STATUS, delete or create`);
  return { type: 'condition', condition, status };
}

/** Resolves with undefined once the resource has reached the goal; after a timeout with its actual state. */
async function untilReached(
  context: CommandContext,
  ref: ResourceRef,
  { goal, end }: { readonly goal: Goal; readonly end: number },
): Promise<string | undefined> {
  for (;;) {
    const state = lacks(goal, await read(context, ref));
    if (state === undefined || context.now() >= end) return state;
    await pause(Math.min(INTERVAL, Math.max(1, end - context.now())), undefined, { signal: context.signal });
  }
}

/** Reads the resource; undefined if there is none. */
async function read(context: CommandContext, ref: ResourceRef): Promise<JsonObject | undefined> {
  try {
    return (await (await context.api()).get(ref)).document;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not-found') return undefined;
    throw error;
  }
}

/** Describes how a resource differs from the goal; undefined if it does not. */
function lacks(goal: Goal, resource: JsonObject | undefined): string | undefined {
  if (goal.type === 'delete') return resource ? 'it is still there' : undefined;
  if (!resource) return 'there is none';
  if (goal.type === 'create') return undefined;
  const all = listAt(objectAt(resource, 'status'), 'conditions');
  const found = all.find((condition) => textAt(condition, 'type').toLowerCase() === goal.condition.toLowerCase());
  if (!found)
    return `it has ${all.length === 0 ? 'no conditions' : `only the conditions ${all.map((each) => textAt(each, 'type')).join(', ')}`}`;
  if (textAt(found, 'status').toLowerCase() === goal.status.toLowerCase()) return undefined;
  return [`${textAt(found, 'type')} is ${textAt(found, 'status')}`, textAt(found, 'reason'), textAt(found, 'message')]
    .filter((part) => part !== '')
    .join(': ');
}

/** `causeway wait`. */
export function registerWait(program: Command, context: CommandContext, finish: SetExitCode): void {
  program
    .command('wait')
    .description('waits until resources have a condition, are there, or are gone')
    .argument('<words...>', 'KIND/NAME... or KIND NAME...')
    .requiredOption('--for <what>', 'condition=TYPE[=STATUS] (STATUS is True unless given), create, or delete')
    .option('--timeout <duration>', 'such as 30s or 5m; exit code 1 afterwards', '30s')
    .addOption(meshOption())
    .option('-n, --namespace <namespace>')
    .option('-z, --zone <zone>', "a zone's copy; empty for the global's")
    .action(async (words: string[], options: WaitOptions) => finish(await wait(context, words, options)));
}
