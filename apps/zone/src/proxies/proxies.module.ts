import {
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { exitWithProblems, type ControlPlaneCore, type ModuleImports } from '@causeway/control-plane';
import { ProxyDirectory } from '@causeway/controllers';
import { parseDialRules } from '@causeway/ipam';
import { DialledHosts, NameResolver, SystemLookup } from '@causeway/xds-translation';
import { provideFrom } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import type { ZoneSettings } from '../config';

/** Reads the sessions of proxies while the application runs. */
class ProxyDirectoryReader implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly ending = new AbortController();
  private reading: Promise<void> = Promise.resolve();

  constructor(@Inject(ProxyDirectory) private readonly directory: ProxyDirectory) {}

  onApplicationBootstrap(): void {
    this.reading = this.directory.run(this.ending.signal);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ending.abort();
    await this.reading;
  }
}

/** Creates the resolver of hosts for proxies without an agent; ends the program, with one line for each entry, if a rule is invalid. */
function createHosts({ settings, clock }: ControlPlaneCore<ZoneSettings>): DialledHosts {
  const parsed = parseDialRules(settings.CAUSEWAY_EXTERNAL_MAY_DIAL);
  if (!parsed.ok) return exitWithProblems(parsed.errors.map((reason) => `CAUSEWAY_EXTERNAL_MAY_DIAL: ${reason}`));
  const lookup = new SystemLookup({ servers: settings.CAUSEWAY_DNS_UPSTREAMS });
  return new DialledHosts(parsed.rules, new NameResolver(lookup, clock));
}

/** Provides the proxies of the zone, merged from all its replicas. */
@Module({})
export class ProxiesModule {
  static forRoot({ imports, core }: ModuleImports & { readonly core: ControlPlaneCore<ZoneSettings> }): DynamicModule {
    const { clock, logger } = core;
    const directory = provideFrom(
      ProxyDirectory,
      { backend: POSTGRES_BACKEND },
      ({ backend }) => new ProxyDirectory({ store: backend.proxies, clock, logger }),
    );
    const hosts = provideFrom(DialledHosts, {}, () => createHosts(core));
    const providers = [directory, ProxyDirectoryReader, hosts];
    return { module: ProxiesModule, imports, providers, exports: [ProxyDirectory, DialledHosts] };
  }
}
