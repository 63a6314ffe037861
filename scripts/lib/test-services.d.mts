export const NO_REDIS: string;
export function startTestServices(env?: NodeJS.ProcessEnv): Promise<() => Promise<void>>;
