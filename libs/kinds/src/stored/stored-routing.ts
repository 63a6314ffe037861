import type { Static, TSchema } from 'typebox';
import {
  routeKinds,
  type Gateway as RoutingGateway,
  type ReferenceGrant as RoutingGrant,
  type Route,
  type RouteKind,
  type RouteRule,
  type Service,
} from '@causeway/routing';
import {
  compileSchema,
  httpProblem,
  httpViolations,
  isWritten,
  FieldPath,
  isGeneratedFrom,
  isJsonArray,
  isJsonObject,
  Label,
  labelValue,
  ownField,
  Violations,
  type CompiledSchema,
  type HttpRole,
  type JsonValue,
  type Resource,
  type Violation,
} from '@causeway/resources';
import { Listener } from '../gateway';
import { GrpcRule } from '../grpc-route';
import { HttpRule } from '../http-route';
import { From, To } from '../reference-grant';
import { ConnectionRule, ParentRef } from '../schema/route-parts';
import { servicePorts } from './service-ports';
import { withoutNulls } from './without-nulls';

/** Maximum lengths of lists: those from another zone or an older store may be longer than kinds allow. */
const MAX_RULES = 16;
const MAX_PARENTS = 32;
const MAX_HOSTNAMES = 1_024;
const MAX_LISTENERS = 64;
const MAX_GRANTED = 16;

type Fit<T> = { readonly value: T } | { readonly violation: Violation };

const [http, grpc, connection] = [compileSchema(HttpRule), compileSchema(GrpcRule), compileSchema(ConnectionRule)];
const fitConnection = (rule: JsonValue, at: FieldPath): Fit<RouteRule> => validateItem(connection, rule, at);
const fitRule: Readonly<Record<RouteKind, (rule: JsonValue, at: FieldPath) => Fit<RouteRule>>> = {
  HTTPRoute: (rule, at) => validateItem(http, rule, at),
  GRPCRoute: (rule, at) => validateItem(grpc, rule, at),
  TLSRoute: fitConnection,
  TCPRoute: fitConnection,
  UDPRoute: fitConnection,
};
const parentSchema = compileSchema(ParentRef);
const listenerSchema = compileSchema(Listener);
const [fromSchema, toSchema] = [compileSchema(From), compileSchema(To)];
const RULES = FieldPath.at('spec').field('rules');

/**
 * Reads a stored route for routing. Stored content is validated again: a rule that does not fit its schema goes to
 * `unreadable`, an invalid parentRef or host name is left out. Linear in the document; never throws.
 */
export function storedRoute({ id, creationOrder, generation, labels, spec }: Resource): Route | undefined {
  const kind = routeKinds.find((known) => known === id.kind);
  if (!kind) return undefined;
  const { rules, unreadable } = listRules(kind, ownField(spec, 'rules'));
  const forbidden = forbiddenRules(kind, rules);
  return {
    id,
    creationOrder,
    generation,
    spec: {
      parentRefs: filterFitting(parentSchema, ownField(spec, 'parentRefs'), MAX_PARENTS),
      hostnames: readList(ownField(spec, 'hostnames'), MAX_HOSTNAMES).filter((name) => typeof name === 'string'),
      ...(rules && { rules }),
    },
    ...(unreadable.size > 0 && { unreadable }),
    ...(forbidden.size > 0 && { forbidden }),
    ...(isGeneratedFrom(labels) && { implicit: true }),
  };
}

function listRules(kind: RouteKind, given: JsonValue | undefined) {
  const unreadable = new Map<number, Violation>();
  if (given === undefined || given === null) return { rules: undefined, unreadable };
  if (!isJsonArray(given)) {
    unreadable.set(0, RULES.violation('must be a list', 'wrong-type'));
    return { rules: [{}], unreadable };
  }
  const rules = given.slice(0, MAX_RULES).map((rule, i): RouteRule => {
    const found = fitRule[kind](rule, RULES.index(i));
    if ('value' in found) return found.value;
    unreadable.set(i, found.violation);
    return {};
  });
  if (given.length > MAX_RULES) {
    const reason = `must have at most ${MAX_RULES} items, has ${given.length}`;
    unreadable.set(rules.push({}) - 1, RULES.violation(reason, 'too-many'));
  }
  return { rules, unreadable };
}

const ruleSchemas: Readonly<Partial<Record<RouteKind, TSchema>>> = { HTTPRoute: HttpRule, GRPCRoute: GrpcRule };

/** Returns the rules whose filters would write forbidden text, each with its first violation. */
function forbiddenRules(kind: RouteKind, rules: readonly RouteRule[] = []): ReadonlyMap<number, Violation> {
  const schema = ruleSchemas[kind];
  const found = new Map<number, Violation>();
  if (!schema) return found;
  rules.forEach((rule, i) => {
    const [first] = httpViolations(schema, rule, RULES.index(i), writtenProblem);
    if (first) found.set(i, first);
  });
  return found;
}

/**
 * Returns the problem of text that a filter writes. Text in matches is harmless. Writing Host is no problem here: no
 * proxy changes it, and each reports that (docs/reference/xds-translation.md).
 */
function writtenProblem(role: HttpRole, text: string): string | undefined {
  const isHost = role === 'changed header' && text.toLowerCase() === 'host';
  return isHost || !isWritten(role) ? undefined : httpProblem(role, text);
}

/** Reads a stored MeshService or MeshMultiZoneService for routing; undefined for other kinds (T002-16). */
export function storedService({ id, labels, spec }: Resource): Service | undefined {
  if (id.kind !== 'MeshService' && id.kind !== 'MeshMultiZoneService') return undefined;
  const selector = ownField(spec, 'selector');
  const headless =
    labelValue(labels, Label.headless) === 'true' ||
    (isJsonObject(selector) && isJsonObject(ownField(selector, 'dataplaneRef')));
  const ports = servicePorts({ spec }).map(({ number: port, section: name }) => ({ port, name }));
  return { id, displayName: labelValue(labels, Label.displayName) || id.name, ports, headless };
}

/** Reads a stored Gateway for routing; listeners that do not validateItem their schema are left out. */
export function storedGateway({ id, spec }: Resource): RoutingGateway {
  return { id, listeners: filterFitting(listenerSchema, ownField(spec, 'listeners'), MAX_LISTENERS) };
}

/** Reads a stored ReferenceGrant for routing; entries that do not validateItem their schema grant nothing. */
export function storedGrant({ id, spec }: Resource): RoutingGrant {
  return {
    id,
    from: filterFitting(fromSchema, ownField(spec, 'from'), MAX_GRANTED),
    to: filterFitting(toSchema, ownField(spec, 'to'), MAX_GRANTED),
  };
}

const readList = (value: JsonValue | undefined, most: number): readonly JsonValue[] =>
  isJsonArray(value) ? value.slice(0, most) : [];

/** Returns the items of a list that validateItem their schema. */
function filterFitting<S extends TSchema>(schema: CompiledSchema<S>, value: JsonValue | undefined, most: number) {
  return readList(value, most).flatMap((item): Static<S>[] => {
    const found = validateItem(schema, item, RULES);
    return 'value' in found ? [found.value] : [];
  });
}

/** Returns a value without the nulls that peers send for absent fields, or its violation. */
function validateItem<S extends TSchema>(schema: CompiledSchema<S>, given: JsonValue, at: FieldPath): Fit<Static<S>> {
  if (schema.fits(given)) return { value: given };
  const value = withoutNulls(given);
  if (schema.fits(value)) return { value };
  const found = new Violations(1);
  schema.check(value, at, found);
  const [violation = at.violation('does not fit its schema', 'invalid')] = found.first;
  return { violation };
}
