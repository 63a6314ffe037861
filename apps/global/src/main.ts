import { createProgram, exitOnError, restLimits, runProgram } from '@causeway/control-plane';
import { NestFactory } from '@nestjs/core';
import { REST_APPLICATION_OPTIONS, restAdapter } from '@causeway/rest';
import { certificateSource } from './certificates';
import { globalConfig } from './config';
import { GlobalModule } from './global.module';

/** Runs a global control plane until it is told to end. */
async function bootstrap(): Promise<void> {
  const config = globalConfig();
  const certificates = certificateSource(config.values);
  const program = createProgram({ role: 'global' }, config);
  await runProgram(program, () =>
    NestFactory.create(
      GlobalModule.forRoot(program.core, certificates),
      restAdapter(restLimits(config.values)),
      REST_APPLICATION_OPTIONS,
    ),
  );
}

bootstrap().catch(exitOnError);
