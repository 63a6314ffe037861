import { createProgram, exitOnError, importBackup, runProgram } from '@causeway/control-plane';
import { checkRanges, warnOfRanges } from './address-ranges';
import { zoneConfig } from './config';
import { dnsSettings } from './dns-options';
import { readGlobalAddress, warnOfTrust } from './global/global-address';
import { secretsSource } from './identity/secrets-key';
import { ZoneModule } from './zone.module';
import { ZoneToken } from './global/zone-token';

/** Runs a zone's control plane until it is stopped. */
async function bootstrap(): Promise<void> {
  const config = zoneConfig();
  const { values: settings, command } = config;
  const [global, ranges, dns] = [readGlobalAddress(settings), checkRanges(settings), dnsSettings(settings)];
  const cp = { role: 'zone', zone: settings.CAUSEWAY_ZONE_NAME, federated: global !== undefined } as const;
  if (command) return importBackup(cp, settings, command);
  const secrets = secretsSource(settings, cp);
  const program = createProgram(cp, config);
  warnOfRanges(ranges, program.core.logger);
  if (global) warnOfTrust(global, settings, program.core.logger);
  const joined = global && { ...global, token: ZoneToken.follow(program.core) };
  await runProgram(program, () => ZoneModule.forRoot(program.core, { global: joined, dns, secrets }));
}

bootstrap().catch(exitOnError);
