import { createProgram, exitOnError, runProgram } from '@causeway/control-plane';
import { globalConfig } from './config';
import { GlobalModule } from './global.module';
import { kdsCertificateSource } from './kds-certificates';

/** Runs a global control plane until it is told to end. */
async function bootstrap(): Promise<void> {
  const config = globalConfig();
  const certificates = kdsCertificateSource(config.values);
  const program = createProgram({ role: 'global' }, config);
  await runProgram(program, () => GlobalModule.forRoot(program.core, certificates));
}

bootstrap().catch(exitOnError);
