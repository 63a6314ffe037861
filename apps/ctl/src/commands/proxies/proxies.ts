import { Option, type Command } from 'commander';
import type { CommandContext } from '../../context';
import { listed, namespaceOption, type SetExitCode } from '../../options';
import type { BootstrapOptions } from './bootstrap';
import type { RenewOptions } from './grpc-files';
import { proxies as listProxies, type ProxiesOptions } from './list-proxies';

/** `causeway proxies` and its subcommands. */
export function registerProxies(program: Command, context: CommandContext, finish: SetExitCode): void {
  const output = new Option('-o, --output <form>', 'form of the output').choices(['table', 'wide', 'yaml', 'json']);
  const proxies = program
    .command('proxies')
    .description('shows the proxies of the zone: connected to which replica, certificate, what they reject')
    .argument('[name]', 'the Dataplane of one proxy')
    .option('-m, --mesh <mesh>', "the mesh; '-' for the zone's ingresses and egresses", '')
    .addOption(namespaceOption())
    .option('--connected', 'only those that are connected')
    .addOption(output.default('table'))
    .action(async (name: string | undefined, options: ProxiesOptions) =>
      finish(await listProxies(context, name, options)),
    );
  registerBootstrap(proxies, context, finish);
}

function registerBootstrap(proxies: Command, context: CommandContext, finish: SetExitCode): void {
  proxies
    .command('bootstrap')
    .description('makes a key and what an Envoy on this machine is started with')
    .argument('[proxy]', 'MESH/NAME of the Dataplane; NAME is of the mesh that the control plane expects')
    .option('--ingress <name>', 'the name of the ZoneIngress that it is the proxy of')
    .option('--egress <name>', 'the name of the ZoneEgress that it is the proxy of')
    .option('-d, --dir <folder>', 'where the files are written', '.')
    .option('--xds <host:port>', 'where its control planes are reached; several by commas', listed)
    .option('--xds-ca-file <file>', 'certificates (PEM) that verify them; none = those that verify this server')
    .addOption(
      new Option('--capture <how>', 'how connections to services are caught')
        .choices(['bind', 'redirect', 'none'])
        .default('none'),
    )
    .option(
      '--token-file <file>',
      'a token that was issued before; none = one is issued, zone tokens by a zone by itself only',
    )
    .option('--valid-for <duration>', 'of the token that is issued', '30d')
    .option('--max-connections <n>', 'most connections at one time; none = 50000 for an ingress or egress')
    .option('--grpc', 'for a program that uses gRPC without a proxy: key, certificate, authorities and its bootstrap')
    .option(
      '--authorities-file <file>',
      'what services outside the mesh are verified by; none = as this machine has it',
    )
    .option('--admin-port <port>', "of Envoy's admin interface on 127.0.0.1; none = a socket in the folder")
    .action(async (proxy: string | undefined, options: BootstrapOptions) => {
      const { bootstrapProxy } = await import('./bootstrap.js');
      finish(await bootstrapProxy(context, proxy, options));
    });
  proxies
    .command('renew')
    .description('renews the certificate and the authorities that proxies bootstrap --grpc has written')
    .option('-d, --dir <folder>', 'where the files are', '.')
    .option('--watch', 'renews whenever it is time, until Ctrl-C')
    .action(async (options: RenewOptions) => {
      const { renewGrpcFiles } = await import('./grpc-files.js');
      finish(await renewGrpcFiles(context, options));
    });
}
