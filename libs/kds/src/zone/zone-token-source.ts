/** The token with which a zone joins its global; it may be replaced while the program runs. */
export interface ZoneTokenSource {
  /** Reads what the zone's other replicas keep of it; called before each handshake. Never rejects. */
  refresh?(): Promise<void>;
  /** Returns the token for the next handshake and its session; undefined for none. Throws `CredentialsMissing` while its file does not exist. */
  current(): string | undefined;
  /** Reports that the global accepted a handshake with this token. */
  accepted(token: string | undefined): void;
  /** Reports that the global refused this token in a handshake. */
  refused(token: string | undefined, reason: string): void;
  /** Calls `listener` when the token is replaced, until the returned function is called. */
  onChange(listener: () => void): () => void;
}
