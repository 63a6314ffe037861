import { shortened } from '@causeway/resources';
import { parseParts, type TemplateGrammar, type TemplatePart } from './template';

/** Variables in the templates of a MeshIdentity; the labels are those of the Dataplane. */
type SpiffeVariable = 'Mesh' | 'Zone' | 'Namespace' | 'Workload';

export type SpiffeTemplatePart = TemplatePart<SpiffeVariable>;

/** Default trust domain of a MeshIdentity: one per zone and mesh (docs/design.md §1, MeshIdentity). */
export const DEFAULT_TRUST_DOMAIN = '{{ .Mesh }}.{{ .Zone }}.mesh.local';
/** Default path of a MeshIdentity; in namespace `default` it does not depend on the form. */
export const DEFAULT_SPIFFE_PATH = '/workload/{{ .Workload }}';
/** Default path in other namespaces, if the ids of a mesh have namespaces (IdentityPath). */
const NAMESPACED_SPIFFE_PATH = '/ns/{{ .Namespace }}/workload/{{ .Workload }}';

/** Form of the default path of a MeshIdentity: the workload, or the namespace and the workload. */
export type SpiffePathForm = 'Workload' | 'Namespaced';

/** Returns the default path of a MeshIdentity for the workloads of a namespace. */
export function presetSpiffePath(form: SpiffePathForm, namespace: string): string {
  return form === 'Namespaced' && hasOwnPath(namespace) ? NAMESPACED_SPIFFE_PATH : DEFAULT_SPIFFE_PATH;
}

/** Whether the default path of a namespace depends on the form: ids in `default` are the same in both. */
export function hasOwnPath(namespace: string): boolean {
  return namespace !== '' && namespace !== 'default';
}

/** Maximum length of a trust domain and of a SPIFFE ID (SPIFFE-ID §2.1, §2.3), in bytes. */
export const MAX_TRUST_DOMAIN_LENGTH = 255;
const MAX_SPIFFE_ID_LENGTH = 2_048;

export type ParsedSpiffeTemplate =
  | { readonly ok: true; readonly parts: readonly SpiffeTemplatePart[] }
  | { readonly ok: false; readonly reason: string };

/** Without labels: a user who may label a Dataplane could otherwise choose the authority that signs its identity. */
const TRUST_DOMAINS: TemplateGrammar<SpiffeVariable> = {
  variables: { '.Mesh': 'Mesh', '.Zone': 'Zone' },
  labels: false,
};

const PATHS: TemplateGrammar<SpiffeVariable> = {
  variables: { '.Workload': 'Workload', '.Mesh': 'Mesh', '.Zone': 'Zone', '.Namespace': 'Namespace' },
  labels: true,
};

/** Parses `spiffeID.trustDomain`: `{{ .Mesh }}`, `{{ .Zone }}` and literal text that can give a valid trust domain. */
export function parseTrustDomainTemplate(text: string): ParsedSpiffeTemplate {
  return parseChecked(text, TRUST_DOMAINS, trustDomainProblem);
}

/**
 * Parses `spiffeID.path`: the variables, `{{ label "x" }}` and literal text that can give a valid path. Two
 * placeholders need a "/" between them: no value contains one, so different values never give the same path.
 */
export function parseSpiffePathTemplate(text: string): ParsedSpiffeTemplate {
  const parsed = parseChecked(text, PATHS, spiffePathProblem);
  if (!parsed.ok) return parsed;
  let separated = true;
  for (const part of parsed.parts) {
    if (part.type === 'literal') separated ||= part.text.includes('/');
    else if (!separated)
      return {
        ok: false,
        reason: 'two placeholders need a "/" between them: "a-b" and "c" would give the same as "a" and "b-c"',
      };
    else separated = false;
  }
  return parsed;
}

/**
 * Returns why `text` is not a trust domain by SPIFFE-ID §2.1 (lower-case letters, digits, ".", "-", "_"), or undefined
 * if it is.
 */
export function trustDomainProblem(text: string): string | undefined {
  if (text.length > MAX_TRUST_DOMAIN_LENGTH)
    return `it has ${text.length} characters, ${MAX_TRUST_DOMAIN_LENGTH} are allowed`;
  if (!/^[a-z0-9._-]+$/.test(text)) return 'only a-z, 0-9, ".", "-" and "_" are allowed, at least one';
  return /^\.|\.\.|\.$/.test(text) ? 'a "." stands between two other characters' : undefined;
}

/** Returns why `text` is not a path of a SPIFFE ID by SPIFFE-ID §2.2, or undefined if it is. */
export function spiffePathProblem(text: string): string | undefined {
  if (text.length > MAX_SPIFFE_ID_LENGTH)
    return `it has ${text.length} characters, ${MAX_SPIFFE_ID_LENGTH} are allowed`;
  if (!text.startsWith('/')) return 'it must start with "/"';
  const segments = text.slice(1).split('/');
  if (segments.includes('')) return 'it has an empty segment';
  if (segments.some((segment) => segment === '.' || segment === '..')) return '"." and ".." are no segments';
  return segments.every((segment) => /^[A-Za-z0-9._-]+$/.test(segment))
    ? undefined
    : 'only letters, digits, ".", "-" and "_" are allowed between two "/"';
}

function parseChecked(
  text: string,
  grammar: TemplateGrammar<SpiffeVariable>,
  findProblem: (text: string) => string | undefined,
): ParsedSpiffeTemplate {
  const parsed = parseParts(text, grammar);
  if (!parsed.ok) return parsed;
  const problem = findProblem(parsed.parts.map((part) => (part.type === 'literal' ? part.text : 'a')).join(''));
  return problem === undefined
    ? parsed
    : { ok: false, reason: `${problem}; got ${JSON.stringify(shortened(text, 200))}` };
}

/** Returns why a text is not a workload's SPIFFE id, or undefined if it is: `spiffe://`, a trust domain and a path. */
export function spiffeIdProblem(text: string): string | undefined {
  const [, domain, path] = /^spiffe:\/\/([^/]*)(.*)$/s.exec(text) ?? [];
  if (domain === undefined || path === undefined) return 'it must begin with spiffe://';
  return trustDomainProblem(domain) ?? spiffePathProblem(path);
}
