import { Type, type Static } from 'typebox';
import { rulePolicy } from './rule-policy';
import { Optionals } from './schema-parts';
import { unableWhere } from './unable';

/** Headers that say where a request goes, how its body is framed, or what the proxy is to do. */
const FORBIDDEN =
  '^(host|content-length|transfer-encoding|connection|keep-alive|proxy-connection|te|trailer|upgrade)$|^x-envoy-';

const names = {
  maxProperties: 16,
  propertyNames: {
    title: 'a header name in lower case; not host, content-length, transfer-encoding, of a connection, or x-envoy-…',
    maxLength: 256,
    pattern: "^[a-z0-9!#$%&'*+\\-.^_`|~]+$",
    not: { pattern: FORBIDDEN },
  },
};
/** Printable, and nothing that could end a header. */
const Value = Type.String({
  title: 'one line of text',
  maxLength: 4_096,
  pattern: '^[^\\x00-\\x08\\x0a-\\x1f\\x7f]*$',
});
const Values = Type.Record(Type.String(), Value, names);
const Names = Type.Record(Type.String(), Type.Literal(true), names);
/** `set` replaces, `add` appends, `remove` takes away; of one header `remove` is first, then `set`, then `add`. */
const Changes = Optionals({ set: Values, add: Values, remove: Names });

const Spec = Optionals({ request: Changes, response: Changes });
export type HeaderSpec = Static<typeof Spec>;
export type HeaderPolicyChanges = Static<typeof Changes>;

/** Changes of headers; a route's own filters come after them, so that the route wins. */
export const HeaderPolicy = rulePolicy({
  kind: 'HeaderPolicy',
  plural: 'headerpolicies',
  shortName: 'hdp',
  description: 'Changes headers of requests and of their answers.',
  does: 'changes headers of requests and answers',
  schema: Spec,
  unable: unableWhere<HeaderSpec>({ grpc: [['', 'gRPC clients change no headers', () => true]] }),
});
