import { Label } from '@causeway/resources';
import type { Template, TemplatePart } from './template';

/** What a service must have so that a template gives a certain hostname. */
export interface TemplateNeed {
  /** `name`, `namespace`, `zone`, `mesh`, or `label "x"`. */
  readonly what: string;
  readonly value: string;
}

const WORDS = { Name: 'name', DisplayName: 'name', Namespace: 'namespace', Zone: 'zone', Mesh: 'mesh' } as const;
const LABEL_WORDS: Readonly<Record<string, string>> = {
  [Label.namespace]: 'namespace',
  [Label.zone]: 'zone',
  [Label.mesh]: 'mesh',
};

/**
 * What a service must have for `template` to give `hostname`, each once; undefined when no service can. Where several
 * answers are possible (values may hold dots) it is the one with the shortest first values.
 */
export function templateNeeds(template: Template, hostname: string): readonly TemplateNeed[] | undefined {
  const groups = new Map<string, string>();
  const pattern = template.parts.map((part) => patternOf(part, groups)).join('');
  const found = new RegExp(`^${pattern}$`).exec(hostname)?.groups;
  if (!found && hostname !== template.text) return undefined;
  return [...groups].map(([what, group]) => ({ what, value: found?.[group] ?? '' }));
}

function patternOf(part: TemplatePart, groups: Map<string, string>): string {
  if (part.type === 'literal') return part.text.replace(/[^a-z0-9]/gi, '\\$&');
  const what = wordOf(part);
  const known = groups.get(what);
  if (known !== undefined) return `\\k<${known}>`;
  const group = `g${groups.size}`;
  groups.set(what, group);
  return `(?<${group}>[a-z0-9](?:[-a-z0-9.]*?[a-z0-9])??)`;
}

function wordOf(part: Exclude<TemplatePart, { type: 'literal' }>): string {
  if (part.type === 'variable') return WORDS[part.variable];
  return LABEL_WORDS[part.key] ?? `label "${part.key}"`;
}
