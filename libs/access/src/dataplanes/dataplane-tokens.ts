import type { WorkloadBinding } from '@causeway/identity';
import {
  checkLabels,
  checkName,
  FieldPath,
  Invalid,
  isJsonObject,
  Label,
  ownZone,
  type Identity,
  type JsonObject,
  type Violation,
} from '@causeway/resources';
import { isOwnGlobalSecret } from '../global-secrets';
import { signingKeySerial } from '../tokens/signing-keys';
import { PresentedTokens } from '../tokens/presented-tokens';
import { TokenIssuer, type IssuedToken, type TokenDependencies } from '../tokens/token-issuer';
import { TokenTrust } from '../tokens/token-trust';
import { DATAPLANE_TOKEN } from '../tokens/token-use';
import { parseValidity, validityViolations } from '../tokens/validity';
import {
  dataplanePayload,
  MOST_TAG_VALUES,
  MOST_TAGS,
  verifyDataplaneToken,
  type DataplaneClaims,
} from './dataplane-token';

/** How long a dataplane token is valid where nobody says otherwise: 30 days. */
export const DATAPLANE_TOKEN_VALIDITY = '720h';

/** A request for a dataplane token: for which Dataplanes of the mesh it holds; what is left out restricts nothing. */
export interface DataplaneTokenRequest extends WorkloadBinding {
  readonly mesh: string;
  /** A duration such as `720h` or `30d`; `DATAPLANE_TOKEN_VALIDITY` by default. */
  readonly validFor?: string;
  /** The user who asks for it. */
  readonly issuedBy?: string;
}

/** The dataplane tokens of one zone at one replica; its keys are GlobalSecrets of the zone, which no sync sends. */
export interface DataplaneTokens {
  readonly tokens: DataplaneTokenIssuer;
  /** The claims of a token that is valid now. Throws Unauthenticated with the reason. */
  verify(token: string): Promise<DataplaneClaims>;
  /** How many tokens that were presented to this replica expire soon (`PresentedTokens`). */
  expiring(): number;
  /** Calls `listener` when a token may hold no longer, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Warnings for the operator who deletes this resource: that it ends the tokens which its key signed. */
  deletionWarnings(id: Identity): readonly string[];
  /** Secrets that are named as signing keys and hold none, with the reason. */
  faults(): readonly string[];
  close(): void;
}

/** Creates them. The store may have no signing key yet: `tokens.ensureKey` makes it. */
export function createDataplaneTokens(dependencies: TokenDependencies): DataplaneTokens {
  const { cp, clock } = dependencies;
  const trust = new TokenTrust({ ...dependencies, use: DATAPLANE_TOKEN, zone: ownZone(cp) });
  const presented = new PresentedTokens(clock);
  return {
    tokens: new DataplaneTokenIssuer(dependencies, trust),
    verify: async (token) => {
      const claims = await verifyDataplaneToken(token, trust.trustedKeys, clock.now());
      presented.note(token);
      return claims;
    },
    expiring: () => presented.expiring(),
    onChange: (listener) => trust.onChange(listener),
    deletionWarnings: (id) => {
      const serial = isOwnGlobalSecret(id, ownZone(cp)) ? signingKeySerial(DATAPLANE_TOKEN, id.name) : undefined;
      return serial === undefined ? [] : [`dataplane tokens signed with key ${serial} are valid no longer without it`];
    },
    faults: () => trust.faults,
    close: () => trust.close(),
  };
}

/** Issues the dataplane tokens of a zone. */
export class DataplaneTokenIssuer extends TokenIssuer {
  constructor(dependencies: TokenDependencies, trust: TokenTrust) {
    super(dependencies, trust, DATAPLANE_TOKEN);
  }

  /** Issues a token, signed with the newest key. Throws Invalid, and what `issueToken` throws. */
  async issue(request: DataplaneTokenRequest): Promise<IssuedToken> {
    const { name, mesh, tags, workload, validFor = DATAPLANE_TOKEN_VALIDITY, issuedBy = '' } = request;
    const validity = parseValidity(validFor);
    const violations = dataplaneTokenViolations({ ...request, validFor });
    if (violations.length > 0 || !validity.ok) throw new Invalid(violations);
    const claims = dataplanePayload({
      mesh,
      ...(name === undefined ? {} : { name }),
      ...(tags === undefined ? {} : { tags }),
      ...(workload === undefined ? {} : { workload }),
    });
    // The leader makes the first key a moment after its term begins; who asks before that need not wait for it.
    await this.ensureKey();
    return this.issueToken({ claims, facts: factsOf(claims), validity: validity.ms, issuedBy });
  }
}

/** What is wrong with the fields of a request that are given. */
export function dataplaneTokenViolations(given: Partial<DataplaneTokenRequest>): readonly Violation[] {
  const { mesh, name, workload, tags = {}, validFor } = given;
  return [
    ...(mesh === undefined ? [] : checkName(mesh, FieldPath.at('mesh'))),
    ...(name === undefined ? [] : checkName(name, FieldPath.at('name'))),
    ...(workload === undefined ? [] : workloadViolations(workload)),
    ...tagViolations(tags),
    ...(validFor === undefined ? [] : validityViolations(parseValidity(validFor))),
  ];
}

/** The claims as lists show them: `{mesh, name, tags, workload}`. */
function factsOf({ Mesh, Name, Tags, Workload }: JsonObject): JsonObject {
  return {
    ...(typeof Mesh === 'string' ? { mesh: Mesh } : {}),
    ...(typeof Name === 'string' ? { name: Name } : {}),
    ...(isJsonObject(Tags) ? { tags: Tags } : {}),
    ...(typeof Workload === 'string' ? { workload: Workload } : {}),
  };
}

function workloadViolations(workload: string): readonly Violation[] {
  const at = FieldPath.at('workload');
  if (workload === '') return [at.violation('must not be empty', 'required')];
  const [bad] = checkLabels({ [Label.workload]: workload }, at);
  return bad ? [at.violation(bad.reason, bad.rule)] : [];
}

function tagViolations(tags: NonNullable<WorkloadBinding['tags']>): readonly Violation[] {
  const at = FieldPath.at('tags');
  const entries = Object.entries(tags);
  if (entries.length > MOST_TAGS)
    return [at.violation(`must not have more than ${MOST_TAGS} tags, has ${entries.length}`, 'too-many')];
  return entries.flatMap(([tag, values]) => {
    if (values.length === 0 || values.length > MOST_TAG_VALUES)
      return [
        at.field(tag).violation(`must have 1 to ${MOST_TAG_VALUES} values, has ${values.length}`, 'out-of-range'),
      ];
    return values.flatMap((value) => checkLabels({ [tag]: value }, at));
  });
}
