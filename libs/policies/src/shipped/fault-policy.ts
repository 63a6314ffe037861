import { Type, type Static } from 'typebox';
import { rulePolicy } from './rule-policy';
import { Duration, Optionals, Percent, strict } from './schema-parts';
import { unsupportedForRequests } from './unsupported-fields';

const Spec = Optionals({
  /** Requests that wait before they are sent. */
  delay: Type.Object({ duration: Duration, percent: Percent }, strict),
  /**
   * Requests that are answered at once, and never sent. A rule of a GRPCRoute and clients of gRPC answer `grpcStatus`, others `status`;
   * where one is absent the other counts, and where both are, 503.
   */
  abort: Type.Object(
    {
      status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
      grpcStatus: Type.Optional(Type.Integer({ minimum: 1, maximum: 16 })),
      percent: Percent,
    },
    strict,
  ),
});
export type FaultSpec = Static<typeof Spec>;

/** Faults on purpose, drawn for each request at its client. */
export const FaultPolicy = rulePolicy({
  kind: 'FaultPolicy',
  plural: 'faultpolicies',
  shortName: 'fap',
  description: 'Delays or refuses a part of the requests, to see what their clients do then.',
  does: 'delays or refuses requests',
  schema: Spec,
  unsupported: unsupportedForRequests<FaultSpec>({}),
});
