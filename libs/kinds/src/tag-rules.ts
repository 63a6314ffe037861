import type { FieldPath, Violation } from '@causeway/resources';
import { protocols } from './schema-parts';

type Tags = Readonly<Record<string, string>>;

const SERVICE = 'kuma.io/service';
const PROTOCOL = 'kuma.io/protocol';

/** Violations of tag syntax: names, empty values, characters (rest.md §3.7). */
export function checkTagSyntax(tags: Tags, at: FieldPath): Violation[] {
  return Object.entries(tags).flatMap(([key, value]) => {
    const field = at.field(key);
    const name = /^[A-Za-z0-9._/-]+$/.test(key)
      ? []
      : [field.violation("has a name that is not made of letters, digits, '.', '-', '_', '/'")];
    if (value === '') return [...name, field.violation('must not be empty', 'required')];
    if (/^[A-Za-z0-9._-]+$/.test(value)) return name;
    return [...name, field.violation(`must be made of letters, digits, '.', '-', '_'; got "${value}"`)];
  });
}

/** Violations of an inbound's tags: syntax, the service is named where anything is, a known protocol. */
export function checkInboundTags(tags: Tags | undefined, at: FieldPath): Violation[] {
  if (!tags) return [];
  const protocol = tags[PROTOCOL];
  return [
    ...checkTagSyntax(tags, at),
    ...needsService(tags, at),
    ...(protocol === undefined || protocols.some((known) => known === protocol)
      ? []
      : [at.field(PROTOCOL).violation(`must be one of ${protocols.join(', ')}; got "${protocol}"`)]),
  ];
}

/** Violations of a gateway's tags: syntax, the service is named where anything is, no protocol but tcp. */
export function checkGatewayTags(tags: Tags | undefined, at: FieldPath): Violation[] {
  if (!tags) return [];
  const protocol = tags[PROTOCOL];
  return [
    ...checkTagSyntax(tags, at),
    ...needsService(tags, at),
    ...(protocol === undefined || protocol === 'tcp'
      ? []
      : [at.field(PROTOCOL).violation(`must be tcp on a gateway; got "${protocol}"`)]),
  ];
}

function needsService(tags: Tags, at: FieldPath): Violation[] {
  if (Object.keys(tags).length === 0 || tags[SERVICE] !== undefined) return [];
  return [at.field(SERVICE).violation('is required where there are tags', 'required')];
}
