import { Type, type Static } from 'typebox';
import { checkTemplate, MAX_TEMPLATE_LENGTH, parseTemplate } from '@causeway/naming';
import { defineKind, isComputedLabel, Sync } from '@causeway/resources';
import { checkLabelFields, selectorLabels } from './schema/rules';
import { Extension, ServiceSelector, strict } from './schema/schema-parts';

const services = ['meshService', 'meshMultiZoneService', 'meshExternalService'] as const;

const Selector = Type.Object(
  {
    meshService: Type.Optional(ServiceSelector),
    meshMultiZoneService: Type.Optional(ServiceSelector),
    meshExternalService: Type.Optional(ServiceSelector),
  },
  strict,
);

const Spec = Type.Object(
  {
    selector: Selector,
    template: Type.String({ minLength: 1, maxLength: MAX_TEMPLATE_LENGTH }),
    extension: Type.Optional(Extension),
  },
  { ...strict, examples: [{ selector: { meshService: {} }, template: '{{ name }}.svc.mesh' }] },
);

/** Operator's rule that gives hostnames to services (seed 001; docs/design.md §4 hostname). */
export const HostnameGenerator = defineKind({
  name: 'HostnameGenerator',
  plural: 'hostnamegenerators',
  shortName: 'hg',
  scope: 'global',
  sync: Sync.bothWays,
  writer: 'operator',
  bounds: { bytes: 16 * 1024 },
  spec: Spec,
  validate: (spec, at) => {
    const place = at.field('selector');
    const given = services.filter((service) => spec.selector[service] !== undefined);
    return [
      ...(given.length === 1
        ? []
        : [place.violation(`must name exactly one of ${services.join(', ')}; got ${given.join(', ') || 'none'}`)]),
      ...given.flatMap((service) => checkLabelFields(spec.selector[service], place.field(service))),
      ...checkTemplate(spec.template).map((reason) => at.field('template').violation(reason)),
    ];
  },
  warn: ({ spec }) => [
    ...settableLabels(spec).map(
      ({ field, label }) =>
        `${field}: reads label "${label}", which service owners can set; names can be taken by relabelling`,
    ),
    ...(spec.extension ? ['spec.extension: no extension is known here, so no hostnames are made'] : []),
  ],
});

/** Returns the labels that selector and template read and that every service owner can set: those that are not computed. */
function settableLabels(spec: Static<typeof Spec>): { readonly field: string; readonly label: string }[] {
  const selected = services.flatMap((service) => Object.keys(selectorLabels(spec.selector[service] ?? {})));
  const parsed = parseTemplate(spec.template);
  const read = parsed.ok ? parsed.template.reads.labels : [];
  return [
    ...selected.map((label) => ({ field: 'spec.selector', label })),
    ...read.map((label) => ({ field: 'spec.template', label })),
  ].filter(({ label }) => !isComputedLabel(label));
}
