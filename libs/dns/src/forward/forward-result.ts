/** How a forwarded question ended; `limit`: too many were under way. */
export type ForwardResult = 'answered' | 'failed' | 'limit';
