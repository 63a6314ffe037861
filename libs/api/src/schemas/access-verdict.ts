import { Type } from 'typebox';
import { Integer, Text, type Value } from '../schema';
import { BackendName } from './named';

/** Whether the caller of a request may call a backend, with the deciding rule. */
export const AccessVerdict = Type.Object(
  {
    backend: BackendName,
    verdict: Type.Enum(['allowed', 'refused', 'unknown']),
    caller: Type.Optional(Text),
    by: Type.Optional(Text),
    policies: Type.Array(Text),
    message: Text,
    instances: Type.Optional(Integer),
  },
  {
    description:
      'Whether AccessPolicies let the caller in at a backend. by: allow/RULE, deny/RULE, allow (no rule of it fits), defaultAccess, path, mtls, identity or revoked; caller: the SPIFFE id that was evaluated; instances: about how many of them it is said, where they differ.',
  },
);
export type AccessVerdict = Value<typeof AccessVerdict>;
