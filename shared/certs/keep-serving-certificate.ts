import { silentLog } from '../log/log';
import type { ServingCertificateOptions } from './serving-certificate';
import { ensureServingCertificate } from './serving-certificate';

const HOUR_MS = 3_600_000;

/**
 * Makes the server's own certificate anew in time while the server runs: looks about once an hour, at moments of its own, so that
 * replicas over one directory do not all write at once. What cannot be done is told and tried again. Ends when the signal aborts.
 */
export function keepServingCertificate(
  options: ServingCertificateOptions & { readonly checkMs?: number },
  signal: AbortSignal,
): void {
  const { checkMs = HOUR_MS, log = silentLog } = options;
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    try {
      ensureServingCertificate(options);
    } catch (error) {
      log.warn({ error }, 'failed to renew the serving certificate; retrying');
    }
    wait();
  };
  const wait = (): void => {
    timer = setTimeout(look, checkMs * (0.5 + Math.random())).unref();
  };
  if (signal.aborted) return;
  signal.addEventListener(
    'abort',
    () => {
      clearTimeout(timer);
    },
    { once: true },
  );
  wait();
}
