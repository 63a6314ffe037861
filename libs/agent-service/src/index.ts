export { XdsPort, type XdsPortOptions } from './xds-port';
export { XdsModule } from './xds.module';
