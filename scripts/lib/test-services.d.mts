export const NO_REDIS: string;
export function startTestServices(
  env?: NodeJS.ProcessEnv,
  options?: { readonly durable?: boolean },
): Promise<() => Promise<void>>;
