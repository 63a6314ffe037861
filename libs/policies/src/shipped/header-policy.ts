import {
  compileSchema,
  FORBIDDEN_HEADERS,
  httpProblem,
  LOWER_CASE_HEADER,
  ONE_LINE,
  type JsonObject,
  type Schema,
} from '@causeway/resources';
import { Type, type Static, type TStringOptions } from 'typebox';
import { rulePolicy } from './rule-policy';
import { Optionals } from './schema-parts';
import type { DataplaneMode, ShippedPolicy, UnsupportedField } from './shipped-policy';
import { unsupportedForRequests } from './unsupported-fields';

const names = {
  title:
    'a header name in lower case; not host, content-length, transfer-encoding, of a connection, x-forwarded-client-cert, proxy-…, x-envoy-… or x-causeway-…',
  maxLength: 256,
  pattern: LOWER_CASE_HEADER,
};
const value = { title: 'one line of text', maxLength: 4_096 };

/** `set` replaces, `add` appends, `remove` removes; for one header in the order `remove`, `set`, `add`. */
const changes = (propertyNames: Schema, text: TStringOptions) => {
  const bounds = { maxProperties: 16, propertyNames };
  const Values = Type.Record(Type.String(), Type.String(text), bounds);
  return Optionals({ set: Values, add: Values, remove: Type.Record(Type.String(), Type.Literal(true), bounds) });
};
const readHeaderSpec = (Changes: ReturnType<typeof changes>) => Optionals({ request: Changes, response: Changes });

const Spec = readHeaderSpec(
  changes({ ...names, not: { pattern: FORBIDDEN_HEADERS } }, { ...value, pattern: ONE_LINE }),
);
/** Other zones, backups and older versions may contain changes that are refused today: these are dropped one by one. */
const stored = compileSchema(readHeaderSpec(changes(names, value)));

export type HeaderSpec = Static<typeof Spec>;
export type HeaderPolicyChanges = NonNullable<HeaderSpec['request']>;

const limits = unsupportedForRequests<HeaderSpec>({ grpc: [['', 'gRPC clients change no headers', () => true]] });

/** Changes headers; a route's own filters run afterwards, so the route wins. */
export const HeaderPolicy: ShippedPolicy<typeof Spec> = {
  ...rulePolicy({
    kind: 'HeaderPolicy',
    plural: 'headerpolicies',
    shortName: 'hdp',
    description: 'Changes headers of requests and of their answers.',
    does: 'changes headers of requests and answers',
    schema: Spec,
    unsupported: (plane: DataplaneMode, spec: HeaderSpec): readonly UnsupportedField[] => {
      const found = limits(plane, spec);
      return found.some(({ field }) => field === '') ? found : [...found, ...forbiddenChanges(spec)];
    },
  }),
  read: (spec: JsonObject): HeaderSpec | undefined => (stored.fits(spec) ? spec : undefined),
};

/** Returns the changes that are sent to proxies: those that no rule forbids. */
export function permittedChanges({ set = {}, add = {}, remove = {} }: HeaderPolicyChanges): HeaderPolicyChanges {
  const permitted = <T>(map: Readonly<Record<string, T>>): Record<string, T> =>
    Object.fromEntries(Object.entries(map).filter(([name, given]) => findHeaderProblem(name, given) === undefined));
  return { set: permitted(set), add: permitted(add), remove: permitted(remove) };
}

/** Returns the changes of a stored policy that are not sent to proxies, and why. */
function forbiddenChanges(spec: HeaderSpec): readonly UnsupportedField[] {
  return (['request', 'response'] as const).flatMap((side) =>
    (['set', 'add', 'remove'] as const).flatMap((action) =>
      Object.entries(spec[side]?.[action] ?? {}).flatMap(([name, given]) => {
        const reason = findHeaderProblem(name, given);
        return reason === undefined ? [] : [{ field: `/${side}/${action}/${name}`, reason: `${name} ${reason}` }];
      }),
    ),
  );
}

function findHeaderProblem(name: string, given: unknown): string | undefined {
  const problem = httpProblem('changed header', name);
  return problem ?? (typeof given === 'string' ? httpProblem('header value', given) : undefined);
}
