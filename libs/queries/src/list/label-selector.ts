import { effectiveLabel, isLabelKey, isLabelValue, type Resource } from '@causeway/resources';
import { shown } from '../errors';

/** One requirement of a label selector; all requirements of a selector must hold. */
export type LabelRequirement =
  | { readonly type: 'in' | 'not-in'; readonly key: string; readonly values: ReadonlySet<string> }
  | { readonly type: 'exists' | 'absent'; readonly key: string };

/** The result of parsing a selector; `reason` tells a user how to correct it. */
export type ParsedSelector =
  | { readonly ok: true; readonly requirements: readonly LabelRequirement[] }
  | { readonly ok: false; readonly reason: string };

const SET = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/;

/**
 * Parses a selector in Kubernetes syntax: `a=b`, `a==b`, `a!=b`, `a in (b, c)`, `a notin (b)`, `a`, `!a`, joined by
 * commas. As in Kubernetes, `!=` and `notin` also match resources without the label.
 */
export function parseLabelSelector(text: string): ParsedSelector {
  const requirements: LabelRequirement[] = [];
  for (const part of splitOutsideParentheses(text)) {
    const requirement = parseRequirement(part.trim());
    if (typeof requirement === 'string') return { ok: false, reason: requirement };
    requirements.push(requirement);
  }
  return { ok: true, requirements };
}

/** Returns whether the labels of the resource, implied labels included (docs/design.md §1), meet every requirement. */
export function matchesLabels(resource: Resource, requirements: readonly LabelRequirement[]): boolean {
  return requirements.every((requirement) => {
    const value = effectiveLabel(resource, requirement.key);
    switch (requirement.type) {
      case 'in':
        return value !== undefined && requirement.values.has(value);
      case 'not-in':
        return value === undefined || !requirement.values.has(value);
      case 'exists':
        return value !== undefined;
      case 'absent':
        return value === undefined;
    }
  });
}

function splitOutsideParentheses(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === ',' && depth === 0) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return [...parts, text.slice(start)];
}

function parseRequirement(part: string): LabelRequirement | string {
  const set = SET.exec(part);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    return checked({
      type: operator === 'in' ? 'in' : 'not-in',
      key,
      values: new Set(list.split(',').map((value) => value.trim())),
    });
  }
  const equality = EQUALITY.exec(part);
  if (equality) {
    const [, key = '', operator, value = ''] = equality;
    return checked({ type: operator === '!=' ? 'not-in' : 'in', key, values: new Set([value]) });
  }
  if (part.startsWith('!')) return checked({ type: 'absent', key: part.slice(1).trim() });
  return checked({ type: 'exists', key: part });
}

function checked(requirement: LabelRequirement): LabelRequirement | string {
  if (!isLabelKey(requirement.key))
    return `must be like a=b, a!=b, a in (b, c), a notin (b), a or !a, joined by commas; got "${shown(requirement.key)}" as a key`;
  const bad = 'values' in requirement ? [...requirement.values].find((value) => !isLabelValue(value)) : undefined;
  return bad === undefined ? requirement : `has a value that no label can have: "${shown(bad)}"`;
}
