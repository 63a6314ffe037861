import { Type, type Static } from 'typebox';
import {
  DEFAULT_SPIFFE_PATH,
  DEFAULT_TRUST_DOMAIN,
  MAX_TEMPLATE_LENGTH,
  parseSpiffePathTemplate,
  parseTrustDomainTemplate,
  type SpiffeTemplatePart,
} from '@causeway/naming';
import { defineKind, Label, Sync, type FieldPath, type Violation } from '@causeway/resources';
import { GoDuration, NonEmpty, Optionals, Pem, strict, StringMap, Text } from './schema/schema-parts';

/** Source of a certificate or key: `type`, and the field that belongs to it. */
const Source = Type.Object(
  {
    type: Type.Enum(['File', 'Secret', 'EnvVar', 'InsecureInline']),
    file: Type.Optional(Type.Object({ path: Text }, strict)),
    secretRef: Type.Optional(Type.Object({ kind: Type.Enum(['Secret']), name: NonEmpty }, strict)),
    envVar: Type.Optional(Type.Object({ name: NonEmpty }, strict)),
    insecureInline: Type.Optional(Type.Object({ value: Pem }, strict)),
  },
  strict,
);

const sourceFields = { File: 'file', Secret: 'secretRef', EnvVar: 'envVar', InsecureInline: 'insecureInline' } as const;

const Bundled = Optionals({
  insecureAllowSelfSigned: Type.Boolean(),
  meshTrustCreation: Type.Enum(['Enabled', 'Disabled']),
  autogenerate: Optionals({ enabled: Type.Boolean() }),
  ca: Optionals({ certificate: Source, privateKey: Source }),
  certificateParameters: Optionals({ expiry: GoDuration }),
});

const Provider = Type.Object(
  {
    type: Type.Enum(['Bundled', 'Spire']),
    bundled: Type.Optional(Bundled),
    spire: Type.Optional(Optionals({ agent: Optionals({ timeout: GoDuration }) })),
  },
  strict,
);

const Spec = Type.Object(
  {
    /** Absent selects no Dataplane; an empty `matchLabels` selects all. */
    selector: Type.Optional(Optionals({ dataplane: Optionals({ matchLabels: StringMap }) })),
    spiffeID: Type.Optional(
      Optionals({
        trustDomain: Type.String({ minLength: 1, maxLength: MAX_TEMPLATE_LENGTH }),
        path: Type.String({ minLength: 1, maxLength: MAX_TEMPLATE_LENGTH }),
      }),
    ),
    provider: Provider,
  },
  {
    ...strict,
    examples: [
      {
        selector: { dataplane: { matchLabels: {} } },
        spiffeID: { trustDomain: DEFAULT_TRUST_DOMAIN, path: DEFAULT_SPIFFE_PATH },
        provider: { type: 'Bundled' },
      },
    ],
  },
);

/**
 * Defines the SPIFFE ids of the selected Dataplanes, and the issuer of their certificates (docs/design.md §1, Identity
 * and addresses of zones). `Bundled` without `ca` means an authority that each zone creates for itself.
 */
export const MeshIdentity = defineKind({
  name: 'MeshIdentity',
  plural: 'meshidentities',
  shortName: 'mid',
  scope: 'mesh',
  sync: Sync.bothWays,
  writer: 'operator',
  spec: Spec,
  validate: (spec, at) => [
    ...templateViolations(parseTrustDomainTemplate(readTrustDomain(spec)), at.field('spiffeID').field('trustDomain')),
    ...templateViolations(parseSpiffePathTemplate(readPath(spec)), at.field('spiffeID').field('path')),
    ...checkWorkloadInPath(spec, at.field('spiffeID').field('path')),
    ...checkProvider(spec.provider, at.field('provider')),
  ],
  warn: ({ spec }) => [
    ...(spec.selector?.dataplane ? [] : ['spec.selector.dataplane: there is none, so no Dataplane is selected']),
    ...collectParts(parseTrustDomainTemplate(readTrustDomain(spec)), (parts) =>
      readsVariable(parts, 'Zone')
        ? []
        : ['spec.spiffeID.trustDomain: is without {{ .Zone }}, so the workloads of two zones share one trust domain'],
    ),
    ...collectParts(parseSpiffePathTemplate(readPath(spec)), (parts) =>
      parts.flatMap((part) =>
        part.type === 'label'
          ? [
              `spec.spiffeID.path: reads label "${part.key}", which service owners can set; ids can be taken by relabelling`,
            ]
          : [],
      ),
    ),
  ],
});

type MeshIdentitySpec = Static<typeof Spec>;
type Parsed = ReturnType<typeof parseSpiffePathTemplate>;

const readTrustDomain = (spec: MeshIdentitySpec): string => spec.spiffeID?.trustDomain ?? DEFAULT_TRUST_DOMAIN;
const readPath = (spec: MeshIdentitySpec): string => spec.spiffeID?.path ?? DEFAULT_SPIFFE_PATH;

function templateViolations(parsed: Parsed, at: FieldPath): Violation[] {
  return parsed.ok ? [] : [at.violation(parsed.reason, 'wrong-form')];
}

function collectParts<T>(parsed: Parsed, of: (parts: readonly SpiffeTemplatePart[]) => readonly T[]): readonly T[] {
  return parsed.ok ? of(parsed.parts) : [];
}

function readsVariable(parts: readonly SpiffeTemplatePart[], variable: string): boolean {
  return parts.some((part) => part.type === 'variable' && part.variable === variable);
}

/** Requires the workload in the path, unless the selector names one workload: all selected Dataplanes would share one id. */
function checkWorkloadInPath(spec: MeshIdentitySpec, at: FieldPath): readonly Violation[] {
  if (spec.selector?.dataplane?.matchLabels?.[Label.workload] !== undefined) return [];
  return collectParts(parseSpiffePathTemplate(readPath(spec)), (parts) =>
    readsVariable(parts, 'Workload')
      ? []
      : [
          at.violation(
            `must have {{ .Workload }}, or two workloads get one id; or select one by the label ${Label.workload}; ` +
              `got "${readPath(spec)}"`,
          ),
        ],
  );
}

function checkProvider({ type, bundled, spire }: MeshIdentitySpec['provider'], at: FieldPath): Violation[] {
  return [
    ...(type === 'Spire' && bundled ? [at.field('bundled').violation('must be left out with type Spire')] : []),
    ...(type === 'Bundled' && spire ? [at.field('spire').violation('must be left out with type Bundled')] : []),
    ...(bundled ? checkBundled(bundled, at.field('bundled')) : []),
  ];
}

function checkBundled({ autogenerate, ca }: Static<typeof Bundled>, at: FieldPath): Violation[] {
  const place = at.field('ca');
  if (autogenerate?.enabled === true) {
    return ca ? [place.violation('must be left out with autogenerate.enabled')] : [];
  }
  if (!ca)
    return autogenerate?.enabled === false ? [place.violation('is required without autogenerate', 'required')] : [];
  return [
    ...checkSource(ca.certificate, place.field('certificate')),
    ...checkSource(ca.privateKey, place.field('privateKey')),
    ...(ca.privateKey?.insecureInline
      ? [
          place
            .field('privateKey')
            .field('insecureInline')
            .violation('must not hold a key: a MeshIdentity goes to every zone; name a Secret'),
        ]
      : []),
  ];
}

function checkSource(source: Static<typeof Source> | undefined, at: FieldPath): Violation[] {
  if (!source) return [at.violation('is required', 'required')];
  const wanted = sourceFields[source.type];
  return [
    ...(source[wanted] === undefined
      ? [at.field(wanted).violation(`is required with type ${source.type}`, 'required')]
      : []),
    ...Object.values(sourceFields)
      .filter((field) => field !== wanted && source[field] !== undefined)
      .map((field) => at.field(field).violation(`must be left out with type ${source.type}`)),
  ];
}
