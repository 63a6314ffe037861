/** Commands for a process of light zones. */
export type Order =
  | {
      readonly type: 'zones';
      readonly zones: readonly { readonly zone: string; readonly token: string }[];
      /** `host:port` of the global. */
      readonly address: string;
      /** The certificate that the global is verified by; absent: plain text. */
      readonly authority?: string;
      /** Services of each zone. */
      readonly services: number;
      /** Zones that join side by side. */
      readonly together: number;
    }
  /** Open sessions. */
  | { readonly type: 'join' }
  | { readonly type: 'upload' }
  | { readonly type: 'download' }
  /** Ends all connections. */
  | { readonly type: 'leave' }
  /** Asks for a message when every zone of the process, except `except`, has a service of this name. */
  | { readonly type: 'follow'; readonly service: string; readonly except: string }
  /** Change a service in a zone of the process. */
  | { readonly type: 'change'; readonly zone: string; readonly service: string };

/** Answers of a crowd; `at` is ms of a clock that all processes of a machine share. */
export type Answer =
  | {
      readonly type: 'done';
      readonly of: string;
      readonly got: number;
      readonly got_bytes: number;
      readonly retries: number;
    }
  | { readonly type: 'everywhere'; readonly service: string; readonly at: number }
  | { readonly type: 'failed'; readonly error: string };
