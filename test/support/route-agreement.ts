import type { HeaderChanges, RequestOutcome, Share } from '@causeway/routing';
import { Prng } from '../simulation/engine/prng';
import { RandomRoutes } from './random-routes';
import type { Routed, RoutedPlane } from './routed-plane';
import type { Asked } from './routing-mesh';

/** A request about which the table of routes and an Envoy do not agree. */
export interface Disagreement {
  readonly asked: Asked;
  readonly expected: readonly string[];
  readonly got: string;
  /** The rules that were bound, as JSON. */
  readonly rules: string;
}

/** Requests for each set of routes, unless told. */
const REQUESTS = 50;
const AT_ONCE = 50;
const MOST_FOUND = 10;
/** Answers of Envoy to a gRPC call by an HTTPRoute in place of 500 and redirects (docs/reference/routing.md). */
const ANSWERED_UNKNOWN = /^(grpc 14|3\d\d .*)$/;
const UNKNOWN = 'grpc 2';

/** Sends random requests through an Envoy with random routes; what the table said, and what came back, where they differ. */
export async function disagreements(
  routed: RoutedPlane,
  pairs: number,
  seed: number,
  each = REQUESTS,
): Promise<readonly Disagreement[]> {
  const found: Disagreement[] = [];
  const random = new RandomRoutes(new Prng(seed));
  for (let done = 0; done < pairs && found.length < MOST_FOUND; done += each) {
    const kind = random.kind();
    const set = done / each;
    await routed.clear();
    for (const name of set % 2 === 0 ? ['one', 'two'] : ['one'])
      await routed.route(kind, name, random.spec(kind, 'mesh'));
    if (set % 4 === 0) await routed.route('HTTPRoute', 'consumer', random.spec('HTTPRoute', 'mesh'), 'consumer');
    const requests = Array.from({ length: each }, () => random.request(kind === 'GRPCRoute'));
    for (let i = 0; i < requests.length; i += AT_ONCE) {
      const slice = requests.slice(i, i + AT_ONCE);
      const answers = await Promise.all(slice.map((asked) => routed.ask(asked)));
      slice.forEach((asked, at) => {
        const answer = answers[at] as Routed;
        const { outcome, binding } = routed.decide(asked, ({ name }) => name !== 'empty');
        const isUnknown = binding?.kind === 'HTTPRoute' && asked.headers?.['content-type'] !== undefined;
        const expected = expectedOf(outcome, asked).flatMap((each) =>
          isUnknown && ANSWERED_UNKNOWN.test(each) ? [each, UNKNOWN] : [each],
        );
        const got = told(answer);
        if (!expected.includes(got))
          found.push({ asked, expected, got, rules: JSON.stringify(binding?.routes.map(({ spec }) => spec.rules)) });
      });
    }
  }
  return found;
}

const CHANGED = ['x-a', 'x-b', 'x-c'];

type Headers = Readonly<Record<string, string | undefined>>;

/** An answer in one text: all of it that routes decide. */
function text(fields: {
  readonly name: string;
  readonly url: string;
  readonly host: string;
  readonly got: Headers;
  readonly answer: Headers;
}): string {
  const values = (headers: Headers): string =>
    CHANGED.map((name) => `${name}=${headers[name]?.replace(/, /g, ',') ?? ''}`).join(' ');
  return `${fields.name} ${fields.host} ${fields.url} got ${values(fields.got)} answered ${values(fields.answer)}`;
}

function told({ status, name, url, headers, answer }: Routed): string {
  const grpc = answer['grpc-status'];
  if (grpc !== undefined) return `grpc ${String(grpc)}`;
  if (answer.location !== undefined) return `${status} ${answer.location}`;
  if (name === '') return String(status);
  return text({ name, url, host: headers.host ?? '', got: headers as Headers, answer: answer as Headers });
}

/** Each answer that a fair draw may give. */
function expectedOf(outcome: RequestOutcome, { url = '' }: Asked): readonly string[] {
  if (outcome.type === 'refused') return [refusal(outcome)];
  if (outcome.type === 'redirected') return [`${outcome.statusCode} ${outcome.location}`];
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  return outcome.shares.map(({ result }) => (result.type === 'refused' ? refusal(result) : forwarded(result, query)));
}

function refusal({ status, grpcStatus }: { readonly status: number; readonly grpcStatus?: number }): string {
  return grpcStatus === undefined ? String(status) : `grpc ${grpcStatus}`;
}

function forwarded(
  { destination, request, responseChanges }: Extract<Share['result'], { type: 'forwarded' }>,
  query: string,
): string {
  const [service] = destination.services;
  const got = Object.fromEntries((request?.headers ?? []).map(([name, value]) => [name.toLowerCase(), value]));
  const answer = responseChanges.reduce<Headers>(changed, {});
  return text({
    name: service?.name ?? '',
    host: request?.host ?? '',
    url: `${request?.path ?? ''}${query}`,
    got,
    answer,
  });
}

function changed(headers: Headers, { set = [], add = [], remove = [] }: HeaderChanges): Headers {
  const next: Record<string, string | undefined> = { ...headers };
  for (const name of remove) next[name.toLowerCase()] = undefined;
  for (const { name, value } of set) next[name.toLowerCase()] = value;
  for (const { name, value } of add) {
    const before = next[name.toLowerCase()];
    next[name.toLowerCase()] = before === undefined ? value : `${before},${value}`;
  }
  return next;
}
