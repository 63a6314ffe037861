import { Type } from 'typebox';
import { component, strict, type Value } from '../schema';

const Name = Type.String({
  minLength: 1,
  maxLength: 253,
  pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
  title: 'a name',
});

/** Maximum length of the URL of a question. */
const MAX_URL_LENGTH = 2_048;

const Sender = Type.Object(
  {
    namespace: Type.Optional(Name),
    dataplane: Type.Optional(Name),
    gateway: Type.Optional(Name),
    spiffeId: Type.Optional(
      Type.String({ maxLength: 2_048, pattern: '^spiffe://[!-~]+$', title: 'a SPIFFE id: spiffe://…' }),
    ),
  },
  {
    ...strict,
    description:
      'Who sends: a Dataplane, any of a namespace ("default" where none is named), or a Gateway of that namespace. Whether AccessPolicies let it in is said of a Dataplane, or of the spiffeId that it shows: a caller of another zone, say.',
  },
);

const Service = Type.Object(
  {
    kind: Type.Optional(Type.Enum(['MeshService', 'MeshMultiZoneService'])),
    namespace: Type.Optional(Name),
    name: Name,
  },
  { ...strict, description: 'The service to which the request goes, whatever the host of the URL is.' },
);

const Header = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 256,
      title: 'a header name',
      pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
    }),
    value: Type.String({ maxLength: 4_096, pattern: '^[^\\r\\n\\u0000]*$', title: 'one line' }),
  },
  strict,
);

/** A question about the handling of a request: sender, request and destination. */
export const RequestQuestion = Type.Object(
  {
    from: Type.Optional(Sender),
    to: Type.String({
      minLength: 1,
      maxLength: MAX_URL_LENGTH,
      description:
        'A URL: scheme http, grpc, tcp, tls or udp; a hostname of the mesh, a virtual IP or the address of a Dataplane; port 80 where none is named.',
    }),
    service: Type.Optional(Service),
    method: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 32,
        pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
        title: 'a method such as GET',
      }),
    ),
    headers: Type.Optional(Type.Array(Header, { maxItems: 64 })),
  },
  component('RequestQuestion', {
    ...strict,
    examples: [{ from: { namespace: 'default' }, to: 'http://redis.svc.mesh.local:6379/', method: 'GET' }],
  }),
);
export type RequestQuestion = Value<typeof RequestQuestion>;
