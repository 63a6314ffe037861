import { isIPv6 } from 'node:net';
import {
  ConfigurableModuleBuilder,
  Inject,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { injectionToken, provideFrom } from '@causeway/runtime';
import { createDnsServer, type DnsServer, type DnsServerOptions } from './dns-server';

/** The `DnsServer` of this replica. */
export const DNS_SERVER = injectionToken<DnsServer>('DnsServer');

/** DNS options of a zone. */
interface DnsModuleOptions {
  readonly server: DnsServerOptions;
  /** Listen addresses; all share one port. */
  readonly addresses: readonly string[];
  /** Port; 0 chooses one that is free at the first address. */
  readonly port: number;
}

const OPTIONS = injectionToken<DnsModuleOptions>('DnsModuleOptions');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<DnsModuleOptions>({ optionsInjectionToken: OPTIONS })
  .setClassMethodName('forRoot')
  .build();

/** UDP and TCP ports of the server, open from bootstrap until the application begins to shut down. */
class DnsListeners implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(DNS_SERVER) private readonly dns: DnsServer,
    @Inject(OPTIONS) private readonly options: DnsModuleOptions,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { addresses, server } = this.options;
    const bound: string[] = [];
    let { port } = this.options;
    for (const address of addresses) {
      port = await this.dns.bind(address, port);
      bound.push(isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`);
    }
    server.logger.info('answering names', { dns: bound });
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.dns.close();
  }
}

/** DNS server of a zone. The imports of its options must provide the index. */
@Module({
  providers: [
    provideFrom(DNS_SERVER, { options: OPTIONS }, ({ options }) => createDnsServer(options.server)),
    DnsListeners,
  ],
  exports: [DNS_SERVER],
})
export class DnsModule extends ConfigurableModuleClass {}
