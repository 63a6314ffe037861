import { reviewAccess, whoAmI, type AnswerOf, type QueryOf } from '@causeway/api';
import { ApiError } from '@causeway/api-client';
import { verbs } from '@causeway/kinds';
import { Argument, type Command } from 'commander';
import { findKind, UsageError, type CommandContext } from '../../context';
import { formatApiError } from '../../control-plane';
import { listed, namespaceOption, outputOption, type SetExitCode } from '../../options';
import type { NamedResource } from '../../refs';
import { inLines, structured, type Output } from '../../render';
import { resolveConnection, resolveMesh } from '../../settings/connection';
import { describeToken } from '../../settings/token-claims';

type AskedVerb = (typeof verbs)[number];

/** `causeway auth whoami`: the caller as the control plane authenticated it, its roles, and the expiry of the token. */
export async function whoami(context: CommandContext, { output }: { readonly output: Output }): Promise<number> {
  const caller = await (await context.api()).rest.call(whoAmI);
  if (output !== 'table') {
    context.print(structured(caller, output));
    return 0;
  }
  const { token } = resolveConnection(context.config, context.flags());
  const { name, groups, by, roles } = inLines(caller);
  context.print(`User    ${name}`);
  context.print(`Groups  ${groups.join(', ') || 'none'}`);
  context.print(`By      ${BY[by] ?? by}`);
  context.print(`Token   ${describeToken(token, context.now()) || 'none'}`);
  if (roles.length === 0) context.print('Roles   none');
  for (const [i, role] of roles.entries()) context.print(`${i === 0 ? 'Roles ' : '      '}  ${roleText(role)}`);
  return 0;
}

/** Names of the authentication methods, for people. */
const BY: Readonly<Record<string, string>> = {
  'user-token': 'a user token',
  oidc: 'a token of an OIDC issuer',
  'operator-token': 'the operator token',
  'local-socket': 'its unix socket on this machine',
  // Sent by control planes of older versions.
  localhost: 'asking from the machine of the control plane',
  nothing: 'nothing: no credentials were sent',
};

function roleText({ role, binding, effect }: AnswerOf<typeof whoAmI>['roles'][number]): string {
  return `${effect === 'restricts' ? 'no more than ' : ''}${role}, by ${binding}`;
}

/** Options of `causeway auth can-i`. */
export interface CanIOptions {
  readonly namespace?: string;
  readonly mesh?: string;
  readonly as?: string;
  readonly asGroup?: readonly string[];
  readonly output: Output;
}

/**
 * `causeway auth can-i VERB KIND [NAME]`: yes or no, and the binding that decides; exit code 0: yes, 1: no, 2: unknown. Rights depend on the mesh and
 * namespace of a resource: with a name, their defaults are those of other commands.
 */
export async function canI(
  context: CommandContext,
  [verb, word, name]: readonly [AskedVerb, string, string | undefined],
  options: CanIOptions,
): Promise<number> {
  const { as: user, asGroup } = options;
  const kind = findKind(context.registry, word);
  const place =
    kind && name !== undefined
      ? await findPlace(context, { kind, name }, options)
      : { mesh: options.mesh, namespace: options.namespace };
  const query = { ...place, verb, kind: kind?.name ?? word, user, group: asGroup?.join(',') };
  const answer = await review(context, query);
  const { allowed, reason } = inLines(answer);
  if (options.output !== 'table') context.print(structured(answer, options.output));
  else context.print(`${context.paint(allowed ? 'green' : 'red', allowed ? 'yes' : 'no')}: ${reason}`);
  return allowed ? 0 : 1;
}

type AskedPlace = Pick<CanIOptions, 'mesh' | 'namespace'>;

/** Returns the mesh and namespace of a resource. A Mesh belongs to itself as a mesh, a Namespace to itself as a namespace. */
async function findPlace(
  context: CommandContext,
  { kind, name }: NamedResource,
  { mesh = resolveMesh(context.config, context.flags()), namespace = 'default' }: AskedPlace,
): Promise<AskedPlace> {
  if (kind.name === 'Mesh') return { mesh: name };
  if (kind.name === 'Namespace') return { namespace: name };
  const inNamespace = kind.namespaced ? { namespace } : {};
  if (kind.scope !== 'mesh') return inNamespace;
  return { mesh: mesh ?? (await (await context.api()).rest.expectedMesh()), ...inNamespace };
}

async function review(
  context: CommandContext,
  query: QueryOf<typeof reviewAccess>,
): Promise<AnswerOf<typeof reviewAccess>> {
  try {
    return await (await context.api()).rest.call(reviewAccess, { query });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const asksOfItself = query.user === undefined && query.group === undefined;
    // A caller without any right may not even ask.
    if (error.code === 'forbidden' && asksOfItself) return { allowed: false, reason: formatApiError(error) };
    const violations = error.violations.map(({ field, reason }) => `\n  ${field}: ${reason}`);
    throw new UsageError(`${formatApiError(error)}${violations.join('')}`, { cause: error });
  }
}

/** `causeway auth`. */
export function registerAuth(program: Command, context: CommandContext, finish: SetExitCode): void {
  const auth = program.command('auth').description('who you are to the control plane, and what you may do');
  auth
    .command('whoami')
    .description('shows whom the control plane takes you for, and your roles')
    .addOption(outputOption())
    .action(async (options: { readonly output: Output }) => finish(await whoami(context, options)));
  auth
    .command('can-i')
    .description(
      'says whether you may do something, and by which binding; exit code 0: yes, 1: no, 2: it cannot be said',
    )
    .addArgument(new Argument('<verb>', 'what is to be done').choices(verbs))
    .argument('<kind>', 'a kind, or an activity such as AuditLog')
    .argument('[name]', 'one resource; its right is that of its mesh and namespace')
    .addOption(namespaceOption())
    .option('-m, --mesh <mesh>', 'the mesh; without it and without a name: all of them')
    .option('--as <user>', 'asks for another user')
    .option('--as-group <group>', 'a group of the other user; may be repeated', listed)
    .addOption(outputOption())
    .action(async (verb: AskedVerb, kind: string, name: string | undefined, options: CanIOptions) =>
      finish(await canI(context, [verb, kind, name], options)),
    );
}
