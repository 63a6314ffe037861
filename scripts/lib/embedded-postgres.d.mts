/** A Postgres server that `startPostgres` started. */
export interface EmbeddedPostgres {
  readonly home: string;
  readonly port: number;
  readonly pid: number;
  url(database: string): string;
  stop(): Promise<void>;
  crash(): Promise<void>;
  readonly ended: Promise<string>;
}

export interface PostgresOptions {
  readonly folder: string;
  readonly port: number;
  readonly durable?: boolean;
  readonly more?: Readonly<Record<string, string | number>>;
  readonly programs?: string;
  readonly onWait?: (pid: number) => void;
}

export function startPostgres(options: PostgresOptions): Promise<EmbeddedPostgres>;
