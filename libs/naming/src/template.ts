import {
  dnsNameProblem,
  effectiveLabel,
  isLabelKey,
  Label,
  MAX_HOSTNAME_LENGTH,
  nearest,
  shortened,
  tooLong,
  type Identity,
  type Labels,
} from '@causeway/resources';

/** Variables of a template besides labels. `{{ name }}` is `Name`; both `Name` and `DisplayName` mean the name in the identity. */
type TemplateVariable = 'Name' | 'DisplayName' | 'Namespace' | 'Zone' | 'Mesh';

/** One piece of a template. */
export type TemplatePart<Variable extends string = TemplateVariable> =
  | { readonly type: 'literal'; readonly text: string }
  | { readonly type: 'variable'; readonly variable: Variable }
  | { readonly type: 'label'; readonly key: string };

/** The placeholders that one type of template may have. */
export interface TemplateGrammar<Variable extends string> {
  /** Variables by the text between the braces. */
  readonly variables: Readonly<Record<string, Variable>>;
  /** Whether `{{ label "x" }}` is allowed. */
  readonly labels: boolean;
}

/** A parsed template; made by `parseTemplate` only. */
export interface Template {
  readonly text: string;
  readonly parts: readonly TemplatePart[];
  /** Labels and variables that the template reads, each once; a user who can set one of these labels can change the name. */
  readonly reads: { readonly labels: readonly string[]; readonly variables: readonly TemplateVariable[] };
  /** Text after the last placeholder: every resulting name ends with it. */
  readonly literalSuffix: string;
}

/** The parts of a service that determine its names. */
export interface TemplateSubject {
  readonly id: Identity;
  readonly labels: Labels;
}

export type ParsedTemplate =
  { readonly ok: true; readonly template: Template } | { readonly ok: false; readonly reason: string };

export type RenderedTemplate =
  | { readonly ok: true; readonly hostname: string }
  | { readonly ok: false; readonly reason: string; readonly missingLabel?: string };

/** Maximum length of a template, characters. */
export const MAX_TEMPLATE_LENGTH = 1_024;

const LABEL_CALL = /^label\s+"([^"\\]*)"$/;
const HOSTNAMES: TemplateGrammar<TemplateVariable> = {
  variables: {
    name: 'Name',
    '.Name': 'Name',
    '.DisplayName': 'DisplayName',
    '.Namespace': 'Namespace',
    '.Zone': 'Zone',
    '.Mesh': 'Mesh',
  },
  labels: true,
};

/**
 * Parses a hostname template: `{{ name }}`, `{{ label "x" }}` and Kuma's variables with any inner white space, with
 * `{{-` and `-}}` trimming the adjacent text as in Go, and nothing else; no code is ever evaluated (docs/design.md §4
 * hostname). Reports the first error. `checkTemplate` decides whether the names can be valid.
 */
export function parseTemplate(text: string): ParsedTemplate {
  const parsed = parseParts(text, HOSTNAMES);
  return parsed.ok ? { ok: true, template: describe(text, parsed.parts) } : parsed;
}

/** Parses text by a grammar into parts, or returns the first error. Adjacent literals are never joined; linear in the text. */
export function parseParts<Variable extends string>(
  text: string,
  grammar: TemplateGrammar<Variable>,
):
  | { readonly ok: true; readonly parts: readonly TemplatePart<Variable>[] }
  | { readonly ok: false; readonly reason: string } {
  if (text.length > MAX_TEMPLATE_LENGTH)
    return { ok: false, reason: `it has ${text.length} characters, ${MAX_TEMPLATE_LENGTH} are allowed` };
  const parts: TemplatePart<Variable>[] = [];
  let end = 0;
  let trimNext = false;
  for (const placeholder of placeholdersIn(text)) {
    const { start, inner } = placeholder;
    const body = inner.replace(/^-\s/, '');
    const trimRight = /\s-$/.test(body);
    pushLiteral(parts, text.slice(end, start), trimNext, body !== inner);
    const part = parsePlaceholder((trimRight ? body.slice(0, -2) : body).trim(), grammar);
    if (typeof part === 'string') return { ok: false, reason: `{{${shortened(inner, 100)}}}: ${part}` };
    parts.push(part);
    end = placeholder.end;
    trimNext = trimRight;
  }
  pushLiteral(parts, text.slice(end), trimNext, false);
  const stray = parts.find((part) => part.type === 'literal' && /[{}]/.test(part.text));
  if (stray)
    return {
      ok: false,
      reason: `braces without a partner in ${JSON.stringify(shortened(text, 200))}; a placeholder is one of ${listPlaceholders(grammar)}`,
    };
  return { ok: true, parts };
}

interface Placeholder {
  readonly start: number;
  readonly end: number;
  /** Text between the braces. */
  readonly inner: string;
}

/** Returns each `{{` with the next `}}` behind it, in one scan, which ends at the first `{{` without one. */
function* placeholdersIn(text: string): Generator<Placeholder> {
  for (let start = text.indexOf('{{'); start >= 0;) {
    const close = text.indexOf('}}', start + 2);
    if (close < 0) return;
    yield { start, end: close + 2, inner: text.slice(start + 2, close) };
    start = text.indexOf('{{', close + 2);
  }
}

/**
 * Returns why `text` is refused as a template: it does not parse, or it can never give a valid DNS name (Kuma checks
 * with stub values, docs/reference/kuma-rest.md §3.3; this check is exact). Empty if it is valid.
 */
export function checkTemplate(text: string): readonly string[] {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return [parsed.reason];
  // Values may contain dots, so "a.a" is valid wherever any value is; only for the length "a" is better.
  const stub = (value: string): string =>
    parsed.template.parts.map((part) => (part.type === 'literal' ? part.text : value)).join('');
  const problem = dnsNameProblem(stub('a.a').length <= MAX_HOSTNAME_LENGTH ? stub('a.a') : stub('a'));
  return problem === undefined
    ? []
    : [`can never give a valid DNS name, for example "${shortened(stub('name'), 300)}": ${problem}`];
}

/**
 * Returns the hostname of `subject` in zone `ownZone`, or why it has none: a label is missing or the result is not a
 * DNS name. Implied labels count (docs/design.md §1); `.Zone` of a subject without a zone is `ownZone`.
 */
export function renderTemplate(template: Template, subject: TemplateSubject, ownZone: string): RenderedTemplate {
  let hostname = '';
  let length = 0;
  for (const part of template.parts) {
    const value = resolvePart(part, subject, ownZone);
    if (value === undefined) {
      const key = part.type === 'label' ? part.key : '';
      return { ok: false, reason: `label "${key}" is missing`, missingLabel: key };
    }
    length += value.length;
    // A hostname that is too long does not grow further: labels of another control plane may be long.
    if (hostname.length <= MAX_HOSTNAME_LENGTH) hostname += value.slice(0, MAX_HOSTNAME_LENGTH + 1);
  }
  const problem = length > MAX_HOSTNAME_LENGTH ? tooLong(length) : dnsNameProblem(hostname);
  if (problem === undefined) return { ok: true, hostname };
  return { ok: false, reason: `${JSON.stringify(shortened(hostname, 300))} is not a valid DNS name: ${problem}` };
}

function resolvePart(part: TemplatePart, subject: TemplateSubject, ownZone: string): string | undefined {
  switch (part.type) {
    case 'literal':
      return part.text;
    case 'variable':
      return resolveVariable(part.variable, subject, ownZone);
    case 'label':
      return effectiveLabel(subject, part.key);
  }
}

function pushLiteral<V extends string>(
  parts: TemplatePart<V>[],
  raw: string,
  trimStart: boolean,
  trimEnd: boolean,
): void {
  const left = trimStart ? raw.trimStart() : raw;
  const text = trimEnd ? left.trimEnd() : left;
  if (text !== '') parts.push({ type: 'literal', text });
}

function parsePlaceholder<V extends string>(
  body: string,
  { variables, labels }: TemplateGrammar<V>,
): TemplatePart<V> | string {
  const key = labels ? LABEL_CALL.exec(body)?.[1] : undefined;
  if (key !== undefined) return isLabelKey(key) ? { type: 'label', key } : `"${key}" is not a label key`;
  const variable = Object.hasOwn(variables, body) ? variables[body] : undefined;
  if (variable !== undefined) return { type: 'variable', variable };
  const known = [...Object.keys(variables), ...(labels ? ['label "x"'] : [])];
  const near = nearest(body, known);
  const allowed = listPlaceholders({ variables, labels });
  return near === undefined ? `only ${allowed} are known` : `did you mean {{ ${near} }}? Only ${allowed} are known`;
}

/** Lists the placeholders of a grammar for a message. */
function listPlaceholders({ variables, labels }: TemplateGrammar<string>): string {
  const [first = '', ...others] = Object.keys(variables);
  return [first, ...(labels ? ['label "x"'] : []), ...others].map((body) => `{{ ${body} }}`).join(', ');
}

function describe(text: string, parts: readonly TemplatePart[]): Template {
  const labels = parts.flatMap((part) => (part.type === 'label' ? [part.key] : []));
  const variables = parts.flatMap((part) => (part.type === 'variable' ? [part.variable] : []));
  const last = parts.at(-1);
  return {
    text,
    parts,
    reads: { labels: [...new Set(labels)], variables: [...new Set(variables)] },
    literalSuffix: last?.type === 'literal' ? last.text : '',
  };
}

function resolveVariable(variable: TemplateVariable, subject: TemplateSubject, ownZone: string): string {
  switch (variable) {
    case 'Name':
    case 'DisplayName':
      return subject.id.name;
    case 'Namespace':
      return effectiveLabel(subject, Label.namespace) ?? 'default';
    case 'Zone':
      return subject.labels[Label.zone] ?? ownZone;
    case 'Mesh':
      return subject.id.mesh;
  }
}
