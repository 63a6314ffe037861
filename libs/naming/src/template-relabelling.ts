import { isComputedLabel } from '@causeway/resources';
import type { Template } from './template';

/**
 * Warnings, one for each label that service owners can set and that a generator's selector or template reads: whoever
 * may relabel a service can then take such a name. Names made of name and computed labels give none (seed 001: only the
 * operator manages hostnames; design.md §4 hostname).
 */
export function relabellingWarnings(selectorLabels: readonly string[], template: Template): readonly string[] {
  const settable = (keys: readonly string[]): string[] => keys.filter((key) => !isComputedLabel(key));
  return [
    ...settable(template.reads.labels).map((key) => warning('template', key)),
    ...settable(selectorLabels).map((key) => warning('selector', key)),
  ];
}

function warning(part: 'template' | 'selector', key: string): string {
  return `spec.${part}: label "${key}" can be set by service owners, so names of this generator can be taken by relabelling a service`;
}
