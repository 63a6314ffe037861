import type { AccessVerdict, Named, RequestAnswer, RequestQuestion, ShapedBy } from '@causeway/api';
import type { OpenWords } from '@causeway/api-client';
import { UsageError, type CommandContext } from '../../context';
import { valueAt } from '../policies/policy-paths';
import { inLines, joinGiven, pathTo, structured, table, textAt, type Output } from '../../render';

/** A request from the command's options. */
export interface AskedRequest {
  readonly to?: string;
  readonly from?: string;
  readonly identity?: string;
  readonly service?: string;
  readonly method?: string;
  readonly header?: readonly string[];
}

interface ExplainRequestOptions extends AskedRequest {
  readonly mesh: string;
  readonly zone: string | undefined;
  readonly output: Output;
}

type OpenQuestion = OpenWords<RequestQuestion>;
type AnsweredShare = NonNullable<RequestAnswer['shares']>[number];

/** Collects the values of a repeatable option; a value may contain commas. */
export const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** `causeway explain request`: the handling of a request, and why every other rule lost. */
export async function explainRequest(context: CommandContext, options: ExplainRequestOptions): Promise<number> {
  const question = parseRequest(options);
  const api = await context.api();
  const answer = await api.explainRequest({ mesh: options.mesh, zone: options.zone, question });
  if (options.output === 'table') inWords(context, inLines(answer));
  else context.print(structured(answer, options.output));
  return 0;
}

function parseRequest({ to, from, identity, service, method, header = [] }: AskedRequest): OpenQuestion {
  if (to === undefined) throw new UsageError('explain request: --to says where the request goes, as a URL');
  const [namespace = '', dataplane] = (from ?? '').split('/');
  if (from !== undefined && (namespace === '' || dataplane === '' || from.split('/').length > 2)) {
    throw new UsageError(`--from ${from}: is neither NAMESPACE nor NAMESPACE/DATAPLANE`);
  }
  if (identity !== undefined && dataplane !== undefined) {
    throw new UsageError(
      'explain request: --identity cannot be given with a Dataplane, which has an identity of its own; give --from NAMESPACE',
    );
  }
  const sender = {
    ...(from === undefined ? {} : { namespace, ...(dataplane === undefined ? {} : { dataplane }) }),
    ...(identity === undefined ? {} : { spiffeId: identity }),
  };
  const headers = header.map((text) => {
    const colon = text.indexOf(':');
    if (colon < 1) throw new UsageError(`--header ${text}: is not NAME:VALUE`);
    return { name: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim() };
  });
  return {
    to,
    ...(Object.keys(sender).length > 0 ? { from: sender } : {}),
    ...(service === undefined ? {} : { service: parseService(service) }),
    ...(method === undefined ? {} : { method }),
    ...(headers.length > 0 ? { headers } : {}),
  };
}

function parseService(text: string): NonNullable<OpenQuestion['service']> {
  const parts = text.split('/');
  const [name = '', namespace, kind, more] = [...parts].reverse();
  if (more !== undefined || parts.includes('')) {
    throw new UsageError(`--service ${text}: is not NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME`);
  }
  return { name, ...(namespace === undefined ? {} : { namespace }), ...(kind === undefined ? {} : { kind }) };
}

function inWords(context: CommandContext, answer: RequestAnswer): void {
  const { mesh, zone, steps, decision, shares = [], mirrors = [], access = [], policies = [], lost, notes } = answer;
  context.print(`mesh ${mesh}, seen from zone ${zone}`);
  for (const step of steps) context.print(`  ${step}`);
  if (decision?.rule) {
    const { route, rule, match } = decision;
    context.print(`  ${route ? named(route) : ' '} ${rule} decides${match ? `: ${match}` : ''}`);
  }
  for (const filter of decision?.filters ?? []) context.print(`  filter ${textAt(filter, 'type')}`);
  context.print(`\n${outcomeText(answer)}`);
  if (shares.length > 0) context.print(table(['SHARE', 'TO', 'ANSWER'], shares.map(shareRow)));
  for (const { share, reason, destination } of mirrors)
    context.print(`${percent(share)} are copied to ${reason || destinationText(destination)}`);
  printAccess(context, access);
  printPolicies(context, policies);
  if (lost.length > 0) {
    const rows = lost.map(({ route, rule, match, reason }) => [route, rule, match, reason]);
    context.print(`\n${table(['ROUTE', 'RULE', 'MATCH', 'LOST BECAUSE IT'], rows)}`);
  }
  const more = answer.lostTotal - lost.length;
  if (more > 0) context.print(`and ${more} more`);
  for (const note of notes) context.print(`note: ${note}`);
}

/** Prints whether the caller may call each backend, and the reason. */
function printAccess(context: CommandContext, results: readonly AccessVerdict[]): void {
  const rows = results.map(({ backend, verdict, caller, message, instances }) => {
    const at = backendText(backend);
    const part = instances === undefined ? at : `${at}, ${instances === 1 ? '1 instance' : `${instances} instances`}`;
    return [part, verdict, caller || '-', message];
  });
  if (rows.length > 0) context.print(`\n${table(['CALLS TO', 'ARE', 'CALLER', 'BECAUSE'], rows)}`);
}

/** Prints the effect of policies on the rule and on each backend, and the source of each value. */
function printPolicies(context: CommandContext, policies: readonly ShapedBy[]): void {
  const rows = policies.flatMap(({ kind, backend, effective, fields }) => {
    const at = backend ? backendText(backend) : 'the rule';
    return fields.map(({ field, policy }) => [kind, at, field, valueAt(effective, field), policy]);
  });
  if (rows.length > 0) context.print(`\n${table(['POLICY KIND', 'AT', 'FIELD', 'VALUE', 'POLICY'], rows)}`);
}

function outcomeText({ outcome, status, reason, location = '', ...timeouts }: RequestAnswer): string {
  switch (outcome) {
    case 'direct':
      return 'the Dataplane answers itself';
    case 'implicit':
      return 'the service itself answers';
    case 'redirected':
      return `redirected with ${status ?? ''} to ${location}`;
    case 'refused':
      return `answered ${statusText(status, reason)}`;
    default: {
      const { requestTimeout, backendTimeout } = timeouts;
      const request = requestTimeout === undefined ? undefined : `request time-out ${requestTimeout} ms`;
      const backend = backendTimeout === undefined ? undefined : `backend time-out ${backendTimeout} ms`;
      return joinGiven(['routed', request, backend], ', ');
    }
  }
}

function statusText(status: number | string | undefined, reason: string | undefined): string {
  return joinGiven([status === undefined ? '' : String(status), reason], ': ');
}

function shareRow({ weight, total, destination, status, grpcStatus, reason }: AnsweredShare): string[] {
  const code = grpcStatus === undefined ? status : `gRPC ${grpcStatus}`;
  return [percent(weight / total), destinationText(destination) || '-', statusText(code, reason)];
}

const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;

function destinationText(destination: AnsweredShare['destination']): string {
  if (!destination) return '';
  return destination.services.map((service) => backendText({ service, port: destination.port })).join(', ');
}

function backendText({ service, port }: AccessVerdict['backend']): string {
  return `${named(service)}:${port}`;
}

function named({ kind, zone, namespace, name }: Named): string {
  return `${kind} ${pathTo({ zone, namespace, name })}`;
}
