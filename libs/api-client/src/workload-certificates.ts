/** The request of a program for a certificate from a zone's control plane. */
export interface CertificateOrder {
  /** The xDS port of the control plane, `host:port`. */
  readonly address: string;
  /** PEM; absent: plaintext. */
  readonly ca?: string;
  /** The dataplane token. */
  readonly token: string;
  readonly mesh: string;
  /** `name` or `name.namespace`. */
  readonly dataplane: string;
  /** PEM. */
  readonly csr: string;
}

/** Response of a control plane; times in ms since 1970. */
export interface SignedWorkload {
  /** PEM: the certificate, then that of its authority. */
  readonly certificateChain: string;
  readonly spiffeId: string;
  readonly trustBundles: readonly { readonly trustDomain: string; readonly certificates: string }[];
  readonly notAfter: number;
  readonly renewAt: number;
}
