/** The token by which a zone joins its global; another one may take its place while the program runs. */
export interface ZoneTokenSource {
  /** The token of the next handshake and of its session; undefined: none. Throws `CredentialsMissing` while its file is not there. */
  current(): string | undefined;
  /** The global has answered a handshake with this token. */
  accepted(token: string | undefined): void;
  /** The global has refused this token in a handshake. */
  refused(token: string | undefined, reason: string): void;
  /** Calls `listener` with each token that takes the place of another, until the returned function is called. */
  onChange(listener: () => void): () => void;
}
