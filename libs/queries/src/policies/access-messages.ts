/** Formats the decision about a call in one line; the response also has the names as fields. */
export function accessMessage({
  verdict,
  by,
  policies,
  seesBytes,
}: {
  readonly verdict: string;
  readonly by: string;
  readonly policies: readonly string[];
  /** Whether rules match requests although the proxy sees only connections. */
  readonly seesBytes: boolean;
}): string {
  const because = reason(by, policies.join(', '), verdict === 'allowed');
  return seesBytes
    ? `${because}; its proxy sees connections, not requests: rules with "to" allow none of them`
    : because;
}

function reason(by: string, policies: string, isAllowed: boolean): string {
  switch (by) {
    case 'defaultAccess':
      return `no rule of an AccessPolicy fits, and defaultAccess of the mesh is ${isAllowed ? 'Allow' : 'Deny'}`;
    case 'allow':
      return `no "allow" rule of ${policies} fits the call`;
    case 'path':
      return `the path can be read in two ways, and rules of ${policies} name paths`;
    case 'mtls':
      return 'the caller shows no identity, and the service takes only TLS of the mesh';
    case 'identity':
      return `the caller shows no identity, and ${policies || 'an AccessPolicy'} asks for one`;
    case 'revoked':
      return 'the identity of the caller is revoked in this mesh';
    default:
      return `${by.includes(', ') ? 'rules' : 'rule'} ${by} of ${policies || 'an AccessPolicy'}`;
  }
}
