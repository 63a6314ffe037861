export function drawFuzzSeed(env?: Record<string, string | undefined>, say?: (line: string) => void): number;
