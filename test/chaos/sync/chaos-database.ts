import type { ChaosServer } from './chaos-server';

/** The database of a control plane, which can be away while its server serves others: all connections break, none is taken. */
export class ChaosDatabase {
  private constructor(
    private readonly server: ChaosServer,
    private readonly name: string,
  ) {}

  static async create(server: ChaosServer, name: string): Promise<ChaosDatabase> {
    await server.run(`CREATE DATABASE ${name}`);
    return new ChaosDatabase(server, name);
  }

  get url(): string {
    return this.server.url(this.name);
  }

  goAway(): Promise<void> {
    return this.server.run(
      `ALTER DATABASE ${this.name} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${this.name}'`,
    );
  }

  comeBack(): Promise<void> {
    return this.server.run(`ALTER DATABASE ${this.name} ALLOW_CONNECTIONS true`);
  }
}
