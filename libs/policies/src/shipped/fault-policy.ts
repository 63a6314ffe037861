import { Type, type Static } from 'typebox';
import { rulePolicy } from './rule-policy';
import { Duration, Optionals, Percent, strict } from './schema-parts';
import { unsupportedForRequests } from './unsupported-fields';

const Spec = Optionals({
  /** Delay of requests before they are sent. */
  delay: Type.Object({ duration: Duration, percent: Percent }, strict),
  /**
   * Requests that are answered immediately and never sent. Rules of a GRPCRoute and gRPC clients use `grpcStatus`,
   * others `status`; if one is absent the other counts, and if both are, 503.
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

/** Injected faults, drawn for each request at its client. */
export const FaultPolicy = rulePolicy({
  kind: 'FaultPolicy',
  plural: 'faultpolicies',
  shortName: 'fap',
  description: 'Delays or refuses a part of the requests, to see what their clients do then.',
  does: 'delays or refuses requests',
  schema: Spec,
  unsupported: unsupportedForRequests<FaultSpec>({}),
});
