import { Type, type Static } from 'typebox';
import { planRanges } from '@causeway/ipam';
import { spiffeIdProblem } from '@causeway/naming';
import { defineKind, durationMs, FieldPath, isJsonObject, Sync, type Violation } from '@causeway/resources';
import { routeKinds } from '@causeway/routing';
import { selectorViolations } from './schema/rules';
import { Duration, Optionals, PortNumber, Selector, strict } from './schema/schema-parts';

const Range = Type.String({ title: 'a range such as 245.0.0.0/12', minLength: 3, maxLength: 64 });

/** `Off` cannot be chosen: other zones could not reach the service, and would not know why. */
const MtlsOverride = Type.Object(
  { selector: Selector, port: Type.Optional(PortNumber), mtls: Type.Enum(['Strict', 'Permissive']) },
  strict,
);

const SpiffeId = Type.String({ title: 'a SPIFFE id', minLength: 1, maxLength: 2_048 });

const Spec = Type.Object(
  {
    /** Ranges of the virtual IPs of the mesh's services in every zone, by kind; a kind without a range uses the zone's own range. */
    vipRanges: Type.Optional(
      Optionals({ MeshService: Range, MeshExternalService: Range, MeshMultiZoneService: Range }),
    ),
    /** Cooldown of a freed address before another service may get it; absent means the zone's setting. */
    vipCooldown: Type.Optional(Duration),
    /** Whether services are exported to other zones by default; absent means the global's setting. */
    exportDefault: Type.Optional(Type.Enum(['All', 'None'])),
    /**
     * Treatment of the services of a lost zone; a Zone's own `lost` has precedence, absent means the global's setting.
     */
    lostZones: Type.Optional(
      Type.Object({ policy: Type.Enum(['keep', 'depreferred', 'withdraw']), after: Type.Optional(Duration) }, strict),
    ),
    /**
     * TLS mode of inbounds: Strict = mutual TLS only, Permissive = plaintext too, Off = plaintext only; absent means
     * Strict.
     */
    mtls: Type.Optional(Type.Enum(['Strict', 'Permissive', 'Off'])),
    /** Exceptions for Dataplanes, or one port of them, during migration; the first entry that selects an inbound applies. */
    mtlsOverrides: Type.Optional(Type.Array(MtlsOverride, { maxItems: 64 })),
    /**
     * Default if no policy decides about a caller: Allow admits any verified identity, Deny nobody; absent means Allow.
     */
    defaultAccess: Type.Optional(Type.Enum(['Allow', 'Deny'])),
    /** Revoked SPIFFE ids: their workloads cannot call, get no certificate, and receive no requests. */
    revokedIdentities: Type.Optional(Type.Array(SpiffeId, { maxItems: 64 })),
    /**
     * Whether processes behind HTTP inbounds may rely on `x-forwarded-client-cert`: with Required, an instance whose
     * dataplane mode forwards the caller's own header is NotReady; absent means Optional.
     */
    clientCertHeader: Type.Optional(Type.Enum(['Required', 'Optional'])),
    /** Maximum age of an inbound connection, 1s to 24h; absent means 1h. */
    maxConnectionAge: Type.Optional(Duration),
    /**
     * Kuma: Dataplanes that are not enrolled yet may use tokens in Kuma's form, which name no services; absent means
     * they may not (docs/reference/enrolments.md).
     */
    dataplaneTokens: Type.Optional(Type.Enum(['Kuma'])),
    /** Namespaces from which routes may bind to a service, and their kinds; absent means all (T002-02). */
    allowedRoutes: Type.Optional(
      Optionals({
        namespaces: Type.Object(
          { from: Type.Enum(['All', 'Same', 'Selector']), selector: Type.Optional(Selector) },
          strict,
        ),
        kinds: Type.Array(Type.Object({ kind: Type.Enum([...routeKinds]) }, strict), { maxItems: 8 }),
      }),
    ),
  },
  { ...strict, examples: [{ vipRanges: { MeshService: '245.0.0.0/12' }, exportDefault: 'None' }] },
);

/** Bounds of `maxConnectionAge`, ms. */
const MIN_AGE = 1_000;
const MAX_AGE = 86_400_000;

/** The settings of a mesh, as a MeshParameters or a ConfigMap holds them. */
export type MeshParametersSpec = Static<typeof Spec>;

/** Settings of the meshes whose `parametersRef` names this resource (GEP-3949; rows T000-30 to T000-34). */
export const MeshParameters = defineKind({
  name: 'MeshParameters',
  plural: 'meshparameters',
  shortName: 'mp',
  apiVersion: 'causeway.io/v1alpha1',
  scope: 'global',
  sync: Sync.settings,
  writer: 'operator',
  bounds: { bytes: 64 * 1024 },
  spec: Spec,
  validate: ({ vipRanges, allowedRoutes, mtlsOverrides = [], maxConnectionAge, revokedIdentities = [] }, at) => [
    ...rangeViolations(vipRanges, at.field('vipRanges')),
    ...mtlsOverrides.flatMap(({ selector }, i) =>
      selectorViolations(selector, at.field('mtlsOverrides').index(i).field('selector')),
    ),
    ...revokedIdentities.flatMap((id, i) => idViolations(id, at.field('revokedIdentities').index(i))),
    ...ageViolations(maxConnectionAge, at.field('maxConnectionAge')),
    ...allowedRoutesViolations(allowedRoutes, at.field('allowedRoutes').field('namespaces')),
  ],
});

/**
 * Returns the violations of settings from a peer or a ConfigMap, with field paths from `at`. Linear in the settings.
 */
export function checkMeshParameters(spec: unknown, at: FieldPath): readonly Violation[] {
  if (!isJsonObject(spec)) return [at.violation('must be an object', 'wrong-type')];
  return MeshParameters.check(spec, at).first;
}

/** Whether settings break no rule. */
export function isMeshParameters(spec: unknown): spec is MeshParametersSpec {
  return checkMeshParameters(spec, FieldPath.at()).length === 0;
}

/** Checks each range by itself, and that the ranges of different kinds do not overlap. */
function rangeViolations(ranges: MeshParametersSpec['vipRanges'], at: FieldPath): Violation[] {
  const settings = Object.entries(ranges ?? {}).map(([owner, range]) => ({ owner, range }));
  const plan = planRanges(settings, { force: true });
  return plan.ok ? [] : plan.errors.map((error) => at.violation(error, 'invalid'));
}

function idViolations(id: string, at: FieldPath): Violation[] {
  const problem = spiffeIdProblem(id);
  return problem === undefined ? [] : [at.violation(`is no SPIFFE id: ${problem}; got "${id}"`, 'wrong-form')];
}

function ageViolations(age: string | undefined, at: FieldPath): Violation[] {
  const ms = age === undefined ? MIN_AGE : durationMs(age);
  if (ms !== undefined && ms >= MIN_AGE && ms <= MAX_AGE) return [];
  return [at.violation(`must be from 1s to 24h; got ${age ?? ''}`, 'out-of-range')];
}

function allowedRoutesViolations(routes: MeshParametersSpec['allowedRoutes'], at: FieldPath): Violation[] {
  if (!routes?.namespaces) return [];
  const { from, selector } = routes.namespaces;
  const field = at.field('selector');
  if (from === 'Selector' && !selector) return [field.violation('is required with from: Selector', 'required')];
  if (from !== 'Selector' && selector) return [field.violation(`must be absent with from: ${from}`)];
  return selectorViolations(selector, field);
}
