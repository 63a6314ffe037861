import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import { formatJoinBundle } from '@causeway/identity';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import { AgentProcess } from './agent-process';
import { relayIn, relayTo } from './namespace-programs';
import { NetworkNamespace } from './network-namespace';
import { createTestDatabase, type TestDatabase } from './postgres';
import { ZoneProgram } from './zone-program';
import { adminFetch } from './admin-credential';

/** Port of loopback at which each machine reaches the zone. */
const ZONE_PORT = 5_678;

/** Two machines that are network namespaces with a cable between them, 10.7.1.1 and 10.7.1.2, and a zone that both reach. */
export class AgentMachines {
  private readonly agents: AgentProcess[] = [];

  private constructor(
    readonly here: NetworkNamespace,
    readonly there: NetworkNamespace,
    readonly zone: ZoneProgram,
    private readonly parts: { readonly folder: string; readonly database: TestDatabase; readonly relay: Server },
  ) {}

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<AgentMachines> {
    const folder = mkdtempSync(join(tmpdir(), 'cwm-'));
    const [here, there] = [await NetworkNamespace.create(), await NetworkNamespace.create()];
    await here.connect(there, '10.7.1.1/24', '10.7.1.2/24');
    const database = await createTestDatabase();
    const zone = await ZoneProgram.start({ DATABASE_URL: database.url, CAUSEWAY_XDS_TLS: 'on', ...settings });
    await zone.untilLeading();
    const path = join(folder, 'zone.sock');
    const relay = await relayTo(zone.xds.address.port, path);
    for (const machine of [here, there]) await relayIn(machine, ZONE_PORT, path);
    return new AgentMachines(here, there, zone, { folder, database, relay });
  }

  /** An agent on a machine, with a bundle for the Dataplane of this name; not started. */
  async agent(machine: NetworkNamespace, name: string, config: object): Promise<AgentProcess> {
    const { tokens } = this.zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    await tokens.ensureKey();
    const { token } = await tokens.issue({ mesh: 'default', name, services: servicesIn(config), validFor: '10m' });
    const bundle = join(this.parts.folder, `${name}.bundle`);
    const facts = { controlPlanes: [`127.0.0.1:${ZONE_PORT}`], zone: 'east', mesh: 'default', token };
    writeFileSync(bundle, formatJoinBundle({ ...facts, authority: this.zone.authority ?? '' }), { mode: 0o600 });
    const folder = join(this.parts.folder, `${name}-${this.agents.length}`);
    const agent = new AgentProcess(folder, { bundle, drainTime: '1s', ...config }, ['nsenter', ...machine.enter]);
    this.agents.push(agent);
    return agent;
  }

  /** A resource of the zone as REST shows it. */
  async get(path: string): Promise<unknown> {
    const answer = await adminFetch(this.zone.restUrl + path);
    return answer.ok ? answer.json() : undefined;
  }

  async close(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.end()));
    // A killed one may have left its proxy.
    await Promise.all(this.agents.map((agent) => agent.command('uninstall')));
    await this.here.close();
    await this.there.close();
    this.parts.relay.close();
    await this.zone.stop();
    await this.parts.database.drop();
    rmSync(this.parts.folder, { recursive: true, force: true });
  }
}

/** The services of an agent's configuration. */
function servicesIn(config: object): readonly string[] {
  const { dataplanes = [] } = config as { readonly dataplanes?: readonly { readonly services?: readonly Named[] }[] };
  return dataplanes.flatMap(({ services = [] }) => services.map(({ name }) => name));
}

interface Named {
  readonly name: string;
}
