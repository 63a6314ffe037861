import { createProgram, exitOnError, exitWithProblems, importBackup, runProgram } from '@causeway/control-plane';
import { SealingKeys } from '@causeway/identity';
import { globalConfig, type GlobalSettings } from './config';
import { GlobalModule } from './global.module';
import { kdsCertificateSource } from './kds-options';

/** Runs a global control plane until it is asked to stop. */
async function bootstrap(): Promise<void> {
  const config = globalConfig();
  if (config.command) return importBackup({ role: 'global' }, config.values, config.command);
  const certificates = kdsCertificateSource(config.values);
  const sealing = sealingKeys(config.values);
  const program = createProgram({ role: 'global' }, config);
  await runProgram(program, () => GlobalModule.forRoot(program.core, { certificates, sealing }));
}

/** Returns the keys in `CAUSEWAY_SECRETS_KEY`, if it is set; invalid keys end the program with one line. */
function sealingKeys({ CAUSEWAY_SECRETS_KEY: given }: GlobalSettings): SealingKeys | undefined {
  const parsed = given === undefined ? undefined : SealingKeys.parse(given);
  return parsed?.ok === false ? exitWithProblems([`CAUSEWAY_SECRETS_KEY: ${parsed.reason}`]) : parsed?.keys;
}

bootstrap().catch(exitOnError);
