import type { JsonObject } from '@causeway/resources';
import { isJsonArray } from '@causeway/resources';
import { UsageError, type CommandContext } from '../../context';
import { valueAt } from '../policies/policy-paths';
import { listAt, objectAt, structured, table, textAt, type Output } from '../../render';

/** A request as its options write it. */
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

/** The values of an option that is given more than once; a value may have commas. */
export const collected = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** `causeway explain request`: what happens to a request, and why every other rule lost. */
export async function explainRequest(context: CommandContext, options: ExplainRequestOptions): Promise<number> {
  const question = bodyOf(options);
  const api = await context.api();
  const answer = await api.explainRequest({ mesh: options.mesh, zone: options.zone, question });
  if (options.output === 'table') inWords(context, answer);
  else context.print(structured(answer, options.output));
  return 0;
}

function bodyOf({ to, from, identity, service, method, header = [] }: AskedRequest): JsonObject {
  if (to === undefined) throw new UsageError('explain request: --to says where the request goes, as a URL');
  const [namespace = '', dataplane] = (from ?? '').split('/');
  if (from !== undefined && (namespace === '' || dataplane === '' || from.split('/').length > 2)) {
    throw new UsageError(`--from ${from}: is neither NAMESPACE nor NAMESPACE/DATAPLANE`);
  }
  if (identity !== undefined && dataplane !== undefined) {
    throw new UsageError(
      'explain request: --identity stands beside a namespace, not beside a Dataplane, which has its own',
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
    ...(service === undefined ? {} : { service: serviceOf(service) }),
    ...(method === undefined ? {} : { method }),
    ...(headers.length > 0 ? { headers } : {}),
  };
}

function serviceOf(text: string): JsonObject {
  const parts = text.split('/');
  const [name, namespace, kind, more] = [...parts].reverse();
  if (more !== undefined || parts.includes('')) {
    throw new UsageError(`--service ${text}: is not NAME, NAMESPACE/NAME or KIND/NAMESPACE/NAME`);
  }
  return { name, ...(namespace === undefined ? {} : { namespace }), ...(kind === undefined ? {} : { kind }) };
}

function inWords(context: CommandContext, answer: JsonObject): void {
  context.print(`mesh ${textAt(answer, 'mesh')}, seen from zone ${textAt(answer, 'zone')}`);
  for (const step of textsAt(answer, 'steps')) context.print(`  ${step}`);
  const decision = objectAt(answer, 'decision');
  if (textAt(decision, 'rule') !== '') {
    const match = textAt(decision, 'match');
    context.print(
      `  ${named(objectAt(decision, 'route'))} ${textAt(decision, 'rule')} decides${match === '' ? '' : `: ${match}`}`,
    );
  }
  for (const filter of listAt(decision, 'filters')) context.print(`  filter ${textAt(filter, 'type')}`);
  context.print(`\n${outcomeText(answer)}`);
  const shares = listAt(answer, 'shares');
  if (shares.length > 0) context.print(table(['SHARE', 'TO', 'ANSWER'], shares.map(shareRow)));
  for (const mirror of listAt(answer, 'mirrors')) {
    const to = textAt(mirror, 'reason') || destinationText(objectAt(mirror, 'destination'));
    context.print(`${percent(Number(textAt(mirror, 'share')))} are copied to ${to}`);
  }
  printAccess(context, listAt(answer, 'access'));
  printPolicies(context, listAt(answer, 'policies'));
  const lost = listAt(answer, 'lost');
  if (lost.length > 0) {
    const rows = lost.map((one) => [
      textAt(one, 'route'),
      textAt(one, 'rule'),
      textAt(one, 'match'),
      textAt(one, 'reason'),
    ]);
    context.print(`\n${table(['ROUTE', 'RULE', 'MATCH', 'LOST BECAUSE IT'], rows)}`);
  }
  const more = Number(textAt(answer, 'lostTotal')) - lost.length;
  if (more > 0) context.print(`and ${more} more`);
  for (const note of textsAt(answer, 'notes')) context.print(`note: ${note}`);
}

/** Whether the caller may call each backend, and why. */
function printAccess(context: CommandContext, results: readonly JsonObject[]): void {
  const rows = results.map((one) => {
    const backend = objectAt(one, 'backend');
    const instances = textAt(one, 'instances');
    const at = `${named(objectAt(backend, 'service'))}:${textAt(backend, 'port')}`;
    const part = instances === '' ? at : `${at}, ${instances === '1' ? '1 instance' : `${instances} instances`}`;
    return [part, textAt(one, 'verdict'), textAt(one, 'caller') || '-', textAt(one, 'message')];
  });
  if (rows.length > 0) context.print(`\n${table(['CALLS TO', 'ARE', 'CALLER', 'BECAUSE'], rows)}`);
}

/** Prints the effect of policies on the rule and on each backend, and the source of each value. */
function printPolicies(context: CommandContext, policies: readonly JsonObject[]): void {
  const rows = policies.flatMap((one) => {
    const backend = objectAt(one, 'backend');
    const at =
      textAt(backend, 'port') === '' ? 'the rule' : `${named(objectAt(backend, 'service'))}:${textAt(backend, 'port')}`;
    return listAt(one, 'fields').map((field) => [
      textAt(one, 'kind'),
      at,
      textAt(field, 'field'),
      valueAt(objectAt(one, 'effective'), textAt(field, 'field')),
      textAt(field, 'policy'),
    ]);
  });
  if (rows.length > 0) context.print(`\n${table(['POLICY KIND', 'AT', 'FIELD', 'VALUE', 'POLICY'], rows)}`);
}

function outcomeText(answer: JsonObject): string {
  const status = [textAt(answer, 'status'), textAt(answer, 'reason')].filter(Boolean).join(': ');
  switch (textAt(answer, 'outcome')) {
    case 'direct':
      return 'the Dataplane answers itself';
    case 'implicit':
      return 'the service itself answers';
    case 'redirected':
      return `redirected with ${textAt(answer, 'status')} to ${textAt(answer, 'location')}`;
    case 'refused':
      return `answered ${status}`;
    default:
      return ['routed', ...timeouts(answer)].join(', ');
  }
}

function timeouts(answer: JsonObject): string[] {
  return ['requestTimeout', 'backendTimeout'].flatMap((name) => {
    const ms = textAt(answer, name);
    return ms === '' ? [] : [`${name === 'requestTimeout' ? 'request' : 'backend'} time-out ${ms} ms`];
  });
}

function shareRow(share: JsonObject): string[] {
  const part = Number(textAt(share, 'weight')) / Number(textAt(share, 'total'));
  const status = textAt(share, 'grpcStatus') === '' ? textAt(share, 'status') : `gRPC ${textAt(share, 'grpcStatus')}`;
  const to = destinationText(objectAt(share, 'destination'));
  return [percent(part), to === '' ? '-' : to, [status, textAt(share, 'reason')].filter(Boolean).join(': ')];
}

const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;

function destinationText(destination: JsonObject): string {
  const port = textAt(destination, 'port');
  return listAt(destination, 'services')
    .map((service) => `${named(service)}:${port}`)
    .join(', ');
}

function named(id: JsonObject): string {
  const parts = ['zone', 'namespace', 'name'].map((key) => textAt(id, key)).filter(Boolean);
  return `${textAt(id, 'kind')} ${parts.join('/')}`;
}

function textsAt(item: JsonObject, field: string): string[] {
  const texts = item[field];
  return isJsonArray(texts) ? texts.filter((text) => typeof text === 'string') : [];
}
