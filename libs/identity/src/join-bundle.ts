import { FieldPath, isJsonObject, type Violation } from '@causeway/resources';

/** Credentials with which a machine joins a zone. The token in it is a secret. */
export interface JoinBundle {
  /** `host:port` of the xDS ports of the zone's control planes. */
  readonly controlPlanes: readonly string[];
  /** Authorities (PEM) that verify them; absent: plaintext. */
  readonly authority?: string;
  readonly zone: string;
  readonly mesh: string;
  /** Dataplane token; for an ingress a zone token. */
  readonly token: string;
}

export type ReadBundle =
  { readonly ok: true; readonly bundle: JoinBundle } | { readonly ok: false; readonly violation: Violation };

/** Prefix with the format version, so that an older agent can report that it is too old. */
const PREFIX = 'causeway-join-1.';
/** Maximum length of the text of a bundle, characters. */
export const MAX_BUNDLE_LENGTH = 256 * 1024;
const MAX_CONTROL_PLANES = 16;

/** Formats a bundle as one line that survives copying: only letters, digits, `-`, `_` and `.`. */
export function formatJoinBundle(bundle: JoinBundle): string {
  return PREFIX + Buffer.from(JSON.stringify(bundle)).toString('base64url');
}

/** Parses a bundle; ignores white space and line breaks. Violations repeat nothing of the text. */
export function readJoinBundle(text: string): ReadBundle {
  const refuse = (reason: string): ReadBundle => ({
    ok: false,
    violation: FieldPath.at('bundle').violation(reason, 'wrong-form'),
  });
  if (text.length > MAX_BUNDLE_LENGTH)
    return refuse(`must have at most ${MAX_BUNDLE_LENGTH} characters, has ${text.length}`);
  const line = text.replace(/\s+/g, '');
  if (!line.startsWith(PREFIX))
    return refuse(
      /^causeway-join-\d+\./.test(line)
        ? `is of another version than this agent knows (${PREFIX.slice(0, -1)})`
        : 'must be what `causeway tokens dataplane --bundle` prints',
    );
  const value = parsed(line.slice(PREFIX.length));
  if (!isJsonObject(value)) return refuse('is damaged: copy the whole line');
  const { controlPlanes, authority, zone, mesh, token } = value;
  const isList = Array.isArray(controlPlanes) && controlPlanes.every((one) => typeof one === 'string');
  if (!isList || controlPlanes.length === 0 || controlPlanes.length > MAX_CONTROL_PLANES)
    return refuse(`must name 1 to ${MAX_CONTROL_PLANES} control planes`);
  if (typeof zone !== 'string' || typeof mesh !== 'string' || typeof token !== 'string' || token === '')
    return refuse('must have zone, mesh and token');
  if (authority !== undefined && typeof authority !== 'string') return refuse('must have its authorities as a text');
  return { ok: true, bundle: { controlPlanes, zone, mesh, token, ...(authority !== undefined && { authority }) } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
}
